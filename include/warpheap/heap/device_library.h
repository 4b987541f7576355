/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WARPHEAP_HEAP_DEVICE_LIBRARY_H
#define WARPHEAP_HEAP_DEVICE_LIBRARY_H

/** @file
 * The device library: malloc and free for kernels that are linked, in whichever language, with a heap of the default
 * design. Needs nothing but a compiler of device code; NVRTC reads it, too.
 *
 * A heap is named by the address of its handle in device memory, 8 bytes, which `wh_heap_handle` and `Heap.handle` of
 * Python give. It is of one device, and valid until the heap ends; what the heap does meanwhile, the handle follows.
 *
 * | file | what it has |
 * |---|---|
 * | `warpheap_device.fatbin` | all functions and kernels, as machine code of at most 32 registers: the default |
 * | `warpheap_hot.fatbin` | functions and kernels as LTO-IR, their seldom needed parts left out |
 * | `warpheap_cold.fatbin` | those parts, as machine code: for `warpheap_hot.fatbin` and <warpheap/device_hot.hpp> |
 * | `warpheap_whole.fatbin` | all functions and kernels as LTO-IR, complete |
 * | `warpheap_device_checked.fatbin` | as the first, for heaps that were made with `checked` |
 * | `warpheap_malloc.fatbin` | `malloc` and `free` of device code in place of the toolkit's, beside another file |
 *
 * A program is linked with one of the lines `device`, `hot` and `cold`, `whole`, or `device_checked`: each defines the
 * names below. `whole` is optimised with the kernel, so give the linker a limit, as `-maxrregcount=40`. A heap that was
 * made with `checked` needs `device_checked`, any other heap needs one of the others.
 *
 * A program that links `malloc` sets its variable `wh_default_heap` to the address of a handle, by `cuLibraryGetGlobal`
 * and a copy. Until then `malloc` returns null. Each module that is loaded has a variable of its own.
 */

#ifdef __cplusplus
extern "C" {
#endif

/** A heap, as its handle in device memory. */
typedef struct wh_device_heap wh_device_heap;

#if defined(__CUDACC__)

/* --- Functions of device code. Any threads call them, converged or not. ------------------------------------------- */

/** A block of at least `bytes` bytes, aligned to 16 bytes, any contents; null when the heap cannot serve it. A request
 * of 0 bytes is one of 1 byte. */
__device__ void* wh_malloc(const wh_device_heap* heap, unsigned long long bytes);
/** A block of at least `bytes` bytes, aligned to `alignment` bytes, any contents; null when the heap cannot serve it,
 * and if `alignment` is no power of two. */
__device__ void* wh_aligned_malloc(const wh_device_heap* heap, unsigned long long alignment, unsigned long long bytes);
/** A block of `count` times `bytes` zero bytes; null when the heap cannot serve it. */
__device__ void* wh_calloc(const wh_device_heap* heap, unsigned long long count, unsigned long long bytes);
/** Moves `block` to one of at least `bytes` bytes with the same contents, as far as they fit, or leaves it where it
 * is. Null when the heap cannot serve it: `block` is then as before. A null `block` is a `wh_malloc`. */
__device__ void* wh_realloc(const wh_device_heap* heap, void* block, unsigned long long bytes);
/** Gives `block` back, once; null is ignored. Any thread of any later or running kernel may do so. */
__device__ void wh_free(const wh_device_heap* heap, void* block);
/** Bytes of `block` that its owner may use, at least those asked for. */
__device__ unsigned long long wh_usable_size(const wh_device_heap* heap, const void* block);

/* --- The convention of Numba: the result goes to `*result`, and the function returns 0. Addresses are numbers. --- */

/** `*result` becomes the address that `wh_malloc` returns, 0 for null. */
__device__ int whn_malloc(unsigned long long* result, unsigned long long heap, unsigned long long bytes);
/** `*result` becomes the address that `wh_aligned_malloc` returns, 0 for null. */
__device__ int whn_aligned_malloc(unsigned long long* result, unsigned long long heap, unsigned long long alignment,
                                  unsigned long long bytes);
/** Calls `wh_free`; `*result` becomes 0. */
__device__ int whn_free(unsigned long long* result, unsigned long long heap, unsigned long long block);
/** `*result` becomes the bytes that `wh_usable_size` returns. */
__device__ int whn_usable_size(unsigned long long* result, unsigned long long heap, unsigned long long block);

/* --- Kernels, of any grid. ---------------------------------------------------------------------------------------- */

/** `blocks[i]` becomes a block of at least `sizes[i]` bytes, or null when the heap cannot serve it; a size of 0 takes
 * no block and gives null. Both arrays have `count` elements in device memory. */
__global__ void wh_batch_malloc(const wh_device_heap* heap, const unsigned long long* sizes, void** blocks,
                                unsigned long long count);
/** Gives back the `count` blocks of an array in device memory; null is ignored. */
__global__ void wh_batch_free(const wh_device_heap* heap, void* const* blocks, unsigned long long count);

#endif

#ifdef __cplusplus
}
#endif

#endif
