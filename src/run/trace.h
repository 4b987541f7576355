/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WARPHEAP_RUN_TRACE_H
#define WARPHEAP_RUN_TRACE_H

#include "notes.h"
#include "state.h"

/* MODE_TRACE: a line for each block that is taken or given back, written at once, so that nothing is lost if the
 * process is killed. The caller has the lock of the state; so the lines of a process stand in the order of its
 * blocks' numbers. In other modes these do nothing. docs/run.md has the format. */

void trace_taken(struct state* state, enum call_number call, const struct block* block, stream_handle stream);
void trace_refused(struct state* state, const struct request* request, driver_result result);
void trace_given(struct state* state, const struct given* given);
void trace_unknown(struct state* state, const struct given* given, driver_result result);

#endif
