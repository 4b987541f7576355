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
#include <thread>
#include <warpheap.hpp>

// A shared library that links the drop-in has one of its own, with its own device code and runtime: nothing here may be
// found by another one.
#pragma GCC visibility push(hidden)
#define WARPHEAP_DROPIN_SOURCE
#include <warpheap/dropin.hpp>

namespace warpheap {
namespace {

/// The handle of the heap that serves a device, as bytes, since a handle is made by a heap alone.
struct slot {
  alignas(heap_ref<>) std::byte handle[sizeof(heap_ref<>)];
  bool serves;
};

// In constant memory: each malloc of each thread reads it, and the host writes it between launches.
__constant__ slot default_slot;

/// True in threads whose launches are the drop-in's own.
thread_local bool is_inside = false;

/// Calls `work` in a thread of its own with `device` as the current device: neither the last error of the caller nor
/// the mode of its stream captures has a part in it. Returns the message of what `work` threw, or nothing.
template <class Work>
std::string apart(int device, Work work) noexcept {
  std::string failure;
  std::thread([&] {
    is_inside = true;
    try {
      if (const cudaError_t error = cudaSetDevice(device); error != cudaSuccess) {
        failure = cudaGetErrorString(error);
        return;
      }
      work();
    } catch (const std::exception& refused) {
      failure = refused.what();
    }
  }).join();
  return failure;
}

/// What serves each device.
///
/// Invariant: the bit of a device in `settled_` is set from when its heap was made, named or refused. Heaps that this
/// made are never ended but with their device: kernels may use them as long as the program runs.
class devices {
 public:
  static devices& instance() {
    static devices* const one = new devices;  // never ended: other things that end may launch kernels
    return *one;
  }

  /// Called before each launch on `stream`. Makes a heap if the device has none and the program names none itself.
  void before_launch(cudaStream_t stream) noexcept {
    if (is_inside || detail::program_names_heaps) return;
    int device = 0;
    if (cudaGetDevice(&device) != cudaSuccess || device < 0 || device >= most_devices || is_settled(device)) return;
    if (captures(stream)) return;  // a heap cannot be made now; the launch of the graph makes it
    const std::lock_guard<std::mutex> lock{mutex_};
    if (is_settled(device)) return;
    make(device);
    settle(device);
  }

  /// After the program set the size of the toolkit's heap on the current device: the heap that stands for it grows.
  void limit_was_set() noexcept {
    int device = 0;
    std::size_t bytes = 0;
    if (is_inside || cudaGetDevice(&device) != cudaSuccess || device < 0 || device >= most_devices) return;
    if (cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize) != cudaSuccess) return;
    const std::lock_guard<std::mutex> lock{mutex_};
    heap<>* const made = of_limit_[device];
    if (made == nullptr || bytes <= made->size()) return;
    const std::string failure = apart(device, [made, bytes] { made->grow(bytes); });
    if (!failure.empty()) complain(device, bytes, failure);
  }

  /// Before the device is reset: what was made there ends with it.
  void before_reset() noexcept {
    int device = 0;
    if (cudaGetDevice(&device) != cudaSuccess || device < 0 || device >= most_devices) return;
    const std::lock_guard<std::mutex> lock{mutex_};
    of_limit_[device] = nullptr;
    // Relaxed: under the mutex, and a thread that launches while another one resets the device is wrong anyway.
    settled_.fetch_and(~(std::uint64_t{1} << device), std::memory_order_relaxed);
  }

  /// `of` serves the current device from now on; null: no heap does.
  void name(const heap_ref<>* of) {
    int device = 0;
    if (const cudaError_t error = cudaGetDevice(&device); error != cudaSuccess) fail(error);
    const std::lock_guard<std::mutex> lock{mutex_};
    write(of);
    if (device < most_devices) {
      of_limit_[device] = nullptr;
      settle(device);
    }
  }

 private:
  static constexpr int most_devices = 64;

  // Acquires what the thread wrote that made the heap.
  bool is_settled(int device) const { return (settled_.load(std::memory_order_acquire) >> device & 1) != 0; }
  void settle(int device) { settled_.fetch_or(std::uint64_t{1} << device, std::memory_order_release); }

  // True if `stream` is being captured, or any stream that the default stream waits for.
  static bool captures(cudaStream_t stream) {
    auto status = cudaStreamCaptureStatusNone;
    if (cudaStreamIsCapturing(stream, &status) != cudaSuccess || status != cudaStreamCaptureStatusNone) return true;
    return cudaStreamIsCapturing(cudaStreamLegacy, &status) != cudaSuccess || status != cudaStreamCaptureStatusNone;
  }

  static void write(const heap_ref<>* of) {
    slot next{};
    if (of != nullptr) {
      *reinterpret_cast<heap_ref<>*>(next.handle) = *of;
      next.serves = true;
    }
    if (const cudaError_t error = cudaMemcpyToSymbol(default_slot, &next, sizeof(next)); error != cudaSuccess) {
      fail(error);
    }
  }
  [[noreturn]] static void fail(cudaError_t error) {
    throw launch_failure{std::string{"warpheap: the heap of device malloc could not be named: "} +
                         cudaGetErrorString(error)};
  }
  static void complain(int device, std::uint64_t bytes, const std::string& why) noexcept {
    std::fprintf(stderr,
                 "warpheap: device %d has no heap of %llu bytes for malloc in kernels; set WARPHEAP_HEAP_BYTES to "
                 "fewer. %s\n",
                 device, static_cast<unsigned long long>(bytes), why.c_str());
  }

