// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The drop-in (<warpheap/dropin.hpp>). This file is compiled with the program that uses it, for its GPUs. CMake links
// the program so that calls of `cudaLaunchKernel` and its like come here first (`--wrap` of the linker).

#if !defined(__CUDACC_RDC__)
#error "warpheap::dropin needs separable compilation: set the property CUDA_SEPARABLE_COMPILATION of the target to ON"
#endif

#include <cuda_runtime.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <string>
#include <warpheap.hpp>
#include <warpheap/dropin.hpp>

namespace warpheap::detail {

/// The handle of the heap that serves a device, as bytes, since a handle is made by a heap alone.
struct dropin_slot {
  alignas(heap_ref<>) std::byte handle[sizeof(heap_ref<>)];
  bool serves;
};

// In constant memory: each malloc of each thread reads it, and the host writes it between launches.
__constant__ dropin_slot dropin_default;

/// What the host did on each device, a bit each: a heap is named, or is not to be.
class dropin_devices {
 public:
  static dropin_devices& instance() {
    static dropin_devices one;
    return one;
  }

  /// Called before each launch. Makes a heap if the device has none.
  void before_launch() noexcept {
    thread_local bool is_inside = false;  // a heap launches kernels itself
    if (is_inside) return;
    int device = 0;
    if (cudaGetDevice(&device) != cudaSuccess || device < 0 || device >= most_devices || is_settled(device)) return;
    is_inside = true;
    const std::lock_guard<std::mutex> lock{mutex_};
    if (!is_settled(device)) {
      make(device);
      settle(device);
    }
    is_inside = false;
  }

  /// `of` serves the current device from now on; null: no heap does.
  void name(const heap_ref<>* of) {
    int device = 0;
    if (const cudaError_t error = cudaGetDevice(&device); error != cudaSuccess) fail(error);
    const std::lock_guard<std::mutex> lock{mutex_};
    write(of);
    if (device < most_devices) settle(device);
  }

 private:
  static constexpr int most_devices = 64;

  // Acquires what the thread wrote that made the heap.
  bool is_settled(int device) const { return (settled_.load(std::memory_order_acquire) >> device & 1) != 0; }
  void settle(int device) { settled_.fetch_or(std::uint64_t{1} << device, std::memory_order_release); }

  static void write(const heap_ref<>* of) {
    dropin_slot slot{};
    if (of != nullptr) {
      *reinterpret_cast<heap_ref<>*>(slot.handle) = *of;
      slot.serves = true;
    }
    if (const cudaError_t error = cudaMemcpyToSymbol(dropin_default, &slot, sizeof(slot)); error != cudaSuccess) {
      fail(error);
    }
  }
  [[noreturn]] static void fail(cudaError_t error) {
    throw launch_failure{std::string{"warpheap: the heap of device malloc could not be named: "} +
                         cudaGetErrorString(error)};
  }

  // The heap is never ended: kernels may use it as long as the program runs, and the runtime ends its memory.
  static void make(int device) noexcept {
    std::uint64_t bytes = 0;
    try {
      const relaxed_capture_mode out_of_captures;
      bytes = wanted_bytes();
      if (bytes == 0) return;
      const heap_ref<> of = (new heap<>{bytes})->ref();
      write(&of);
    } catch (const std::exception& refused) {
      std::fprintf(stderr,
                   "warpheap: device %d has no heap of %llu bytes, so malloc gives null there; set WARPHEAP_HEAP_BYTES "
                   "to fewer. %s\n",
                   device, static_cast<unsigned long long>(bytes), refused.what());
    }
  }

  static std::uint64_t wanted_bytes() {
    const char* const text = std::getenv("WARPHEAP_HEAP_BYTES");
    if (text == nullptr || *text == '\0') {
      std::size_t limit = 0;
      return cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize) == cudaSuccess ? limit : 0;
    }
    char* end = nullptr;
    const std::uint64_t number = std::strtoull(text, &end, 10);
    const char suffix = *end;
    const int shift = suffix == 'K' ? 10 : suffix == 'M' ? 20 : suffix == 'G' ? 30 : 0;
    const bool is_number = *text >= '0' && *text <= '9' && (suffix == '\0' || (shift != 0 && end[1] == '\0'));
    if (is_number && number <= ~std::uint64_t{0} >> shift) return number << shift;
    std::fprintf(stderr,
                 "warpheap: WARPHEAP_HEAP_BYTES=%s is no number of bytes such as 256M; device malloc gives null\n",
                 text);
    return 0;
  }

  std::mutex mutex_;
  std::atomic<std::uint64_t> settled_{0};
};

/// The heap that serves the caller, or null.
const __device__ inline heap_ref<>* dropin_heap() {
  return dropin_default.serves ? reinterpret_cast<const heap_ref<>*>(dropin_default.handle) : nullptr;
}

}  // namespace warpheap::detail

namespace warpheap {

void use_as_default(const heap<>& of) {
  const heap_ref<> ref = of.ref();
  const scoped_device own{of.device()};
  detail::dropin_devices::instance().name(&ref);
}

void use_no_default() { detail::dropin_devices::instance().name(nullptr); }

}  // namespace warpheap

// Device code alone: without this guard nvcc defines the host's functions of these names, too, as stubs that end the
// program. `new` and `delete` of device code call these.
#if defined(__CUDA_ARCH__)
extern "C" __device__ void* malloc(std::size_t bytes) noexcept {
  const auto* const heap = warpheap::detail::dropin_heap();
  return heap != nullptr ? heap->malloc(bytes) : nullptr;
}
extern "C" __device__ void free(void* block) noexcept {
  const auto* const heap = warpheap::detail::dropin_heap();
  if (heap != nullptr) heap->free(block);
}
extern "C" __device__ void* __nv_aligned_device_malloc_impl(std::size_t bytes, std::size_t alignment) {
  const auto* const heap = warpheap::detail::dropin_heap();
  return heap != nullptr ? heap->aligned_malloc(alignment, bytes) : nullptr;
}
#endif

// Launches, by which kernels come to run: the linker sends them here, and `__real_` names the runtime's own.
#define WARPHEAP_DROPIN_LAUNCH(name, parameters, arguments)       \
  extern "C" cudaError_t __real_##name parameters;                \
  extern "C" cudaError_t __wrap_##name parameters {               \
    warpheap::detail::dropin_devices::instance().before_launch(); \
    return __real_##name arguments;                               \
  }

#define WARPHEAP_DROPIN_LAUNCHES(suffix)                                                                       \
  WARPHEAP_DROPIN_LAUNCH(                                                                                      \
      __cudaLaunchKernel##suffix,                                                                              \
      (cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared, cudaStream_t stream), \
      (kernel, grid, block, arguments, shared, stream))                                                        \
  WARPHEAP_DROPIN_LAUNCH(                                                                                      \
      cudaLaunchKernel##suffix,                                                                                \
      (const void* kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared, cudaStream_t stream),  \
      (kernel, grid, block, arguments, shared, stream))                                                        \
  WARPHEAP_DROPIN_LAUNCH(                                                                                      \
      cudaLaunchCooperativeKernel##suffix,                                                                     \
      (const void* kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared, cudaStream_t stream),  \
      (kernel, grid, block, arguments, shared, stream))                                                        \
  WARPHEAP_DROPIN_LAUNCH(cudaLaunchKernelExC##suffix,                                                          \
                         (const cudaLaunchConfig_t* how, const void* kernel, void** arguments),                \
                         (how, kernel, arguments))
WARPHEAP_DROPIN_LAUNCHES()
WARPHEAP_DROPIN_LAUNCHES(_ptsz)
