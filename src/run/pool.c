/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#include "pool.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#include "captures.h"
#include "contexts.h"
#include "find.h"
#include "pool_library.h"
#include "state.h"

enum { MOST_POOLS = 64, MOST_PUT_OFF = 4096, LONGEST_REASON = 300 };
/* A thread waits for another that makes a pool, but not for ever: the maker may wait in turn for the dynamic linker,
 * which this thread may be within. The driver serves it then. */
enum { MILLISECONDS_FOR_A_POOL = 2000 };
/* Of blocks of the driver; programs read them as textures, whose addresses need as much. */
enum { ALIGNMENT = 512 };
enum { MEBIBYTE_MASK = (1 << 20) - 1 };
enum readiness { UNTRIED, READY, FAILED };

/* A device, from its first block on. */
struct device_pool {
  void* context;        /* the primary one */
  wh_pool* pool;        /* null if none could be made */
  stream_handle stream; /* in whose order blocks for all streams are taken and given back; nothing runs on it */
  int number;
  _Atomic bool is_lost;
  _Atomic uint64_t highest;  /* end of the mebibyte that the highest block ends in */
  _Atomic uint64_t reserved; /* the most bytes it had from the driver, as they were seen last */
};

/* This is not wiped in a forked child. No child uses it: the driver does not serve there, and state_has_pools is
 * false. */
static _Atomic int readiness;
static const struct pool_library* library;
static struct device_pool pools[MOST_POOLS];
static _Atomic int pool_count;
static char reason[LONGEST_REASON];
static _Atomic bool leaves_streams_alone;

/* Blocks that were given back while a graph was captured. */
static struct {
  int pool;
  device_address block;
} put_off[MOST_PUT_OFF];
static _Atomic int put_off_count;

/* --- Pools -------------------------------------------------------------------------------------------------------- */

static bool is_used(void) {
  if (run_mode() != MODE_POOL || pool_is_entered()) return false;
  const int now = atomic_load_explicit(&readiness, memory_order_acquire);
  return now == UNTRIED || (now == READY && state_has_pools());
}

/* False if the pool is gone, or was never made. */
static bool figures_of(const struct device_pool* pool, wh_pool_statistics* figures) {
  if (pool->pool == NULL || atomic_load_explicit(&pool->is_lost, memory_order_relaxed)) return false;
  figures->struct_bytes = sizeof *figures;
  pool_enter();
  const wh_pool_status status = library->statistics_of(pool->pool, figures);
  pool_leave();
  return status == WH_POOL_OK;
}

static void look_at_reserved(struct device_pool* pool) {
  wh_pool_statistics figures = {0};
  if (figures_of(pool, &figures)) {
    atomic_store_explicit(&pool->reserved, figures.peak_committed_bytes, memory_order_relaxed);
  }
}

/* Called by the program's exit, before the driver ends: that was opened earlier. */
static void look_at_end(void* ignored) {
  (void)ignored;
  if (!is_used()) return;
  const int count = atomic_load_explicit(&pool_count, memory_order_acquire);
  for (int at = 0; at < count; ++at) look_at_reserved(&pools[at]);
}

