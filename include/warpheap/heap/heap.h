/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WARPHEAP_HEAP_HEAP_H
#define WARPHEAP_HEAP_HEAP_H

/** @file
 * Heaps for C and for all languages that call C: memory of which kernels take blocks, and to which they give them back.
 *
 * The library `libwarpheap_heap_cuda.so` makes heaps in the memory of a GPU, `libwarpheap_heap_host.so` in that of the
 * host. All arrays are device memory, which for the library of the host is any memory of the process. Pointers to
 * single results are host memory, and may be null where nobody asks for them, unless a function says otherwise. Kernels
 * use a heap by its handle (`wh_heap_handle`) and the functions of <warpheap/heap/device_library.h>, or by the batches
 * here.
 *
 * A heap lives on the device that it was made on, and each call uses that device, whichever is current. Calls work on
 * the default stream and wait for all work that the device has, so none is made while a stream is captured. One thread
 * at a time calls for a heap. No kernel uses it meanwhile, but for `wh_heap_statistics_of` and the batches; several
 * heaps are independent.
 *
 * A function returns WH_HEAP_OK or says what went wrong; `wh_heap_error` then has a sentence. A call that fails has
 * changed nothing. Where there is no driver the library can be loaded, and each call says so.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Number of this interface. It rises with each change that a compiled caller would notice. */
#define WH_HEAP_ABI 1

/** A heap. */
typedef struct wh_heap wh_heap;

/** How a call ended. */
typedef enum wh_heap_status {
  WH_HEAP_OK = 0,
  WH_HEAP_INVALID_ARGUMENT = 1, /**< an argument cannot be right */
  WH_HEAP_TOO_LARGE = 2,        /**< more bytes than the heap can take, or than it has reserved addresses for */
  WH_HEAP_OUT_OF_MEMORY = 3,    /**< the host has not as much memory */
  WH_HEAP_DEVICE_FAILURE = 4,   /**< there is no device, it refused memory, or a kernel failed */
  WH_HEAP_INTERNAL_ERROR = 5,   /**< nothing that is foreseen */
  WH_HEAP_NOT_SUPPORTED = 6     /**< the design of the heap cannot do it */
} wh_heap_status;

/** Bits of `wh_heap_options::flags`. */
enum {
  WH_HEAP_CHECKED = 1,          /**< find what kernels do wrong with blocks: `wh_heap_first_fault` */
  WH_HEAP_PLAIN = 2,            /**< memory that is not mapped: a small heap takes less of a GPU, and cannot grow */
  WH_HEAP_KEEPS_STACK_LIMIT = 4 /**< leave the device's limit for the stack of a thread as it is */
};

/** The value of a figure that a design does not know. */
#define WH_HEAP_UNKNOWN UINT64_MAX

/** How a heap is made. `struct_bytes` is the size of the structure as the caller knows it; zeros are the defaults. */
typedef struct wh_heap_options {
  uint64_t struct_bytes;  /**< sizeof(wh_heap_options) */
  uint64_t bytes;         /**< bytes that blocks lie in, more than 0 */
  const char* design;     /**< one of `wh_heap_designs`; null: the first of them */
  uint32_t flags;         /**< WH_HEAP_CHECKED and others */
  int32_t device;         /**< number of the device; -1: the current one */
  uint64_t reserve_bytes; /**< addresses to reserve, as far as the heap can grow; 0: as the device has memory */
} wh_heap_options;

/** What a heap has taken and handed out, in bytes. */
typedef struct wh_heap_statistics {
  uint64_t struct_bytes;    /**< sizeof(wh_heap_statistics), set by the caller; what lies beyond is not written */
  uint64_t size_bytes;      /**< bytes in which blocks lie: what was asked for when the heap was made, or grew */
  uint64_t reserved_bytes;  /**< addresses that blocks can come to lie at */
  uint64_t committed_bytes; /**< memory at such addresses */
  uint64_t metadata_bytes;  /**< memory for the design's own state */
  uint64_t live_bytes;      /**< handed out and not taken back; WH_HEAP_UNKNOWN if the design does not know */
} wh_heap_statistics;

/** What a kernel did wrong with a block. */
typedef enum wh_heap_fault_kind {
  WH_HEAP_NO_FAULT = 0,
  WH_HEAP_DOUBLE_FREE = 1,      /**< freed what is in no live block */
  WH_HEAP_FOREIGN_POINTER = 2,  /**< freed what the heap does not own */
  WH_HEAP_INTERIOR_POINTER = 3, /**< freed a byte of a live block that is not its first */
  WH_HEAP_OVERRUN = 4,          /**< wrote past the end of a block */
  WH_HEAP_USE_AFTER_FREE = 5    /**< wrote to a block after its free */
} wh_heap_fault_kind;

/** The first fault that a checked heap saw. */
typedef struct wh_heap_fault {
  uint64_t struct_bytes; /**< sizeof(wh_heap_fault), set by the caller; what lies beyond is not written */
  uint32_t kind;         /**< a `wh_heap_fault_kind`; all else is 0 if there was no fault */
  uint32_t thread_index; /**< the thread that found it, within its block of the grid */
  uint64_t block_index;  /**< the block of the grid of that thread */
  uint64_t pointer;      /**< what was freed; of an overrun and a use after free, the start of the block */
  uint64_t bytes;        /**< bytes that were asked for when the block was taken; 0: not known */
  char text[256];        /**< the fault in a sentence, which ends with a zero */
} wh_heap_fault;

