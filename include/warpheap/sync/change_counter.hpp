// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>

namespace warpheap {

/// Tells a search that found nothing whether it can have missed something: changes that hide what others may need for a
/// moment are counted when they begin and when they end. Zero bytes are a counter without changes.
///
/// A thread calls `begin`, hides, shows again, and calls `end`. A search calls `quiescence` before it and
/// `was_quiescent` after it. If that is true, there was a moment before the search without a change under way, and none
/// began until the search was over: so all that the search did not find was not there at that moment.
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
    bool quiescent;  ///< no change was under way
    Count begun;     ///< changes that had begun
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
  WARPHEAP_FN bool was_quiescent(snapshot before) const { return before.quiescent && load(begun_) == before.begun; }

  /// Sets both counts, for tests of the wrap. No other thread uses the counter.
  WARPHEAP_FN void reset_to(Count count) { begun_ = ended_ = count; }

 private:
  template <class, std::uint32_t>
  friend class striped_change_counter;

  WARPHEAP_FN static Count load(const Count& count) {
    return atomic_view{const_cast<Count&>(count)}.load(memory_order::acquire, thread_scope::device);
  }

  Count begun_;
  Count ended_;
};

/// A change counter that many threads use at once: `size` stripes, each the counter of some multiprocessors. `Stripe`
/// derives from a `change_counter`; what else it has are counts of its owner that are as hot. Zero bytes are a counter
/// without changes.
///
/// Invariant: the changes that ended, in all stripes together, are never ahead of those that began, modulo the width of
/// the count. In one stripe they may be: another thread may end a change, on another multiprocessor. The words only
/// rise, so two equal sums of one word of each stripe mean that no such word changed between the two readings. The
/// ended changes are summed up before the begun ones, so equal sums mean a moment without a change.
///
/// Memory order: as of `change_counter`, but all reads are relaxed, since each acquire would wait for memory by itself.
/// The caller passes an acquire fence between `quiescence` and its search, and one between the search and
/// `was_quiescent`.
template <class Stripe, std::uint32_t size>
class striped_change_counter {
 public:
  /// What a search remembers.
  using snapshot = typename Stripe::snapshot;

  /// The stripe of the caller's multiprocessor.
  WARPHEAP_FN Stripe& mine() { return stripes_[multiprocessor_index() % size]; }
  /// Before a change, as of `change_counter`; another thread may end it.
  WARPHEAP_FN void begin() { mine().begin(); }
  /// After the change. Releases.
  WARPHEAP_FN void end() { mine().end(); }

  /// Before a search; an acquire fence follows.
  WARPHEAP_FN snapshot quiescence() {
    const auto ended = sum(&Stripe::ended_);
    fence(memory_order::acquire, thread_scope::device);
    const auto begun = changes_begun();
    return {begun == ended, begun};
  }
  /// After a search and an acquire fence: true if no change that began before or during the search can have hidden
  /// something from it.
  WARPHEAP_FN bool was_quiescent(snapshot before) { return before.quiescent && changes_begun() == before.begun; }

  /// The changes that have begun, modulo the width of the count; those of which the caller knows are counted.
  WARPHEAP_FN auto changes_begun() { return sum(&Stripe::begun_); }
  /// The sum of a word of each stripe, of its own or of its base. Relaxed, or as `order` says.
  template <class Word, class Owner>
  WARPHEAP_FN Word sum(Word Owner::*word, memory_order order = memory_order::relaxed) {
    Word all = 0;
    for (Stripe& each : stripes_) all += atomic_view{each.*word}.load(order, thread_scope::device);
    return all;
  }

  /// The stripes, for tests of the wrap. No other thread uses the counter.
  WARPHEAP_FN Stripe (&stripes())[size] { return stripes_; }

 private:
  Stripe stripes_[size];
};

}  // namespace warpheap
