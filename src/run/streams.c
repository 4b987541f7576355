/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#include "calls.h"
#include "driver.h"
#include "notes.h"

/* Memory in the order of streams, and captures of streams. Each function of the driver has two forms, of which the
 * second takes the null stream for that of the calling thread; a wrapper of one form calls the driver's of this
 * form. */

static driver_result taken(enum call_number call, driver_result result, const device_address* block, size_t bytes,
                           stream_handle stream) {
  const struct request request = {call, KIND_STREAM, bytes, stream};
  note_taken(&request, result, result == DRIVER_SUCCESS ? *block : 0, 0);
  return result;
}

#define ALLOC_ASYNC(symbol)                                                         \
  driver_result symbol(device_address* block, size_t bytes, stream_handle stream) { \
    __typeof__(&symbol) real = REAL(symbol);                                        \
    if (real == NULL) return DRIVER_NOT_FOUND;                                      \
    return taken(CALL_##symbol, real(block, bytes, stream), block, bytes, stream);  \
  }
ALLOC_ASYNC(cuMemAllocAsync)
ALLOC_ASYNC(cuMemAllocAsync_ptsz)

#define ALLOC_FROM_POOL_ASYNC(symbol)                                                           \
  driver_result symbol(device_address* block, size_t bytes, void* pool, stream_handle stream) { \
    __typeof__(&symbol) real = REAL(symbol);                                                    \
    if (real == NULL) return DRIVER_NOT_FOUND;                                                  \
    return taken(CALL_##symbol, real(block, bytes, pool, stream), block, bytes, stream);        \
  }
ALLOC_FROM_POOL_ASYNC(cuMemAllocFromPoolAsync)
ALLOC_FROM_POOL_ASYNC(cuMemAllocFromPoolAsync_ptsz)

#define FREE_ASYNC(symbol)                                                \
  driver_result symbol(device_address block, stream_handle stream) {      \
    __typeof__(&symbol) real = REAL(symbol);                              \
    if (real == NULL) return DRIVER_NOT_FOUND;                            \
    const struct given given = note_giving(CALL_##symbol, block, stream); \
    const driver_result result = real(block, stream);                     \
    note_given(&given, result);                                           \
    return result;                                                        \
  }
FREE_ASYNC(cuMemFreeAsync)
FREE_ASYNC(cuMemFreeAsync_ptsz)

#define BEGIN_CAPTURE(symbol)                            \
  driver_result symbol(stream_handle stream, int mode) { \
    __typeof__(&symbol) real = REAL(symbol);             \
    if (real == NULL) return DRIVER_NOT_FOUND;           \
    const driver_result result = real(stream, mode);     \
    note_capture(CALL_##symbol, result, true);           \
    return result;                                       \
  }
BEGIN_CAPTURE(cuStreamBeginCapture_v2)
BEGIN_CAPTURE(cuStreamBeginCapture_v2_ptsz)

#define BEGIN_CAPTURE_TO_GRAPH(symbol)                                                                        \
  driver_result symbol(stream_handle stream, void* graph, const void* nodes, const void* edges, size_t count, \
                       int mode) {                                                                            \
    __typeof__(&symbol) real = REAL(symbol);                                                                  \
    if (real == NULL) return DRIVER_NOT_FOUND;                                                                \
    const driver_result result = real(stream, graph, nodes, edges, count, mode);                              \
    note_capture(CALL_##symbol, result, true);                                                                \
    return result;                                                                                            \
  }
BEGIN_CAPTURE_TO_GRAPH(cuStreamBeginCaptureToGraph)
BEGIN_CAPTURE_TO_GRAPH(cuStreamBeginCaptureToGraph_ptsz)

#define END_CAPTURE(symbol)                                  \
  driver_result symbol(stream_handle stream, void** graph) { \
    __typeof__(&symbol) real = REAL(symbol);                 \
    if (real == NULL) return DRIVER_NOT_FOUND;               \
    const driver_result result = real(stream, graph);        \
    note_capture(CALL_##symbol, result, false);              \
    return result;                                           \
  }
END_CAPTURE(cuStreamEndCapture)
END_CAPTURE(cuStreamEndCapture_ptsz)
