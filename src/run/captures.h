/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WARPHEAP_RUN_CAPTURES_H
#define WARPHEAP_RUN_CAPTURES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "calls.h"
#include "driver.h"

/* Captures of graphs in progress, and work that the library itself gives the driver. The two exclude each other: work
 * of the library would spoil a capture of the program, in whichever thread either is. Any thread can call these at any
 * time. */

enum { MOST_CAPTURES = 64 };

/* A part of the state of the process. Its lock guards all but `workers`. */
struct captures {
  uint64_t count; /* in progress or about to begin */
  uint64_t last_serial;
  uint64_t untracked; /* of them those for which the table had no place */
  struct {
    uint64_t key; /* of the stream; 0 in an unused entry */
    uint64_t serial;
  } tracked[MOST_CAPTURES];
  _Atomic uint32_t workers; /* threads with work of the library */
};

/* Names a stream among all of the process. The default stream of a thread has a name for each thread; it is the null
 * stream in calls of the form for streams of a thread, and the handle 2 in all. */
uint64_t capture_key(stream_handle stream, bool is_per_thread);

/* The program is about to begin a capture: waits for the library's work, and holds back more of it. */
void capture_announce(void);
/* The driver answered what was announced. */
void capture_begun(enum call_number call, uint64_t key, driver_result result);

/* Which capture a stream has; 0 for none that is known. To be asked before the driver ends it: afterwards another
 * stream may have the same name. */
uint64_t capture_of(uint64_t key);
/* The driver answered a call that ends the capture with that number. */
void capture_ended(enum call_number call, uint64_t serial, driver_result result);
/* The driver answered the destruction of a stream, which had the capture with that number. */
void capture_stream_gone(enum call_number call, uint64_t serial, driver_result result);

/* True while no graph is captured. It may be otherwise when the caller has read it. */
bool is_quiet(void);
/* True if the library may give the driver work now; `work_end` must follow, and soon: captures wait for it. */
bool work_begin(void);
void work_end(void);

#endif
