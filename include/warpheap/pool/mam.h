/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WARPHEAP_POOL_MAM_H
#define WARPHEAP_POOL_MAM_H

/** @file
 * The procedures of Aknesil and Unat, "MAM: a memory allocation manager for GPUs" (2017), under their own names, for C.
 *
 * An environment is one chunk of device memory, taken once, of which blocks are handed out by best fit. The process has
 * one, on the device that was current when it was made. It can be made in three ways:
 *
 * - `MAM_Create(bytes)`: a chunk of a given size;
 * - `MAM_Create_auto()`: the largest chunk that the device gives;
 * - by the first `MAM_CudaMalloc` without either, as by `MAM_Create_auto`. Such an environment ends by itself when its
 *   last block is taken back.
 *
 * Any thread can call any of them at any time; all that fail change nothing. The chunk itself is never read or written.
 * A block that is taken back can be handed out by the next call, so nothing may use it any more, kernels included. Link
 * `warpheap::mam`.
 */

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How a call ended. Numbers are those of the cudaError_t that means the same. */
typedef enum MAM_Error {
  MAM_SUCCESS = 0,
  MAM_ERROR_INVALID_VALUE = 1,           /**< an argument cannot be right: a null pointer, a size of 0 */
  MAM_ERROR_MEMORY_ALLOCATION = 2,       /**< there is not enough device memory, or host memory for the book */
  MAM_ERROR_NOT_CREATED = 3,             /**< there is no environment */
  MAM_ERROR_INVALID_DEVICE_POINTER = 17, /**< no block begins at the pointer */
  MAM_ERROR_NO_DEVICE = 100,             /**< there is no device to take memory from */
  MAM_ERROR_ALREADY_CREATED = 708        /**< there is an environment already */
} MAM_Error;

/** Makes the environment with a chunk of at least `bytes` bytes of device memory.
 *
 * MAM_ERROR_INVALID_VALUE for 0 bytes, MAM_ERROR_ALREADY_CREATED if there is one, MAM_ERROR_MEMORY_ALLOCATION if the
 * device has not as much, MAM_ERROR_NO_DEVICE. */
MAM_Error MAM_Create(size_t bytes);

/** Makes the environment with the largest chunk that the device gives: tries the device's whole memory, and as long as
 * the device refuses, fifteen sixteenths of the size before. Fails as MAM_Create does. */
MAM_Error MAM_Create_auto(void);

/** Ends the environment and gives the chunk back, blocks or not. MAM_ERROR_NOT_CREATED without an environment. */
MAM_Error MAM_Destroy(void);

/** Sets `*block` to the begin of a block of at least `bytes` bytes, 256-byte aligned: a part of the smallest free
 * segment that can hold it. Time grows with the logarithm of the number of segments and not with the size.
 *
 * MAM_ERROR_INVALID_VALUE for a null `block` or 0 bytes, MAM_ERROR_MEMORY_ALLOCATION if no free segment can hold it;
 * and without an environment as MAM_Create_auto. `*block` is then as before. */
MAM_Error MAM_CudaMalloc(void** block, size_t bytes);

/** Takes a block back and merges it with free neighbours. Null is ignored.
 *
 * MAM_ERROR_INVALID_DEVICE_POINTER if no block begins there, for one that was taken back before too;
 * MAM_ERROR_NOT_CREATED if there is no environment, for a block of one that has ended too. */
MAM_Error MAM_CudaFree(void* block);

/** What an error means and what helps, as a sentence that stays valid. Never null, for any number. */
const char* MAM_GetErrorString(MAM_Error error);

#ifdef __cplusplus
}
#endif

#endif
