// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/bulk/detail/layout.hpp>
#include <warpheap/platform/device.hpp>

namespace warpheap::detail {

/// What a search read before it began, and what it found on its way.
struct bulk_snapshot {
  std::uint64_t freed;
  // Includes the search's own changes, but for those of a reclamation, after which it proves
  // nothing.
  change_counter<std::uint64_t>::snapshot changes;
  std::uint64_t progress;  // rises while other threads move memory
  bool unsettled;          // the search found memory that is about to move
  bool uncertain;          // TBuddy does not know whether it has a block
};

/// Tells whether a search that found nothing proves that memory is exhausted.
///
/// A *change* holds memory that other threads may need, and ends when the memory is where they find
/// it: a chunk on its way to a bin list, or a bin on its way back to its chunk. Three counts rise:
/// changes begun, changes ended, frees done.
///
/// Invariant: a change is counted as begun before it takes memory away, and as ended after the
/// memory can be found. A free is counted after its blocks can be found.
///
/// Hence a search is proof if no change was under way at its begin, no change began and no free was
/// counted until its end. All memory that was free at the end was free, and in the same place,
/// during the whole search.
///
/// Each count is spread over several words, as those of a `striped_change_counter`.
///
/// The count `progress` is of changes that moved memory. A waiting search reads it to see whether
/// other threads advance. It proves nothing and orders nothing.
template <class Layout>
class bulk_quiescence {
 public:
  WARPHEAP_FN explicit bulk_quiescence(typename Layout::control& control) : control_(&control) {}

  WARPHEAP_FN void begin_change() const {
    // The fence orders the count before all stores of the change: a thread that sees such a store
    // sees the count.
    control_->changes.begin();
    fence(memory_order::release, thread_scope::device);
  }

  /// Ends a change; `moved` tells whether it made or returned memory.
  WARPHEAP_FN void end_change(bool moved) const {
    // Relaxed: `progress` orders nothing.
    if (moved) atomic_view{control_->changes.mine().progress}.fetch_add(1, memory_order::relaxed, thread_scope::device);
    // Release: a search that reads this count finds the memory.
    control_->changes.end();
  }

  WARPHEAP_FN void note_free() const {
    // Release: a search that reads this count finds the freed blocks.
    atomic_view{control_->changes.mine().freed}.fetch_add(1, memory_order::release, thread_scope::device);
  }

  /// Sum of the frees counted so far. Acquires their blocks.
  WARPHEAP_FN std::uint64_t freed() const { return control_->changes.sum(&tally::freed, memory_order::acquire); }

  /// Snapshot of the counts before a search.
  WARPHEAP_FN bulk_snapshot begin_search() const {
    const auto changes = control_->changes.quiescence();
    // Where TBuddy notes no refusals, all searches begin changes in vain and disturb one another;
    // that must count.
    std::uint64_t progress = changes.begun;
    if constexpr (Layout::buddy_type::notes_refusals) progress = control_->changes.sum(&tally::progress);
    // Acquire: the search reads after the counts.
    fence(memory_order::acquire, thread_scope::device);
    return {freed(), changes, progress, false, false};
  }

  /// True if the search that `before` began is proof: nothing moved and nothing was freed
  /// meanwhile.
  WARPHEAP_FN bool was_quiescent(const bulk_snapshot& before) const {
    // The fence orders what the search read before these second readings, which may then be
    // relaxed.
    fence(memory_order::acquire, thread_scope::device);
    return !before.unsettled && !before.uncertain && control_->changes.was_quiescent(before.changes) &&
           freed() == before.freed;
  }

  /// True if a search for `what`, a class or `classes` + an order, proved exhaustion and nothing
  /// was freed since.
  WARPHEAP_FN bool is_refused(std::uint32_t what, std::uint64_t freed_now) const {
    // Relaxed: the note is a value of the count, compared with one that the caller has acquired.
    return atomic_view{control_->refused[what]}.load(memory_order::relaxed, thread_scope::device) == freed_now + 1;
  }

  WARPHEAP_FN void note_refusal(std::uint32_t what, const bulk_snapshot& seen) const {
    // Relaxed: see is_refused.
    atomic_view{control_->refused[what]}.store(seen.freed + 1, memory_order::relaxed, thread_scope::device);
  }

 private:
  using tally = typename Layout::tally;

  typename Layout::control* control_;
};

}  // namespace warpheap::detail
