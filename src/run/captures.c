/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#include "captures.h"

#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "notes.h"
#include "state.h"

uint64_t capture_key(stream_handle stream, bool is_per_thread) {
  const uint64_t handle = (uintptr_t)stream;
  const bool is_of_thread = handle == STREAM_OF_THREAD || (handle == 0 && is_per_thread);
  /* Handles of other streams are addresses, whose lowest bits are zero. */
  return is_of_thread ? (uint64_t)syscall(SYS_gettid) << 8 | STREAM_OF_THREAD : handle;
}

/* Work begins with the lock held and after a look at the count, so none begins once the count is raised here. */
void capture_announce(void) {
  struct state* const state = state_lock();
  if (state == NULL) return;
  ++state->captures.count;
  state_unlock(state);
  for (uint32_t now; (now = atomic_load_explicit(&state->captures.workers, memory_order_acquire)) != 0;) {
    syscall(SYS_futex, &state->captures.workers, FUTEX_WAIT_PRIVATE, now, NULL, NULL, 0);
  }
}

void capture_begun(enum call_number call, uint64_t key, driver_result result) {
  note_call(call, result);
  struct state* const state = state_lock();
  if (state == NULL) return;
  struct captures* const all = &state->captures;
  if (result != DRIVER_SUCCESS) {
    if (all->count != 0) --all->count;
  } else {
    int at = 0;
    while (at < MOST_CAPTURES && all->tracked[at].key != 0) ++at;
    if (at == MOST_CAPTURES || key == 0) {
      ++all->untracked;
    } else {
      all->tracked[at].key = key;
      all->tracked[at].serial = ++all->last_serial;
    }
  }
  state_unlock(state);
}

uint64_t capture_of(uint64_t key) {
  struct state* const state = state_lock();
  if (state == NULL) return 0;
  uint64_t serial = 0;
  for (int at = 0; at < MOST_CAPTURES && key != 0 && serial == 0; ++at) {
    if (state->captures.tracked[at].key == key) serial = state->captures.tracked[at].serial;
  }
  state_unlock(state);
  return serial;
}

static void drop(struct captures* all, uint64_t serial) {
  for (int at = 0; at < MOST_CAPTURES && serial != 0; ++at) {
    if (all->tracked[at].key == 0 || all->tracked[at].serial != serial) continue;
    all->tracked[at].key = 0;
    --all->count;
    return;
  }
}

void capture_ended(enum call_number call, uint64_t serial, driver_result result) {
  note_call(call, result);
  /* Any other refusal, such as in a thread that did not begin it, leaves the capture as it is. */
  if (result != DRIVER_SUCCESS && result != DRIVER_CAPTURE_INVALIDATED && result != DRIVER_CAPTURE_UNJOINED) return;
  struct state* const state = state_lock();
  if (state == NULL) return;
  if (serial != 0) {
    drop(&state->captures, serial);
  } else if (state->captures.untracked != 0) {
    --state->captures.untracked;
    --state->captures.count;
  }
  state_unlock(state);
}

void capture_stream_gone(enum call_number call, uint64_t serial, driver_result result) {
  note_call(call, result);
  if (result != DRIVER_SUCCESS || serial == 0) return;
  struct state* const state = state_lock();
  if (state == NULL) return;
  drop(&state->captures, serial);
  state_unlock(state);
}

bool is_quiet(void) {
  struct state* const state = state_lock();
  if (state == NULL) return false;
  const bool quiet = state->captures.count == 0;
  state_unlock(state);
  return quiet;
}

bool work_begin(void) {
  struct state* const state = state_lock();
  if (state == NULL) return false;
  const bool quiet = state->captures.count == 0;
  if (quiet) atomic_fetch_add_explicit(&state->captures.workers, 1, memory_order_relaxed);
  state_unlock(state);
  return quiet;
}

void work_end(void) {
  struct state* const state = state_lock();
  if (state == NULL) return;
  if (atomic_fetch_sub_explicit(&state->captures.workers, 1, memory_order_release) == 1 && state->captures.count != 0) {
    syscall(SYS_futex, &state->captures.workers, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
  }
  state_unlock(state);
}
