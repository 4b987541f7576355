// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>

namespace warpheap {

/// A lock for rare and short work: one word in device memory, zero when free.
///
/// A lane takes it for itself, or a group of lanes together. A wait ends as soon as the holder runs on, so a holder
/// must not wait for a lane that may be waiting here, nor for a thread that has not started.
///
/// Invariant: the word is 1 while one lane or group is between the exchange that found 0 and its store of 0.
///
/// Memory order: what a holder wrote is visible to the next one; the exchange acquires, the store releases.
class spin_lock {
 public:
  /// Waits until the lock is free, and runs `body()` with it; returns when each lane that called together has done so.
  ///
  /// A lane stays until the others are done, so what a lane does after the call must not be what a `body` waits for. In
  /// return a wait needs no more of the compiler than that a warp executes: a holder runs `body` and unlocks within the
  /// loop in which lanes of its warp wait, and none leaves that loop before all do.
  template <class Body>
  WARPHEAP_FN void hold(Body body) {
    hold_unless(never{}, body);
  }
  /// As `hold`, for a lane that may find meanwhile that it need not have the lock: it waits until the lock is free, and
  /// runs `body()` with it, or until `is_served()` is true. A lane asks `is_served` after each try that failed.
  template <class IsServed, class Body>
  WARPHEAP_FN void hold_unless(IsServed is_served, Body body) {
    const lane_mask together = active_group();
    bool done = false;
    for (backoff wait;; wait.pause()) {
      if (!done && try_acquire()) {
        wait.end();
        body();
        release();
        done = true;
      }
      if (!done) done = is_served();
      if (all(together, done)) return;
    }
  }
  /// Waits until the lock is free, and runs `body()` in all lanes of `group` with it. Collective. A group leaves as
  /// soon as its own `body` is done; but a compiler may let it wait then for the groups of its warp that came with it.
  /// So a later holder may wait for what a group does next only if the groups of a warp come one at a time.
  ///
  /// Of the groups of one warp that came together one at a time tries, and the others stand still in a vote until it
  /// has failed or is done. So the holder needs no more of the hardware than that a warp executes.
  template <class Body>
  WARPHEAP_FN void hold(lane_mask group, Body body) {
    lane_mask waiting = waiting_together(group);
    for (backoff wait;; wait.pause()) {
      bool entered = false;
      if ((group & lane_mask{1} << lowest_bit(waiting)) != 0) {
        entered = any(group, is_leader(group) && try_acquire());
        if (entered) {
          wait.end();
          sync(group);  // what the leader acquired, all lanes did
          body();
          sync(group);  // the leader releases what all lanes did
          if (is_leader(group)) release();
        }
      }
      const lane_mask left = ballot(waiting, entered);
      if (entered) return;
      waiting &= ~left;
    }
  }
  /// Runs `body()` in all lanes of `group` with the lock, if the lock is free; true if it did. Waits for no thread
  /// outside the group. Collective.
  template <class Body>
  WARPHEAP_FN bool try_hold(lane_mask group, Body body) {
    const bool holds = is_leader(group) && try_acquire();
    if (!any(group, holds)) return false;
    sync(group);  // what the leader acquired, all lanes did
    body();
    sync(group);  // the leader releases what all lanes did
    if (holds) release();
    return true;
  }
  /// Takes the lock if it is free; true if it did. For holders whose work is no one function; others `hold` it.
  WARPHEAP_FN bool try_acquire() {
    using enum memory_order;
    using enum thread_scope;
    const atomic_view word{word_};
    // Read before it is changed, so that waiting lanes do not slow down the holder's release.
    return word.load(relaxed, device) == 0 && word.exchange(1, memory_order::acquire, device) == 0;
  }
  /// Gives back what `try_acquire` took.
  WARPHEAP_FN void release() { atomic_view{word_}.store(0, memory_order::release, thread_scope::device); }

 private:
  struct never {
    WARPHEAP_FN bool operator()() const { return false; }
  };

  // The lanes that wait together with `group`, the same for each of them: whole groups, or `group` alone if its lanes
  // did not come together. Collective.
  WARPHEAP_FN static lane_mask waiting_together(lane_mask group) {
    const lane_mask together = active_group();
    const bool whole = (group & ~together) == 0;
    const lane_mask others = ballot(together, whole);
    return whole ? others : group;
  }

  std::uint32_t word_;
};

}  // namespace warpheap
