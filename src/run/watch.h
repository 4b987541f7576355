/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WARPHEAP_RUN_WATCH_H
#define WARPHEAP_RUN_WATCH_H

#include <stdint.h>

#include "blocks.h"

/* What `warpheap watch` sees of the process: counters for each kind of memory and device, on a board that other
 * processes read. A process publishes from its first request for memory on. The caller has the lock of the state,
 * except of `watch_device`; in a process that publishes nothing these do nothing. */

enum { WATCH_ROWS = 30, WATCH_NO_DEVICE = -1 };

/* Counters of one kind of memory of one device. They are kept beside the board, since a forked child makes a board of
 * its own and goes on from them. */
struct watch_row {
  uint64_t taken; /* blocks; 0 in an unused row that has no failures either */
  uint64_t taken_bytes;
  uint64_t ended;
  uint64_t ended_bytes;
  uint64_t peak_blocks;
  uint64_t peak_bytes;
  uint64_t failures;
  uint32_t kind;
  int32_t device;
};

struct watch_table {
  uint32_t used;
  struct watch_row rows[WATCH_ROWS];
};

/* The number of the device whose context is current in the calling thread, which the driver is asked for; of memory of
 * the host, and where the driver does not say, WATCH_NO_DEVICE. Called without the lock. */
int32_t watch_device(enum block_kind kind);
/* The driver was opened anew: its functions are looked up again. */
void watch_driver_moved(void);

/* The block was taken, or its end undone. */
void watch_taken(struct watch_table* table, const struct block* block);
void watch_restored(struct watch_table* table, const struct block* block);
/* The block has ended. */
void watch_ended(struct watch_table* table, const struct block* block);
/* The driver refused a request. */
void watch_refused(struct watch_table* table, enum block_kind kind, int32_t device);

/* Nothing of the process is seen any more. Called without the lock, when the process ends. */
void watch_end(void);

#endif
