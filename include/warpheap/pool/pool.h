/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WARPHEAP_POOL_POOL_H
#define WARPHEAP_POOL_POOL_H

/** @file
 * Pools in stream order for C and for all languages that call C: the host takes blocks of device memory for a stream,
 * and gives them back while work on that stream still uses them.
 *
 * The library `libwarpheap_pool_cuda.so` makes pools in the memory of a GPU, `libwarpheap_pool_host.so` in that of the
 * host. A stream is a `cudaStream_t`; null is the default stream of the pool's device. On the host a stream is any
 * pointer, and its work is done when the call that starts it returns.
 *
 * A pool lives on the device that it was made on, and each call uses that device, whichever is current; the device that
 * was current is current again when the call returns. A stream of another device is refused. All functions can be
 * called by any host thread at any time, but for `wh_pool_end`, which comes after all other calls for its pool.
 *
 * A function returns WH_POOL_OK or says what went wrong; `wh_pool_error` then has a sentence. A call that fails has
 * handed out no block and has taken none back. Pointers to results may be null where nobody asks for them, unless a
 * function says otherwise.
 *
 * Where there is no driver the library can be loaded, and each call that needs a device says so. The library calls the
 * driver alone and opens it when that is first needed, so no library of the toolkit is needed. It works with drivers of
 * CUDA 12 and later; with an older one each call that needs a device says so.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Number of this interface. It rises with each change that a compiled caller would notice. */
#define WH_POOL_ABI 1

/** A pool. */
typedef struct wh_pool wh_pool;

/** How a call ended. */
typedef enum wh_pool_status {
  WH_POOL_OK = 0,
  WH_POOL_INVALID_ARGUMENT = 1, /**< an argument cannot be right */
  WH_POOL_TOO_LARGE = 2,        /**< more bytes than a pool can reserve */
  WH_POOL_OUT_OF_MEMORY = 3,    /**< the pool, the device or the host has not as much memory */
  WH_POOL_DEVICE_FAILURE = 4,   /**< there is no device, or the driver refused a call */
  WH_POOL_INTERNAL_ERROR = 5,   /**< nothing that is foreseen */
  WH_POOL_NOT_SUPPORTED = 6     /**< a capture of the stream was not begun, or the memory cannot be exported */
} wh_pool_status;

/** Bits of `wh_pool_options::flags`. */
enum {
  WH_POOL_PLAIN = 1, /**< memory that is not mapped: all `reserve_bytes` are taken at once, and kept to the end */
  WH_POOL_SHARED = 2 /**< as WH_POOL_PLAIN, and other processes can map it: for `wh_pool_export` */
};

/** How a pool is made. `struct_bytes` is the size of the structure as the caller knows it; zeros are the defaults. */
typedef struct wh_pool_options {
  uint64_t struct_bytes;  /**< sizeof(wh_pool_options) */
  uint64_t reserve_bytes; /**< addresses to reserve, as far as the pool can grow; 0: twice the device's memory,
                             so that free memory in pieces can move where addresses lie in a row */
  uint64_t initial_bytes; /**< memory to take when the pool is made */
  uint64_t span_bytes;    /**< the most that a stream takes at once, unless a block needs more; 0: 32 MiB */
  uint64_t piece_bytes;   /**< the pool takes memory and gives it back in pieces of this size; 0: 32 MiB */
  uint32_t flags;         /**< WH_POOL_PLAIN, WH_POOL_SHARED */
  int32_t device;         /**< number of the device; -1: the current one */
} wh_pool_options;

/** What a pool has taken and handed out, in bytes unless a member says otherwise. `committed_bytes` is the sum of
 * `live_bytes`, `deferred_bytes`, `stream_bytes`, `private_bytes` and `common_bytes`, if no other thread uses the pool.
 * Sizes of blocks are rounded up to 256 bytes. */
