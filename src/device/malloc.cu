// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// `malloc` and `free` of device code whose language calls the toolkit's, such as Numba's for its arrays. Linked beside
// one of the lines of <warpheap/heap/device_library.h>.

#include <warpheap/heap/device_library.h>
#include <cstddef>

extern "C" {

// The heap that serves this module, which the host names between launches; null: `malloc` returns null.
const __device__ wh_device_heap* wh_default_heap = nullptr;

// Device code alone: without this guard nvcc defines the host's functions of these names, too. The last name is what
// the compiler makes of aligned `new`.
#if defined(__CUDA_ARCH__)
__device__ void* malloc(std::size_t bytes) noexcept {
  return wh_default_heap != nullptr ? wh_malloc(wh_default_heap, bytes) : nullptr;
}
__device__ void free(void* block) noexcept {
  if (wh_default_heap != nullptr) wh_free(wh_default_heap, block);
}
__device__ void* __cuda_syscall_aligned_malloc(std::size_t bytes, std::size_t alignment) {
  return wh_default_heap != nullptr ? wh_aligned_malloc(wh_default_heap, alignment, bytes) : nullptr;
}
#endif

}  // extern "C"
