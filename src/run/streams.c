/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#include "calls.h"
#include "captures.h"
#include "driver.h"
#include "notes.h"
#include "pool.h"

/* Memory in the order of streams, and captures of streams. Each function of the driver has two forms, of which the
 * second takes the null stream for that of the calling thread; a wrapper of one form calls the driver's of this
 * form. */

static driver_result taken(enum call_number call, driver_result result, const device_address* block, size_t bytes,
                           stream_handle stream, bool is_from_pool) {
  const struct request request = {call, KIND_STREAM, bytes, stream};
  note_taken(&request, result, result == DRIVER_SUCCESS ? *block : 0, 0);
  if (result == DRIVER_SUCCESS) note_pooled(bytes, is_from_pool);
  return result;
}

/* The handle that names the stream to calls of either form. */
static stream_handle named(stream_handle stream, bool is_per_thread) {
  return stream == NULL && is_per_thread ? (stream_handle)STREAM_OF_THREAD : stream;
}

/* In what follows the last word says whether the null stream is that of the thread. */

#define ALLOC_ASYNC(symbol, is_per_thread)                                                   \
  driver_result symbol(device_address* block, size_t bytes, stream_handle stream) {          \
    __typeof__(&symbol) real = REAL(symbol);                                                 \
    if (real == NULL) return DRIVER_NOT_FOUND;                                               \
    if (pool_take_in_order(bytes, named(stream, is_per_thread), block)) {                    \
      return taken(CALL_##symbol, DRIVER_SUCCESS, block, bytes, stream, true);               \
    }                                                                                        \
    driver_result result = real(block, bytes, stream);                                       \
    if (result == DRIVER_OUT_OF_MEMORY && pool_spare()) result = real(block, bytes, stream); \
    return taken(CALL_##symbol, result, block, bytes, stream, false);                        \
  }
ALLOC_ASYNC(cuMemAllocAsync, false)
ALLOC_ASYNC(cuMemAllocAsync_ptsz, true)

/* The pool that the program names may have properties which ours has not. */
#define ALLOC_FROM_POOL_ASYNC(symbol)                                                              \
  driver_result symbol(device_address* block, size_t bytes, void* pool, stream_handle stream) {    \
    __typeof__(&symbol) real = REAL(symbol);                                                       \
    if (real == NULL) return DRIVER_NOT_FOUND;                                                     \
    driver_result result = real(block, bytes, pool, stream);                                       \
    if (result == DRIVER_OUT_OF_MEMORY && pool_spare()) result = real(block, bytes, pool, stream); \
    return taken(CALL_##symbol, result, block, bytes, stream, false);                              \
  }
ALLOC_FROM_POOL_ASYNC(cuMemAllocFromPoolAsync)
ALLOC_FROM_POOL_ASYNC(cuMemAllocFromPoolAsync_ptsz)

#define FREE_ASYNC(symbol, is_per_thread)                                                                 \
  driver_result symbol(device_address block, stream_handle stream) {                                      \
    __typeof__(&symbol) real = REAL(symbol);                                                              \
    if (real == NULL) return DRIVER_NOT_FOUND;                                                            \
    const struct given given = note_giving(CALL_##symbol, block, stream);                                 \
    const int pool = pool_of(block);                                                                      \
    const driver_result result =                                                                          \
        pool >= 0 ? pool_give_in_order(pool, &given, named(stream, is_per_thread)) : real(block, stream); \
    note_given(&given, result);                                                                           \
    if (pool >= 0 && result == DRIVER_SUCCESS) note_unpooled(&given);                                     \
    return result;                                                                                        \
  }
FREE_ASYNC(cuMemFreeAsync, false)
FREE_ASYNC(cuMemFreeAsync_ptsz, true)

driver_result cuStreamDestroy_v2(stream_handle stream) {
  __typeof__(&cuStreamDestroy_v2) real = REAL(cuStreamDestroy_v2);
  if (real == NULL) return DRIVER_NOT_FOUND;
  const uint64_t capture = capture_of(capture_key(stream, false));
  pool_forget(stream);
  const driver_result result = real(stream);
  capture_stream_gone(CALL_cuStreamDestroy_v2, capture, result);
  return result;
}

#define BEGIN_FIRST_CAPTURE(symbol, is_per_thread)                            \
  driver_result symbol(stream_handle stream) {                                \
    __typeof__(&symbol) real = REAL(symbol);                                  \
    if (real == NULL) return DRIVER_NOT_FOUND;                                \
    capture_announce();                                                       \
    const driver_result result = real(stream);                                \
    capture_begun(CALL_##symbol, capture_key(stream, is_per_thread), result); \
    return result;                                                            \
  }
BEGIN_FIRST_CAPTURE(cuStreamBeginCapture, false)
BEGIN_FIRST_CAPTURE(cuStreamBeginCapture_ptsz, true)

#define BEGIN_CAPTURE(symbol, is_per_thread)                                  \
  driver_result symbol(stream_handle stream, int mode) {                      \
    __typeof__(&symbol) real = REAL(symbol);                                  \
    if (real == NULL) return DRIVER_NOT_FOUND;                                \
    capture_announce();                                                       \
    const driver_result result = real(stream, mode);                          \
    capture_begun(CALL_##symbol, capture_key(stream, is_per_thread), result); \
    return result;                                                            \
  }
BEGIN_CAPTURE(cuStreamBeginCapture_v2, false)
BEGIN_CAPTURE(cuStreamBeginCapture_v2_ptsz, true)

#define BEGIN_CAPTURE_TO_GRAPH(symbol, is_per_thread)                                                         \
  driver_result symbol(stream_handle stream, void* graph, const void* nodes, const void* edges, size_t count, \
                       int mode) {                                                                            \
    __typeof__(&symbol) real = REAL(symbol);                                                                  \
    if (real == NULL) return DRIVER_NOT_FOUND;                                                                \
    capture_announce();                                                                                       \
    const driver_result result = real(stream, graph, nodes, edges, count, mode);                              \
    capture_begun(CALL_##symbol, capture_key(stream, is_per_thread), result);                                 \
    return result;                                                                                            \
  }
BEGIN_CAPTURE_TO_GRAPH(cuStreamBeginCaptureToGraph, false)
BEGIN_CAPTURE_TO_GRAPH(cuStreamBeginCaptureToGraph_ptsz, true)

#define END_CAPTURE(symbol, is_per_thread)                                   \
  driver_result symbol(stream_handle stream, void** graph) {                 \
    __typeof__(&symbol) real = REAL(symbol);                                 \
    if (real == NULL) return DRIVER_NOT_FOUND;                               \
    const uint64_t capture = capture_of(capture_key(stream, is_per_thread)); \
    const driver_result result = real(stream, graph);                        \
    capture_ended(CALL_##symbol, capture, result);                           \
    return result;                                                           \
  }
END_CAPTURE(cuStreamEndCapture, false)
END_CAPTURE(cuStreamEndCapture_ptsz, true)
