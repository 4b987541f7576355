// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The functions of <warpheap/heap/device_library.h>. cmake/device.cmake compiles this file once for each form of them:
// with WARPHEAP_COLD_LINKED the hot part alone, with WARPHEAP_DEVICE_CHECKED for checked heaps.

#include <warpheap/heap/device_library.h>

#if defined(WARPHEAP_DEVICE_CHECKED)
#include <warpheap.hpp>
#include <warpheap/allocator.hpp>
#else
#include <warpheap/device.hpp>
#endif

namespace {

#if defined(WARPHEAP_DEVICE_CHECKED)
using design = warpheap::checked<warpheap::default_allocator>;
#else
using design = warpheap::default_allocator;
#endif
using ref = warpheap::heap_ref<design>;

// In front of the handle there is nothing, so its address is that of the opaque type.
const __device__ ref& of(const wh_device_heap* heap) { return *reinterpret_cast<const ref*>(heap); }
const __device__ wh_device_heap* named(unsigned long long heap) {
  return reinterpret_cast<const wh_device_heap*>(heap);
}
__device__ unsigned long long number(const void* block) { return reinterpret_cast<unsigned long long>(block); }

}  // namespace

extern "C" {

__device__ void* wh_malloc(const wh_device_heap* heap, unsigned long long bytes) { return of(heap).malloc(bytes); }

__device__ void* wh_aligned_malloc(const wh_device_heap* heap, unsigned long long alignment, unsigned long long bytes) {
  return of(heap).aligned_malloc(alignment, bytes);
}

__device__ void* wh_calloc(const wh_device_heap* heap, unsigned long long count, unsigned long long bytes) {
  return of(heap).calloc(count, bytes);
}

__device__ void* wh_realloc(const wh_device_heap* heap, void* block, unsigned long long bytes) {
  return of(heap).realloc(block, bytes);
}

__device__ void wh_free(const wh_device_heap* heap, void* block) { of(heap).free(block); }

__device__ unsigned long long wh_usable_size(const wh_device_heap* heap, const void* block) {
  return of(heap).usable_size(block);
}

__device__ int whn_malloc(unsigned long long* result, unsigned long long heap, unsigned long long bytes) {
  *result = number(wh_malloc(named(heap), bytes));
  return 0;
}

__device__ int whn_aligned_malloc(unsigned long long* result, unsigned long long heap, unsigned long long alignment,
                                  unsigned long long bytes) {
  *result = number(wh_aligned_malloc(named(heap), alignment, bytes));
  return 0;
}

__device__ int whn_free(unsigned long long* result, unsigned long long heap, unsigned long long block) {
  wh_free(named(heap), reinterpret_cast<void*>(block));
  *result = 0;
  return 0;
}

__device__ int whn_usable_size(unsigned long long* result, unsigned long long heap, unsigned long long block) {
  *result = wh_usable_size(named(heap), reinterpret_cast<const void*>(block));
  return 0;
}

__global__ void wh_batch_malloc(const wh_device_heap* heap, const unsigned long long* sizes, void** blocks,
                                unsigned long long count) {
  warpheap::malloc_each<design>{of(heap), sizes, blocks, count}();
}

__global__ void wh_batch_free(const wh_device_heap* heap, void* const* blocks, unsigned long long count) {
  warpheap::free_each<design>{of(heap), blocks, count}();
}

}  // extern "C"
