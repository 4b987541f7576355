/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#include "watch.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "../watch/board.h"
#include "driver.h"
#include "find.h"
#include "pool_library.h"
#include "state.h"

_Static_assert((int)WATCH_ROWS == (int)BOARD_ROWS, "each row is one of the board");
_Static_assert((int)BOARD_DEVICE == KIND_DEVICE + 1 && (int)BOARD_MANAGED == KIND_MANAGED + 1 &&
                   (int)BOARD_STREAM == KIND_STREAM + 1 && (int)BOARD_HOST == KIND_HOST + 1 &&
                   (int)BOARD_PHYSICAL == KIND_PHYSICAL + 1,
               "kinds of the board are those of blocks");

static bool is_on(void) {
  static _Atomic int known = -1; /* relaxed: each thread would find the same, and nothing else goes with it */
  int is = atomic_load_explicit(&known, memory_order_relaxed);
  if (is < 0) {
    is = board_is_wanted();
    atomic_store_explicit(&known, is, memory_order_relaxed);
  }
  return is != 0;
}

typedef driver_result get_device(int*);
static _Atomic(get_device*) known; /* relaxed: each thread would find the same, and the function is there before */

void watch_driver_moved(void) { atomic_store_explicit(&known, NULL, memory_order_relaxed); }

int32_t watch_device(enum block_kind kind) {
  if (kind == KIND_HOST || !is_on() || run_mode() == MODE_OFF || pool_is_entered()) return WATCH_NO_DEVICE;
  get_device* get = atomic_load_explicit(&known, memory_order_relaxed);
  if (get == NULL) {
    get = (get_device*)find_next("cuCtxGetDevice");
    atomic_store_explicit(&known, get, memory_order_relaxed);
  }
  int device = WATCH_NO_DEVICE;
  return get != NULL && get(&device) == DRIVER_SUCCESS ? device : WATCH_NO_DEVICE;
}

/* Null for a kind and device beyond the rows that there are. */
static struct watch_row* find_row(struct watch_table* table, uint32_t kind, int32_t device) {
  if (!is_on()) return NULL;
  for (uint32_t at = 0; at < table->used; ++at) {
    if (table->rows[at].kind == kind && table->rows[at].device == device) return &table->rows[at];
  }
  if (table->used == WATCH_ROWS) return NULL;
  struct watch_row* const made = &table->rows[table->used++];
  made->kind = kind;
  made->device = device;
  return made;
}

static void publish(const struct watch_table* table, const struct watch_row* row) {
  struct board* const board = board_of(BOARD_OF_RUN, run_mode_name());
  if (board == NULL) return;
  struct board_row* const shown = &board->row[row - table->rows];
  board_store(&shown->allocations, row->taken);
  board_store(&shown->allocated_bytes, row->taken_bytes);
  board_store(&shown->deallocations, row->ended);
  board_store(&shown->deallocated_bytes, row->ended_bytes);
  board_store(&shown->peak_live_blocks, row->peak_blocks);
  board_store(&shown->peak_live_bytes, row->peak_bytes);
  board_store(&shown->failures, row->failures);
  if (board_load(&shown->kind) != BOARD_NOTHING) return;
  board_store(&shown->device, row->device < 0 ? BOARD_NO_DEVICE : (uint64_t)row->device);
  board_publish(shown, (enum board_kind)(row->kind + 1));
}

static void note_peaks(struct watch_row* row) {
  const uint64_t blocks = row->taken - row->ended, bytes = row->taken_bytes - row->ended_bytes;
  if (blocks > row->peak_blocks) row->peak_blocks = blocks;
  if (bytes > row->peak_bytes) row->peak_bytes = bytes;
}

void watch_taken(struct watch_table* table, const struct block* block) {
  struct watch_row* const row = find_row(table, block->kind, block->device);
  if (row == NULL) return;
  ++row->taken;
  row->taken_bytes += block->bytes;
  note_peaks(row);
  publish(table, row);
}

void watch_restored(struct watch_table* table, const struct block* block) {
  struct watch_row* const row = find_row(table, block->kind, block->device);
  if (row == NULL) return;
  --row->ended;
  row->ended_bytes -= block->bytes;
  note_peaks(row);
  publish(table, row);
}

void watch_ended(struct watch_table* table, const struct block* block) {
  struct watch_row* const row = find_row(table, block->kind, block->device);
  if (row == NULL) return;
  ++row->ended;
  row->ended_bytes += block->bytes;
  publish(table, row);
}

void watch_refused(struct watch_table* table, enum block_kind kind, int32_t device) {
  struct watch_row* const row = find_row(table, kind, device);
  if (row == NULL) return;
  ++row->failures;
  publish(table, row);
}

void watch_end(void) { board_end_all(); }
