/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#include "state.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "out.h"
#include "pool_library.h"
#include "settings.h"

enum { MILLISECONDS_FOR_LAST_REPORT = 200 };

static const char* const names[] = {"off", "count", "check", "trace", "pool"};

static enum mode read_mode(void) {
  const char* const given = setting(SETTING_MODE);
  if (*given == '\0') return MODE_COUNT;
  for (int mode = MODE_OFF; mode <= MODE_POOL; ++mode) {
    if (strcmp(given, names[mode]) == 0) return mode;
  }
  out_line("warpheap run: WARPHEAP_RUN_MODE is '%.40s'; use count, check, trace or pool. Nothing is noted.\n", given);
  return MODE_OFF;
}

enum mode run_mode(void) {
  static _Atomic int known = -1;
  int mode = atomic_load_explicit(&known, memory_order_relaxed);
  if (mode < 0) {
    mode = read_mode();
    atomic_store_explicit(&known, mode, memory_order_relaxed);
  }
  return mode;
}

const char* run_mode_name(void) { return names[run_mode()]; }

static _Atomic(struct state*) the_state;

/* The kernel does not wipe memory in a forked child, so the state is looked at with the number of its process. */
static _Atomic bool is_kept_on_fork;

static void wipe_on_fork(struct state* made) {
  if (madvise(made, sizeof *made, MADV_WIPEONFORK) == 0) return;
  made->maker = getpid();
  atomic_store_explicit(&is_kept_on_fork, true, memory_order_relaxed);
}

/* Threads that make the state at once agree on one. */
static struct state* make_state(struct state* first) {
  if (run_mode() == MODE_OFF) return NULL;
  struct state* made = mmap(NULL, sizeof *made, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED) return NULL;
  wipe_on_fork(made);
  if (atomic_compare_exchange_strong_explicit(&the_state, &first, made, memory_order_acq_rel, memory_order_acquire)) {
    return made;
  }
  munmap(made, sizeof *made);
  return first;
}

static struct state* get_state(void) {
  struct state* const state = atomic_load_explicit(&the_state, memory_order_acquire);
  const bool is_parents =
      state != NULL && atomic_load_explicit(&is_kept_on_fork, memory_order_relaxed) && state->maker != getpid();
  return state != NULL && !is_parents ? state : make_state(state);
}

lock_word* state_pool_lock(void) {
  struct state* const state = get_state();
  return state != NULL ? &state->pool_lock : NULL;
}

void state_set_has_pools(void) {
  struct state* const state = get_state();
  if (state != NULL) atomic_store_explicit(&state->has_pools, true, memory_order_release);
}

bool state_has_pools(void) {
  struct state* const state = get_state();
  return state != NULL && atomic_load_explicit(&state->has_pools, memory_order_acquire);
}

struct state* state_lock(void) {
  if (pool_is_entered()) return NULL;
  struct state* const state = get_state();
  if (state == NULL) return NULL;
  lock_take(&state->lock);
  if (state->process == 0) state->process = getpid();
  return state;
}

struct state* state_lock_at_end(bool* is_locked) {
  struct state* const state = atomic_load_explicit(&the_state, memory_order_acquire);
  /* A child of vfork has the memory of its parent, whose report this is not. */
  if (state == NULL || state->process != getpid()) return NULL;
  *is_locked = lock_take_within(&state->lock, MILLISECONDS_FOR_LAST_REPORT);
  if (!state->has_reported) {
    state->has_reported = true;
    return state;
  }
  if (*is_locked) lock_release(&state->lock);
  return NULL;
}

void state_unlock(struct state* state) { lock_release(&state->lock); }
