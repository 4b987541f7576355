// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>

namespace warpheap {

/// Tells a search that found nothing whether it can have missed something: changes that hide what others may need for a
/// moment are counted when they begin and when they end. Zero bytes are a counter without changes.
///
/// A thread calls `begin`, hides, shows again, and calls `end`. A search calls `quiescence` before it and `stood_still`
/// after it. If that is true, there was a moment before the search without a change under way, and none began until the
/// search was over: so all that the search did not find was not there at that moment.
///
/// Invariant: `ended_` is never ahead of `begun_`, modulo the width of `Count`. Both are compared for equality alone,
/// so a wrap changes no answer unless exactly 2^32 changes begin while one search lasts, each an RMW on this word:
/// seconds at one a nanosecond, and a search takes far less.
///
/// Memory order: `begin` is relaxed; the caller's next release, as an RMW or a fence, hands the count on with each
/// change, so that a search which sees what was hidden sees that the change had begun. `end` releases what was shown
/// again. `quiescence` reads the count of ended changes first and acquires: where both counts are equal the search sees
/// all that those changes showed.
template <class Count>
class change_counter {
  static_assert(Count{0} < static_cast<Count>(-1), "change_counter: counts wrap around, so they are unsigned");

 public:
  /// What a search remembers.
  struct snapshot {
    bool quiet;   ///< no change was under way
    Count begun;  ///< changes that had begun
  };

  /// Before a change. One lane, which calls `end` in the same call of its design. The caller releases it: see above.
  WARPHEAP_FN void begin() { atomic_view{begun_}.fetch_add(1, memory_order::relaxed, thread_scope::device); }
  /// After the change: what was hidden is to be found again. Releases.
  WARPHEAP_FN void end() { atomic_view{ended_}.fetch_add(1, memory_order::release, thread_scope::device); }

  /// Before a search. Acquires.
  WARPHEAP_FN snapshot quiescence() const {
    const Count ended = load(ended_);
    const Count begun = load(begun_);
    return {begun == ended, begun};
  }
  /// After a search that read with acquire, or that passed an acquire fence since: true if no change that began before
  /// or during the search can have hidden something from it.
  WARPHEAP_FN bool stood_still(snapshot before) const { return before.quiet && load(begun_) == before.begun; }

  /// Sets both counts, for tests of the wrap. No other thread uses the counter.
  WARPHEAP_FN void reset_to(Count count) { begun_ = ended_ = count; }

 private:
  WARPHEAP_FN static Count load(const Count& count) {
    return atomic_view{const_cast<Count&>(count)}.load(memory_order::acquire, thread_scope::device);
  }

  Count begun_;
  Count ended_;
};

}  // namespace warpheap