  void make(int device) noexcept {
    bool is_limit = false;
    const std::uint64_t bytes = wanted_bytes(is_limit);
    if (bytes == 0) return;
    heap<>* made = nullptr;
    const std::string failure = apart(device, [&made, bytes] {
      made = new heap<>{bytes};
      const heap_ref<> ref = made->ref();
      write(&ref);
    });
    if (!failure.empty()) return complain(device, bytes, failure);
    if (is_limit) of_limit_[device] = made;
  }

  // What the environment says, or else the limit of the toolkit's heap: then `is_limit` becomes true.
  static std::uint64_t wanted_bytes(bool& is_limit) noexcept {
    const char* const text = std::getenv("WARPHEAP_HEAP_BYTES");
    if (text == nullptr || *text == '\0') {
      std::size_t limit = 0;
      is_limit = true;
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
  heap<>* of_limit_[most_devices] = {};  // heaps whose size is the toolkit's limit
};

/// The heap that serves the caller, or null.
const __device__ inline heap_ref<>* default_heap() {
  return default_slot.serves ? reinterpret_cast<const heap_ref<>*>(default_slot.handle) : nullptr;
}

}  // namespace

void use_as_default(const heap<>& of) {
  const heap_ref<> ref = of.ref();
  const scoped_device own{of.device()};
  devices::instance().name(&ref);
}

void use_no_default() { devices::instance().name(nullptr); }

}  // namespace warpheap

// Device code alone: without this guard nvcc defines the host's functions of these names, too, as stubs that end the
// program. `new` and `delete` of device code call these. The last name is what the compiler makes of a call of
// `__nv_aligned_device_malloc`, which aligned `new` is: a definition under another name is never called.
#if defined(__CUDA_ARCH__)
extern "C" __device__ void* malloc(std::size_t bytes) noexcept {
  const auto* const heap = warpheap::default_heap();
  return heap != nullptr ? heap->malloc(bytes) : nullptr;
}
extern "C" __device__ void free(void* block) noexcept {
  const auto* const heap = warpheap::default_heap();
  if (heap != nullptr) heap->free(block);
}
extern "C" __device__ void* __cuda_syscall_aligned_malloc(std::size_t bytes, std::size_t alignment) {
  const auto* const heap = warpheap::default_heap();
  return heap != nullptr ? heap->aligned_malloc(alignment, bytes) : nullptr;
}
#endif

// The runtime may be a shared library.
#define WARPHEAP_DROPIN_REAL extern "C" __attribute__((visibility("default"))) cudaError_t

// Calls of the program's own objects, which the linker sends here first; `__real_` names the runtime's own. The forms
// with `_ptsz` are those of programs whose default stream is one for each thread.
#define WARPHEAP_DROPIN_LAUNCH(name, parameters, arguments, stream) \
  WARPHEAP_DROPIN_REAL __real_##name parameters;                    \
  extern "C" cudaError_t __wrap_##name parameters {                 \
    warpheap::devices::instance().before_launch(stream);            \
    return __real_##name arguments;                                 \
  }
#define WARPHEAP_DROPIN_LAUNCHES(suffix)                                                                       \
  WARPHEAP_DROPIN_LAUNCH(                                                                                      \
      __cudaLaunchKernel##suffix,                                                                              \
      (cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared, cudaStream_t stream), \
      (kernel, grid, block, arguments, shared, stream), stream)                                                \
  WARPHEAP_DROPIN_LAUNCH(                                                                                      \
      cudaLaunchKernel##suffix,                                                                                \
      (const void* kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared, cudaStream_t stream),  \
      (kernel, grid, block, arguments, shared, stream), stream)                                                \
  WARPHEAP_DROPIN_LAUNCH(                                                                                      \
      cudaLaunchCooperativeKernel##suffix,                                                                     \
      (const void* kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared, cudaStream_t stream),  \
      (kernel, grid, block, arguments, shared, stream), stream)                                                \
  WARPHEAP_DROPIN_LAUNCH(cudaLaunchKernelExC##suffix,                                                          \
                         (const cudaLaunchConfig_t* how, const void* kernel, void** arguments),                \
                         (how, kernel, arguments), how != nullptr ? how->stream : nullptr)                     \
  WARPHEAP_DROPIN_LAUNCH(cudaGraphLaunch##suffix, (cudaGraphExec_t graph, cudaStream_t stream), (graph, stream), stream)
WARPHEAP_DROPIN_LAUNCHES()
WARPHEAP_DROPIN_LAUNCHES(_ptsz)

WARPHEAP_DROPIN_REAL __real_cudaDeviceSetLimit(cudaLimit limit, std::size_t value);
extern "C" cudaError_t __wrap_cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
  const cudaError_t error = __real_cudaDeviceSetLimit(limit, value);
  if (error == cudaSuccess && limit == cudaLimitMallocHeapSize) warpheap::devices::instance().limit_was_set();
  return error;
}

WARPHEAP_DROPIN_REAL __real_cudaDeviceReset();
extern "C" cudaError_t __wrap_cudaDeviceReset() {
  warpheap::devices::instance().before_reset();
  return __real_cudaDeviceReset();
}

#pragma GCC visibility pop
