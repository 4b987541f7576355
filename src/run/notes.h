/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WARPHEAP_RUN_NOTES_H
#define WARPHEAP_RUN_NOTES_H

#include <stdbool.h>
#include <stdint.h>

#include "blocks.h"
#include "calls.h"
#include "driver.h"

/* What is noted when the program takes memory and gives it back. Any thread can call these at any time; in
 * MODE_OFF they do nothing.
 *
 * A block is noted after the driver handed it out, and its end before the driver is asked to take it back: between
 * the two the driver cannot hand out its address a second time. */

struct request {
  enum call_number call;
  enum block_kind kind;
  uint64_t bytes;
  stream_handle stream; /* null for a call without a stream */
};

/* The request was answered with `result`; on success `key` is the block's, and `zone` bytes after it are a red zone. */
void note_taken(const struct request* request, driver_result result, uint64_t key, uint32_t zone);

/* What was known of a pointer that is given back. */
struct given {
  enum call_number call;
  uint64_t key;
  stream_handle stream;
  enum { GIVEN_UNKNOWN, GIVEN_LIVE, GIVEN_FREED } was;
  struct block block; /* as it was; of GIVEN_UNKNOWN nothing */
  bool is_last;       /* no reference to the block is left */
};

/* The program gives back what `key` names; the driver has not been asked. */
struct given note_giving(enum call_number call, uint64_t key, stream_handle stream);
/* The driver answered with `result`. A block that it refused is live again. */
void note_given(const struct given* given, driver_result result);

/* The block of the request that succeeded came from a pool, or in MODE_POOL from the driver. */
void note_pooled(uint64_t bytes, bool is_from_pool);
/* A pool took the block back. */
void note_unpooled(const struct given* given);
/* All live blocks end that `is_gone` says have ended with the call; it is called with a lock held. `is_pools` if they
 * were of a pool. */
void note_gone(enum call_number call, bool (*is_gone)(uint64_t key, const void* param), const void* param,
               bool is_pools);

/* Another reference to a block, of memory without addresses. */
void note_reference(driver_result result, uint64_t key);

/* The program looked the function up and got the library's. */
void note_lookup(enum call_number call);

/* A call that takes no memory and gives none back. */
void note_call(enum call_number call, driver_result result);

#endif