typedef struct wh_pool_statistics {
  uint64_t struct_bytes;         /**< sizeof(wh_pool_statistics), set by the caller; what lies beyond is not written */
  uint64_t reserved_bytes;       /**< addresses that the pool can grow over */
  uint64_t committed_bytes;      /**< of them with memory */
  uint64_t peak_committed_bytes; /**< the most since the pool was made or its peaks were reset */
  uint64_t live_bytes;           /**< in blocks that were not taken back */
  uint64_t peak_live_bytes;      /**< the most since the pool was made or its peaks were reset */
  uint64_t live_blocks;          /**< number of blocks that were not taken back */
  uint64_t peak_live_blocks;     /**< the most since the pool was made or its peaks were reset */
  uint64_t deferred_bytes;       /**< taken back, while streams of `wh_pool_note_use` still use them */
  uint64_t stream_bytes;         /**< free, and kept for the stream that freed them */
  uint64_t private_bytes;        /**< free, and kept for captures */
  uint64_t common_bytes;         /**< free, for any stream */
  uint64_t allocations;          /**< number of blocks ever handed out */
  uint64_t deallocations;        /**< number of blocks ever taken back */
  uint64_t allocated_bytes;      /**< in all blocks ever handed out */
  uint64_t deallocated_bytes;    /**< in all blocks ever taken back */
  uint64_t failures;             /**< number of requests that ended as out of memory */
  uint64_t streams;              /**< number of streams that the pool knows */
  uint64_t captures;             /**< number of captures whose memory is kept */
  uint64_t gatherings;           /**< number of times that all streams' free memory was put together */
  uint64_t waits;                /**< number of times that a stream was told to wait for another */
} wh_pool_statistics;

/* --- The library -------------------------------------------------------------------------------------------------- */

/** WH_POOL_ABI of the library. */
uint32_t wh_pool_abi(void);
/** "cuda" or "host". */
const char* wh_pool_backend(void);
/** 1 if pools can be made; else 0, and `wh_pool_error` says why not. */
uint32_t wh_pool_device_available(void);
/** Number of devices that pools can be made on. */
int32_t wh_pool_device_count(void);
/** The sentence of the last call of this thread that failed; valid up to its next call. */
const char* wh_pool_error(void);

/* --- A pool ------------------------------------------------------------------------------------------------------- */

/** Sets `*pool` to a new pool. Null `options` are the defaults on the current device. `pool` is not null. */
wh_pool_status wh_pool_make(const wh_pool_options* options, wh_pool** pool);
/** Ends a pool and all its blocks, after the work that its streams were given before. Null is ignored. A pool of
 * `wh_pool_of_device` is refused: it lives as long as the process. */
wh_pool_status wh_pool_end(wh_pool* pool);
/** Sets `*pool` to the pool that the process has in common for the device with that number, -1 for the current device.
 * The first call for a device makes it, with the default options. `pool` is not null. */
wh_pool_status wh_pool_of_device(int32_t device, wh_pool** pool);
/** Number of the pool's device; -1 for null. */
int32_t wh_pool_device(const wh_pool* pool);

/** Sets `*block` to a block of at least `bytes` bytes for work on `stream`, at a multiple of `alignment`: a power of
 * two that is raised to 256 where it is less, or 0. No bytes are a block of 256. Its contents are anything. `block` is
 * not null. On WH_POOL_OUT_OF_MEMORY nothing that the pool has free, whichever stream freed it, can hold the block. */
wh_pool_status wh_pool_allocate(wh_pool* pool, uint64_t bytes, uint64_t alignment, void* stream, void** block);
/** Takes a block back after all work that `stream` was given so far; null is ignored. Work of other streams that uses
 * the block either comes before, as for a launch on `stream`, or was noted by `wh_pool_note_use`. A pointer at which no
 * live block begins is refused. */
wh_pool_status wh_pool_deallocate(wh_pool* pool, void* block, void* stream);
/** Notes that work of `stream` uses the block. When the block is taken back, the pool marks what each noted stream was
 * given by then, and hands the memory out only when all these marks are reached. Work that uses the block can be given
 * to the stream before or after this call; on the default stream of a thread (`cudaStreamPerThread`) it comes before.
 * */