/* --- The library -------------------------------------------------------------------------------------------------- */

/** WH_HEAP_ABI of the library. */
uint32_t wh_heap_abi(void);
/** "cuda" or "host". */
const char* wh_heap_backend(void);
/** Names of designs that heaps can have, separated by commas; the first is the default. */
const char* wh_heap_designs(void);
/** 1 if heaps can be made; else 0, and `wh_heap_error` says why not. */
uint32_t wh_heap_device_available(void);
/** Number of devices that heaps can be made on. */
int32_t wh_heap_device_count(void);
/** Number of the device that is current for the calling thread, from 0 on; -1 without one. */
int32_t wh_heap_current_device(void);
/** The sentence of the last call of this thread that failed; valid up to its next call. */
const char* wh_heap_error(void);

/* --- Arrays, for callers that have no library of their own for device memory ---------------------------------- */

/** Sets `*array` to `bytes` bytes of memory of the heap's device, any contents. Not of the heap: the array can outlive
 * it. `array` is not null. */
wh_heap_status wh_heap_array_make(const wh_heap* heap, uint64_t bytes, void** array);
/** Ends an array that `wh_heap_array_make` made. Null is ignored. */
void wh_heap_array_end(void* array);
/** Copies `bytes` bytes between arrays, or between an array and memory of the host. */
wh_heap_status wh_heap_array_copy(void* to, const void* from, uint64_t bytes);
/** Writes numbers of 32 bits as those of 64. Both arrays are of the heap's device. */
wh_heap_status wh_heap_array_widen(const wh_heap* heap, uint64_t* to, const uint32_t* from, uint64_t count);
/** Waits until a stream of the heap's device, given as CUDA's runtime numbers it, has done what it was given. */
wh_heap_status wh_heap_await_stream(const wh_heap* heap, uint64_t stream);

/* --- A heap ------------------------------------------------------------------------------------------------------- */

/** Sets `*heap` to a heap. Neither pointer is null. */
wh_heap_status wh_heap_create(const wh_heap_options* options, wh_heap** heap);
/** Ends a heap and all its blocks. Null is ignored. */
void wh_heap_destroy(wh_heap* heap);

/** The address of the heap's handle in device memory, which kernels take; 0 for null. It is the same for the heap's
 * whole life, and follows the heap when that moves. */
uint64_t wh_heap_handle(const wh_heap* heap);
/** The design's name; null for null. */
const char* wh_heap_design(const wh_heap* heap);
/** Number of the heap's device; -1 for null. */
int32_t wh_heap_device(const wh_heap* heap);
/** Bits of `wh_heap_options::flags` that the heap was made with; 0 for null. */
uint32_t wh_heap_flags(const wh_heap* heap);

/** Makes the heap hand out up to `bytes` bytes, at the same addresses: blocks and the handle stay valid. A smaller
 * figure than now changes nothing. */
wh_heap_status wh_heap_grow(wh_heap* heap, uint64_t bytes);
/** Moves the heap to a place of `bytes` bytes, at least its present size: for a heap that cannot grow so far. Each
 * block then lies `*distance` bytes from where it was, which may be negative. The handle stays valid, pointers to
 * blocks do not. A heap with WH_HEAP_CHECKED cannot move. */
wh_heap_status wh_heap_relocate(wh_heap* heap, uint64_t bytes, int64_t* distance);
/** Takes all blocks back. */
wh_heap_status wh_heap_reset(wh_heap* heap);
/** Gives memory that no block lies in back to the machine; `*bytes` becomes how many bytes. The heap has that much less
 * to hand out until `wh_heap_restore`. */
wh_heap_status wh_heap_trim(wh_heap* heap, uint64_t* bytes);
/** Takes all memory again that `wh_heap_trim` gave back. */
wh_heap_status wh_heap_restore(wh_heap* heap);
/** Writes the figures of the heap. `figures` is not null. Kernels may use the heap: live bytes are then a guess. */
wh_heap_status wh_heap_statistics_of(const wh_heap* heap, wh_heap_statistics* figures);
/** Writes the first fault since the heap was made or reset, or its fault was cleared. `fault` is not null. For heaps
 * that were made with WH_HEAP_CHECKED. */
wh_heap_status wh_heap_first_fault(const wh_heap* heap, wh_heap_fault* fault);
/** Forgets the first fault, so that the next one is kept. */
wh_heap_status wh_heap_clear_fault(wh_heap* heap);

/** Takes `count` blocks in one launch: `blocks[i]` becomes the address of a block of at least `sizes[i]` bytes, or 0
 * when the heap cannot serve it. A size of 0 takes no block and gives 0. */
wh_heap_status wh_heap_malloc(wh_heap* heap, const uint64_t* sizes, uint64_t* blocks, uint64_t count);
/** Gives `count` blocks back in one launch, each once; 0 is ignored. */
wh_heap_status wh_heap_free(wh_heap* heap, const uint64_t* blocks, uint64_t count);

#ifdef __cplusplus
}
#endif

#endif
