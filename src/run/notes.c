/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#include "notes.h"

#include "check.h"
#include "state.h"
#include "trace.h"
#include "watch.h"

static void count_call(struct state* state, enum call_number call, driver_result result) {
  ++state->figures[call].calls;
  if (result != DRIVER_SUCCESS) ++state->figures[call].refused;
}

static void count_live(struct state* state, const struct block* block) {
  struct kind_figures* const kind = &state->kinds[block->kind];
  ++kind->blocks;
  kind->bytes += block->bytes;
  if (kind->bytes > kind->peak) kind->peak = kind->bytes;
}

static void count_end(struct state* state, const struct block* block) {
  struct kind_figures* const kind = &state->kinds[block->kind];
  --kind->blocks;
  kind->bytes -= block->bytes;
}

/* Makes the block live; false without memory for it. A live block with its key has ended where the library did not see
 * it, as one of a graph does. */
static bool insert(struct state* state, const struct block* block) {
  struct block* const entry = blocks_entry(&state->blocks, block->key);
  if (entry == NULL) {
    ++state->unnoted;
    return false;
  }
  if (entry->references != 0) {
    count_end(state, entry);
    watch_ended(&state->watched, entry);
  } else {
    ++state->blocks.live;
  }
  *entry = *block;
  count_live(state, block);
  return true;
}

void note_taken(const struct request* request, driver_result result, uint64_t key, uint32_t zone) {
  const int32_t device = watch_device(request->kind);
  struct state* const state = state_lock();
  if (state == NULL) return;
  count_call(state, request->call, result);
  if (result != DRIVER_SUCCESS) {
    watch_refused(&state->watched, request->kind, device);
    trace_refused(state, request, result);
  } else if (key != 0) {
    const struct block block = {key, request->bytes, ++state->last_id, request->kind, zone, 1, device};
    state->figures[request->call].bytes += request->bytes;
    if (insert(state, &block)) watch_taken(&state->watched, &block);
    trace_taken(state, request->call, &block, request->stream);
  }
  state_unlock(state);
}

struct given note_giving(enum call_number call, uint64_t key, stream_handle stream) {
  struct given given = {.call = call, .key = key, .stream = stream, .was = GIVEN_UNKNOWN};
  struct state* const state = state_lock();
  if (state == NULL) return given;
  ++state->figures[call].calls;
  struct block* const block = key == 0 ? NULL : blocks_find(&state->blocks, key);
  if (block != NULL) {
    given.was = block->references != 0 ? GIVEN_LIVE : GIVEN_FREED;
    given.block = *block;
  }
  if (given.was == GIVEN_LIVE && --block->references == 0) {
    given.is_last = true;
    state->figures[call].bytes += block->bytes;
    --state->blocks.live;
    count_end(state, block);
    watch_ended(&state->watched, block);
    trace_given(state, &given);
  }
  state_unlock(state);
  return given;
}

/* Undoes what note_giving did with a block that the driver did not take back. */
static void restore(struct state* state, const struct given* given) {
  if (given->is_last) {
    state->figures[given->call].bytes -= given->block.bytes;
    if (insert(state, &given->block)) watch_restored(&state->watched, &given->block);
    trace_taken(state, given->call, &given->block, given->stream);
    return;
  }
  struct block* const block = blocks_find(&state->blocks, given->key);
  if (block != NULL && block->references != 0) ++block->references;
}

void note_given(const struct given* given, driver_result result) {
  /* Nearly every free ends here, and all is noted. */
  if (given->was == GIVEN_LIVE && result == DRIVER_SUCCESS) return;
  struct state* const state = state_lock();
  if (state == NULL) return;
  if (result != DRIVER_SUCCESS) ++state->figures[given->call].refused;
  if (given->was == GIVEN_LIVE) {
    restore(state, given);
  } else if (given->key != 0) {
    if (result == DRIVER_SUCCESS) ++state->unknown_frees;
    trace_unknown(state, given, result);
  }
  state_unlock(state);
  check_given(given, result);
}

void note_pooled(uint64_t bytes, bool is_from_pool) {
  struct state* const state = run_mode() == MODE_POOL ? state_lock() : NULL;
  if (state == NULL) return;
  struct pooled_figures* const of = &state->pooled;
  if (is_from_pool) {
    ++of->blocks;
    of->bytes += bytes;
    of->live += bytes;
    if (of->live > of->peak) of->peak = of->live;
  } else {
    ++of->forwarded_blocks;
    of->forwarded_bytes += bytes;
  }
  state_unlock(state);
}

void note_unpooled(const struct given* given) {
  struct state* const state = given->was == GIVEN_LIVE ? state_lock() : NULL;
  if (state == NULL) return;
  state->pooled.live -= given->block.bytes;
  state_unlock(state);
}

void note_gone(enum call_number call, bool (*is_gone)(uint64_t key, const void* param), const void* param,
               bool is_pools) {
  struct state* const state = state_lock();
  if (state == NULL) return;
  for (uint64_t i = 0; i < state->blocks.capacity; ++i) {
    struct block* const block = &state->blocks.entries[i];
    if (block->references == 0 || !is_gone(block->key, param)) continue;
    block->references = 0;
    --state->blocks.live;
    count_end(state, block);
    watch_ended(&state->watched, block);
    if (is_pools) state->pooled.live -= block->bytes;
    trace_given(state, &(struct given){.call = call, .key = block->key, .was = GIVEN_LIVE, .block = *block});
  }
  state_unlock(state);
}

void note_reference(driver_result result, uint64_t key) {
  struct state* const state = state_lock();
  if (state == NULL) return;
  count_call(state, CALL_cuMemRetainAllocationHandle, result);
  struct block* const block = result == DRIVER_SUCCESS && key != 0 ? blocks_find(&state->blocks, key) : NULL;
  if (block != NULL && block->references != 0) ++block->references;
  state_unlock(state);
}

void note_lookup(enum call_number call) {
  struct state* const state = state_lock();
  if (state == NULL) return;
  ++state->figures[call].lookups;
  state_unlock(state);
}

void note_call(enum call_number call, driver_result result) {
  struct state* const state = state_lock();
  if (state == NULL) return;
  count_call(state, call, result);
  state_unlock(state);
}