wh_pool_status wh_pool_note_use(wh_pool* pool, void* block, void* stream);
/** Forgets a stream that is about to be destroyed; another that is made later may have its name. Its blocks stay, and
 * are taken back on another. A stream that is being captured is refused. */
wh_pool_status wh_pool_forget(wh_pool* pool, void* stream);
/** Gives memory that no block lies in back to the machine, in whole pieces, but keeps at least `keep_bytes` committed;
 * `*given_back` becomes how many bytes. Waits for the work that used that memory. */
wh_pool_status wh_pool_trim(wh_pool* pool, uint64_t keep_bytes, uint64_t* given_back);

/** From now on the pool takes no more memory while it has `most_bytes`; what it has above that it keeps until
 * `wh_pool_trim`. UINT64_MAX: no limit but the addresses. Before a request fails for the limit, whole pieces of free
 * memory go where they make it fit, after the work that used them. A pool of WH_POOL_PLAIN or WH_POOL_SHARED has all
 * its memory already: WH_POOL_INVALID_ARGUMENT. */
wh_pool_status wh_pool_limit(wh_pool* pool, uint64_t most_bytes);

/** Lets the device with the number `device` reach all blocks of the pool, those that are handed out later too. Where
 * the memory is not mapped (WH_POOL_PLAIN, WH_POOL_SHARED) the device reaches all such memory of the pool's device. A
 * device that is not there, or cannot reach the memory, is refused with WH_POOL_DEVICE_FAILURE. */
wh_pool_status wh_pool_allow_peer(wh_pool* pool, int32_t device);

/** Sets `*bytes` to the size of the live block that begins at `block`, rounding included; 0 if none begins there. */
wh_pool_status wh_pool_block_bytes(wh_pool* pool, const void* block, uint64_t* bytes);
/** 1 if the address lies in the range of the pool, 0 if not or for a null pool. */
uint32_t wh_pool_owns(const wh_pool* pool, const void* address);
/** Writes the figures of the pool. `figures` is not null. */
wh_pool_status wh_pool_statistics_of(wh_pool* pool, wh_pool_statistics* figures);
/** Makes each peak what its figure is now. */
wh_pool_status wh_pool_reset_peaks(wh_pool* pool);
/** Writes all segments of the pool in the order of their addresses, as one JSON object in a text that ends with a zero.
 * `*needed` becomes the size of that text, the zero included. A null `buffer` asks for the size alone. A buffer of
 * fewer `bytes` is refused and left as it is.
 *
 * The object has `base`, a hexadecimal address as text, `reserved_bytes`, `granule_bytes`, and `segments`: objects with
 * `offset`, `bytes`, and `state`: `live`, `deferred`, `free` or `absent`. A live or free segment that a stream has also
 * has `stream`, its number as hexadecimal text, and one of a capture has `capture`, an array of the two numbers of its
 * name. */
wh_pool_status wh_pool_snapshot(wh_pool* pool, char* buffer, uint64_t bytes, uint64_t* needed);

/* --- Captures ----------------------------------------------------------------------------------------------------- */

/** True (not 0) if allocations on `stream` belong to a capture. Called under a lock of the pool, by the thread that
 * allocates: it must not call the pool. */
typedef int (*wh_pool_belongs)(void* param, void* stream);

/** Begins a capture with a name of 128 bits, before or after the stream's own capture begins. Until
 * `wh_pool_end_capture`, blocks for streams that belong to it come from private memory, which a graph can use each time
 * it runs: blocks that are taken back are handed out only to the same stream in captures of the same name. A stream
 * belongs if `belongs(param, stream)` says so. With a null `belongs` it does if it is `captured_stream`, which is not
 * destroyed before the end, or is being captured together with that one.
 *
 * Beginning again under a name that is kept adds to the same private memory: graphs of one name run one after another,
 * in any order in which each finds what it needs. A name that is begun and not ended is refused. Taking memory for a
 * capture may wait for work of other streams. A block that was not taken in a capture, and is taken back on a stream
 * that belongs to one, is free when that stream is not captured any more. */
