// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/platform.hpp>

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
    const lane_mask together = active_group();
    bool done = false;
    for (backoff wait;; wait.pause()) {
      if (!done && try_acquire()) {
        wait.end();
        body();
        release();
        done = true;
      }
      if (all(together, done)) return;
    }
  }
  /// Waits until the lock is free, and runs `body()` in all lanes of `group` with it. Collective. A group leaves when
  /// its `body` is done.
  ///
  /// Groups of one warp that came together vote in each turn of the wait. So they stand still while one of them runs
  /// its `body`, and the holder needs no more of the hardware than that a warp executes.
  template <class Body>
  WARPHEAP_FN void hold(lane_mask group, Body body) {
    lane_mask waiting = active_group();  // part of the group may be in another one: all lanes vote equally often
    for (backoff wait;; wait.pause()) {
      const bool entered = any(group, is_leader(group) && try_acquire());
      if (entered) {
        wait.end();
        sync(group);  // what the leader acquired, all lanes did
        body();
        sync(group);  // the leader releases what all lanes did
        if (is_leader(group)) release();
      }
      waiting &= ~ballot(waiting, entered);
      if (entered) return;
    }
  }
  /// Takes the lock if it is free; true if it did.
  WARPHEAP_FN bool try_acquire() {
    using enum memory_order;
    using enum thread_scope;
    const atomic_view word{word_};
    // Read before it is changed, so that waiting lanes do not slow down the holder's release.
    return word.load(relaxed, device) == 0 && word.exchange(1, memory_order::acquire, device) == 0;
  }
  /// Gives it back.
  WARPHEAP_FN void release() { atomic_view{word_}.store(0, memory_order::release, thread_scope::device); }

 private:
  std::uint32_t word_;
};

}  // namespace warpheap