static void register_look(void) {
  typedef int register_function(void (*)(void*), void*, void*);
  /* The C library of the program: an auditor has one of its own, whose exit nobody calls. */
  void* const c_library = dlmopen(LM_ID_BASE, "libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  if (c_library == NULL) return;
  register_function* const at_exit = (register_function*)libc_dlsym()(c_library, "__cxa_atexit");
  if (at_exit != NULL) at_exit(look_at_end, NULL, NULL);
}

/* With the lock. */
static void get_ready(void) {
  const char* const lacking = contexts_open();
  if (lacking != NULL) {
    snprintf(reason, sizeof reason, "the driver has no %s; CUDA 11 or later is needed", lacking);
  } else {
    library = pool_library_load(reason, sizeof reason);
  }
  if (library != NULL) state_set_has_pools();
  atomic_store_explicit(&readiness, library != NULL ? READY : FAILED, memory_order_release);
}

static bool is_ready(void) {
  if (!is_used()) return false;
  if (atomic_load_explicit(&readiness, memory_order_acquire) == UNTRIED) {
    lock_word* const lock = state_pool_lock();
    if (lock == NULL || !lock_take_within(lock, MILLISECONDS_FOR_A_POOL)) return false;
    if (atomic_load_explicit(&readiness, memory_order_relaxed) == UNTRIED) get_ready();
    lock_release(lock);
  }
  return is_used();
}

static struct device_pool* known(void* context) {
  const int count = atomic_load_explicit(&pool_count, memory_order_acquire);
  for (int at = 0; at < count; ++at) {
    if (pools[at].context == context) return &pools[at];
  }
  return NULL;
}

/* With the lock. A pool that cannot be made is not tried again. */
static void make(void* context, int number) {
  const int at = atomic_load_explicit(&pool_count, memory_order_relaxed);
  if (at == MOST_POOLS) return;
  struct device_pool* const made = &pools[at];
  made->context = context;
  made->number = number;
  const driver_result result = context_make_stream(context, &made->stream);
  if (result != DRIVER_SUCCESS) {
    snprintf(reason, sizeof reason, "the driver makes no stream on device %d: error %d", number, result);
  } else {
    const wh_pool_options options = {.struct_bytes = sizeof options, .device = number};
    pool_enter();
    if (library->make(&options, &made->pool) != WH_POOL_OK) {
      made->pool = NULL;
      snprintf(reason, sizeof reason, "%s", library->error());
    }
    pool_leave();
  }
  if (at == 0) register_look();
  atomic_store_explicit(&pool_count, at + 1, memory_order_release);
}

/* The pool for a context; null if the driver serves that. */
static struct device_pool* pool_for(void* context) {
  if (context == NULL) return NULL;
  struct device_pool* found = known(context);
  if (found == NULL) {
    const int number = context_device(context);
    lock_word* const lock = number < 0 ? NULL : state_pool_lock();
    /* Pools make streams and memory, which no capture may see. */
    if (lock == NULL || !work_begin()) return NULL;
    if (lock_take_within(lock, MILLISECONDS_FOR_A_POOL)) {
      if (known(context) == NULL) make(context, number);
      lock_release(lock);
    }
    work_end();
    found = known(context);
  }
  const bool serves =
      found != NULL && found->pool != NULL && !atomic_load_explicit(&found->is_lost, memory_order_acquire);
  return serves ? found : NULL;
}

bool pool_serves(void) { return is_ready(); }

/* --- Blocks ------------------------------------------------------------------------------------------------------- */

static driver_result result_of(wh_pool_status status) {
  switch (status) {
    case WH_POOL_OK: return DRIVER_SUCCESS;
    case WH_POOL_INVALID_ARGUMENT: return DRIVER_INVALID_VALUE;
    case WH_POOL_OUT_OF_MEMORY: return DRIVER_OUT_OF_MEMORY;
    default: return DRIVER_UNKNOWN;
  }
}

static driver_result deallocate(struct device_pool* pool, device_address block, stream_handle stream) {
  pool_enter();
  const wh_pool_status status = library->deallocate(pool->pool, (void*)(uintptr_t)block, stream);
  pool_leave();
  return result_of(status);
}

/* Within `work_begin`. */
static void give_put_off(void) {
  if (atomic_load_explicit(&put_off_count, memory_order_relaxed) == 0) return;
  lock_word* const lock = state_pool_lock();
  if (lock == NULL) return;
  lock_take(lock);
  const int count = atomic_load_explicit(&put_off_count, memory_order_relaxed);
  for (int at = 0; at < count; ++at) {
    struct device_pool* const pool = &pools[put_off[at].pool];
    if (atomic_load_explicit(&pool->is_lost, memory_order_relaxed)) continue;
    if (context_synchronise(pool->context) == DRIVER_SUCCESS) deallocate(pool, put_off[at].block, pool->stream);
  }
  atomic_store_explicit(&put_off_count, 0, memory_order_relaxed);
  lock_release(lock);
}

static void trim(struct device_pool* pool, uint64_t* given_back) {
  pool_enter();
  library->trim(pool->pool, 0, given_back);
  pool_leave();
}

static bool take(struct device_pool* pool, uint64_t bytes, stream_handle stream, device_address* block) {
  if (!work_begin()) return false;
  give_put_off();
  void* at = NULL;
  pool_enter();
  const wh_pool_status status = library->allocate(pool->pool, bytes, ALIGNMENT, stream, &at);
  pool_leave();
  bool is_taken = status == WH_POOL_OK;
  if (status == WH_POOL_OUT_OF_MEMORY) {
    uint64_t given_back = 0;
    trim(pool, &given_back);
  }
  /* Memory that another stream gave back is free in the order of the pool's stream; the program may use the block on
   * any. */
  if (is_taken && stream == pool->stream && stream_synchronise(stream) != DRIVER_SUCCESS) {
    deallocate(pool, (uintptr_t)at, stream);
    is_taken = false;
  }
  if (is_taken) {
    *block = (uintptr_t)at;
    /* A pool grows by more than a mebibyte. */
    if (*block + bytes > atomic_load_explicit(&pool->highest, memory_order_relaxed)) {
      atomic_store_explicit(&pool->highest, (*block + bytes) | MEBIBYTE_MASK, memory_order_relaxed);
      look_at_reserved(pool);
    }
  }
  work_end();
  return is_taken;
}

bool pool_take(uint64_t bytes, device_address* block) {
  if (bytes == 0 || block == NULL || !is_ready()) return false;
  struct device_pool* const pool = pool_for(context_current());
  return pool != NULL && take(pool, bytes, pool->stream, block);
}

bool pool_take_in_order(uint64_t bytes, stream_handle stream, device_address* block) {
  if (bytes == 0 || block == NULL || !is_ready() || atomic_load_explicit(&leaves_streams_alone, memory_order_relaxed)) {
    return false;
  }
  struct device_pool* const pool = pool_for(context_of_stream(stream));
  return pool != NULL && take(pool, bytes, stream, block);
}

int pool_of(device_address address) {
  if (address == 0 || !is_used()) return -1;
  const int count = atomic_load_explicit(&pool_count, memory_order_acquire);
  for (int at = 0; at < count; ++at) {
    const struct device_pool* const pool = &pools[at];
    if (pool->pool == NULL || atomic_load_explicit(&pool->is_lost, memory_order_acquire)) continue;
    if (library->owns(pool->pool, (const void*)(uintptr_t)address) != 0) return at;
  }
  return -1;
}

void* pool_context(int pool) { return pools[pool].context; }

static void count_held(void) {
  struct state* const state = state_lock();
  if (state == NULL) return;
  ++state->pooled.held;
  state_unlock(state);
}

static driver_result put_off_block(int pool, device_address block) {
  lock_word* const lock = state_pool_lock();
  if (lock == NULL) return DRIVER_UNKNOWN;
  lock_take(lock);
  const int at = atomic_load_explicit(&put_off_count, memory_order_relaxed);
  if (at < MOST_PUT_OFF) {
    put_off[at].pool = pool;
    put_off[at].block = block;
    atomic_store_explicit(&put_off_count, at + 1, memory_order_relaxed);
  }
  lock_release(lock);
  if (at == MOST_PUT_OFF) count_held();
  return DRIVER_SUCCESS;
}

driver_result pool_give(int pool, const struct given* given) {
  struct device_pool* const own = &pools[pool];
  /* The pool still has blocks that were put off, and those that are kept for graphs. */
  if (given->was == GIVEN_FREED) return DRIVER_INVALID_VALUE;
  if (!work_begin()) return given->was == GIVEN_LIVE ? put_off_block(pool, given->key) : DRIVER_INVALID_VALUE;
  give_put_off();
  driver_result result = context_synchronise(own->context);
  if (result == DRIVER_SUCCESS) result = deallocate(own, given->key, own->stream);
  work_end();
  return result;
}

driver_result pool_give_in_order(int pool, const struct given* given, stream_handle stream) {
  struct device_pool* const own = &pools[pool];
  if (given->was == GIVEN_FREED) return DRIVER_INVALID_VALUE; /* as above */
  bool is_captured = false;
  driver_result result = stream_is_captured(stream, &is_captured);
  if (result != DRIVER_SUCCESS) return result;
  if (is_captured) {
    count_held();
    return DRIVER_SUCCESS;
  }
  if (context_of_stream(stream) == own->context) return deallocate(own, given->key, stream);
  /* The pool takes blocks back in the order of its own device alone. */
  result = stream_synchronise(stream);
  return result == DRIVER_SUCCESS ? pool_give(pool, given) : result;
}

bool pool_spare(void) {
  if (!is_used() || !work_begin()) return false;
  uint64_t sum = 0;
  const int count = atomic_load_explicit(&pool_count, memory_order_acquire);
  if (count != 0) give_put_off();
  for (int at = 0; at < count; ++at) {
    uint64_t given_back = 0;
    if (pools[at].pool != NULL && !atomic_load_explicit(&pools[at].is_lost, memory_order_relaxed)) {
      trim(&pools[at], &given_back);
    }
    sum += given_back;
  }
  work_end();
  return sum != 0;
}

uint64_t pool_free_bytes(void) {
  /* Without a pool the driver's functions for contexts may not have been looked up yet. */
  if (!is_used() || atomic_load_explicit(&pool_count, memory_order_acquire) == 0) return 0;
  /* While a graph is captured no block comes from a pool, and the driver gets nothing of it. */
  if (!work_begin()) return 0;
  const struct device_pool* const pool = known(context_current());
  wh_pool_statistics figures = {0};
  const bool is_told = pool != NULL && figures_of(pool, &figures);
  work_end();
  if (!is_told) return 0;
  /* Other threads may take blocks between the two figures. */
  return figures.committed_bytes > figures.live_bytes ? figures.committed_bytes - figures.live_bytes : 0;
}

void pool_forget(stream_handle stream) {
  if (!is_used() || atomic_load_explicit(&pool_count, memory_order_acquire) == 0) return;
  struct device_pool* const pool = known(context_of_stream(stream));
  if (pool == NULL || pool->pool == NULL || atomic_load_explicit(&pool->is_lost, memory_order_relaxed)) return;
  pool_enter();
  library->forget(pool->pool, stream);
  pool_leave();
}

static bool is_in(uint64_t key, const void* pool) {
  return (key & KEY_OF_HANDLE) == 0 && library->owns(pool, (const void*)(uintptr_t)key) != 0;
}

void pool_lose(enum call_number reset, int device) {
  if (!is_used()) return;
  const int count = atomic_load_explicit(&pool_count, memory_order_acquire);
  for (int at = 0; at < count; ++at) {
    struct device_pool* const lost = &pools[at];
    if (lost->number != device || lost->pool == NULL) continue;
    if (!atomic_exchange_explicit(&lost->is_lost, true, memory_order_acq_rel)) {
      note_gone(reset, is_in, lost->pool, true);
    }
  }
}

void pool_leave_streams_alone(void) { atomic_store_explicit(&leaves_streams_alone, true, memory_order_relaxed); }

bool pool_find_block(device_address address, struct block* found) {
  struct state* const state = state_lock();
  if (state == NULL) return false;
  const struct block* const block = blocks_around(&state->blocks, address);
  if (block != NULL) *found = *block;
  state_unlock(state);
  return block != NULL;
}

/* --- Report ------------------------------------------------------------------------------------------------------- */

void pool_report(struct out* out, const struct state* state) {
  const struct pooled_figures* const of = &state->pooled;
  uint64_t reserved = 0;
  const bool is_parents = atomic_load_explicit(&readiness, memory_order_acquire) == READY && !state->has_pools;
  const int count = is_parents ? 0 : atomic_load_explicit(&pool_count, memory_order_acquire);
  for (int at = 0; at < count; ++at) reserved += atomic_load_explicit(&pools[at].reserved, memory_order_relaxed);
  out_add(out, "  pooled: %" PRIu64 " blocks, %" PRIu64 " bytes; forwarded: %" PRIu64 " blocks, %" PRIu64 " bytes\n",
          of->blocks, of->bytes, of->forwarded_blocks, of->forwarded_bytes);
  out_add(out, "  most bytes reserved: %" PRIu64 "; most bytes live: %" PRIu64 "\n", reserved, of->peak);
  if (of->held != 0) {
    out_add(out, "  blocks that a captured graph would free, and that were kept: %" PRIu64 "\n", of->held);
  }
  if (is_parents) {
    out_add(out, "  not pooled: CUDA does not serve a child that was forked after its parent began with it\n");
  } else if (reason[0] != '\0') {
    out_add(out, "  not pooled: %s\n", reason);
  }
}