wh_pool_status wh_pool_begin_capture(wh_pool* pool, uint64_t name_first, uint64_t name_second, void* captured_stream,
                                     wh_pool_belongs belongs, void* param);
/** Ends what `wh_pool_begin_capture` began. `belongs` is not called any more when this returns. The private memory is
 * kept. */
wh_pool_status wh_pool_end_capture(wh_pool* pool, uint64_t name_first, uint64_t name_second);
/** Releases what one `wh_pool_begin_capture` of that name kept; called once for each of them. After the last one the
 * private memory is for all streams, after all work that the `stream` of each release was given by then: graphs of the
 * capture that still run come before that, as for a launch on `stream`. Live blocks stay, and are taken back as any
 * other. A capture that was not ended is refused, and so is a stream that is being captured. */
wh_pool_status wh_pool_release_capture(wh_pool* pool, uint64_t name_first, uint64_t name_second, void* stream);

/* --- Other processes ---------------------------------------------------------------------------------------------- */

/** Names a block for other processes of the same machine and user. It is plain bytes: send them as they are. */
typedef struct wh_pool_handle {
  unsigned char bytes[192];
} wh_pool_handle;

/** Writes the handle of the live block that begins at `block`, of a pool that was made with WH_POOL_SHARED; another
 * pool is refused with WH_POOL_NOT_SUPPORTED. The handle is good as long as the block is live: the caller keeps the
 * block until all processes that imported it have released it. `handle` is not null. */
wh_pool_status wh_pool_export(wh_pool* pool, const void* block, wh_pool_handle* handle);
/** Sets `*block` to a block of another process, and `*bytes` to its size, its rounding included. `device` is the number
 * of the device that is to use it, or -1 for the one that the memory is of, whatever its number here. The memory of a
 * pool is mapped once for a device, however many of its blocks are imported. Each call has a `wh_pool_release_import`
 * of its own. `handle` and `block` are not null.
 *
 * Nothing orders the work of two processes: the importer uses the block after the exporter's work on it. A block of the
 * same process is refused, as it has a pointer there. No pool takes the block back. */
wh_pool_status wh_pool_import(const wh_pool_handle* handle, int32_t device, void** block, uint64_t* bytes);
/** Releases what one `wh_pool_import` gave, after the work of this process that uses it is done; null is ignored. The
 * memory is unmapped with the last of its blocks. A pointer that was not imported is refused. */
wh_pool_status wh_pool_release_import(void* block);
/** Sets `*memories` to how many memories of other processes are mapped, and `*blocks` to how many imports were not
 * released. */
wh_pool_status wh_pool_imports(uint64_t* memories, uint64_t* blocks);

/* --- Functions that other libraries take as pointers, over the pools of `wh_pool_of_device` ---------------------- */

/** A block for PyTorch's `CUDAPluggableAllocator`. Null for 0 bytes, and when it fails; `wh_pool_error` then says
 * why. */
void* wh_pool_torch_malloc(ptrdiff_t bytes, int device, void* stream);
/** Takes back what `wh_pool_torch_malloc` gave. What fails is left in `wh_pool_error`, and the block stays live. */
void wh_pool_torch_free(void* block, ptrdiff_t bytes, int device, void* stream);
/** A block for CuPy's `CFunctionAllocator`. Null for 0 bytes, and when it fails. `param` is ignored. CuPy names no
 * stream to such a function, so the block is one of the default stream, for programs whose work is on that stream or on
 * streams that wait for it. */
void* wh_pool_cupy_malloc(void* param, size_t bytes, int device);
/** Takes back what `wh_pool_cupy_malloc` gave. What fails is left in `wh_pool_error`, and the block stays live. */
void wh_pool_cupy_free(void* param, void* block, int device);

#ifdef __cplusplus
}
#endif

#endif
