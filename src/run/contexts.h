/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WARPHEAP_RUN_CONTEXTS_H
#define WARPHEAP_RUN_CONTEXTS_H

#include <stdbool.h>

#include "driver.h"

/* The driver's contexts and streams, for MODE_POOL: a pool is of the primary context of a device. All calls here are
 * the driver's own and are not noted. */

/* Looks the driver's functions up; the name of one that it lacks, or null if it has them all. One caller at a time,
 * before any other function here. */
const char* contexts_open(void);

/* The context that is current in the calling thread; null for none. */
void* context_current(void);
/* The context that work on a stream is in; that of a default stream is the current one. Null for none. */
void* context_of_stream(stream_handle stream);
/* The number of the device whose primary context that is; -1 for any other. */
int context_device(void* context);

/* Waits for all work of the context. */
driver_result context_synchronise(void* context);
/* Makes a stream of the context that no default stream waits for. */
driver_result context_make_stream(void* context, stream_handle* stream);

driver_result stream_synchronise(stream_handle stream);
/* Tells if the stream is captured. An error is the driver's answer to any work on the stream. */
driver_result stream_is_captured(stream_handle stream, bool* is_captured);

#endif
