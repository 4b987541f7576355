// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>
#include <warpheap/sync.hpp>

namespace warpheap::detail {

/// Counts that only rise, of some multiprocessors: changes, and frees whose blocks can be found.
struct alignas(128) scatter_tally : change_counter<std::uint64_t> {
  std::uint64_t freed;
};

/// What a search saw before it began, and what it met.
struct scatter_snapshot {
  std::uint64_t freed;
  scatter_tally::snapshot changes;
  bool unsettled;  // the search met memory that is about to move
};

/// Tells whether a search that found nothing proves that memory is exhausted.
///
/// A *change* holds memory that other threads may need, and ends when the memory is where they find it: a page that is
/// opened or closed, or whose entry in its region is taken out or put back. A `striped_change_counter` counts changes
/// begun and changes ended; each of its stripes counts frees done as well.
///
/// Invariant: a change is counted as begun before it hides memory, and as ended after the memory can be found. A free
/// is counted after its block can be found. So if no change was under way when a search began, and none began and no
/// free was counted until it ended, all that was free at its end was free in one place during the whole search.
///
/// A refusal is noted with the count of frees, so others are refused without a search until something is freed.
///
/// Orders. The counts are read relaxed, eight stripes side by side, and a fence acquires what all of them released. So
/// a search sees what the ended changes and the counted frees left. It sees a store of a change only together with the
/// count of that change, which a fence released before the store.
class scatter_quiescence {
 public:
  static constexpr std::uint32_t tallies = 8;
  static constexpr std::uint32_t notes = 256;  // a request has one by its number
  static constexpr int what_bits = 13;
  static constexpr std::uint32_t unnoted =
      (1u << what_bits) - 1;  // the number of requests whose refusals are not noted
  struct state {
    striped_change_counter<scatter_tally, tallies> changes;
    alignas(128) std::uint64_t refused[notes];
  };

  WARPHEAP_FN explicit scatter_quiescence(state& of) : state_(&of) {}

  WARPHEAP_FN void begin_change() const {
    // The fence orders the count before all stores of the change: a thread that sees such a store sees the count.
    state_->changes.begin();
    fence(memory_order::release, thread_scope::device);
  }
  WARPHEAP_FN void end_change() const {
    // Release: a search that reads this count finds the memory.
    state_->changes.end();
  }
  WARPHEAP_FN void note_free() const {
    // Release: a search that reads this count finds the freed blocks.
    atomic_view{state_->changes.mine().freed}.fetch_add(1, memory_order::release, thread_scope::device);
  }

  /// Sum of the frees counted so far. Acquires their blocks.
  WARPHEAP_COLD_FN std::uint64_t freed() const {
    const std::uint64_t sum = state_->changes.sum(&scatter_tally::freed, before_acquire_fence);
    fence(memory_order::acquire, thread_scope::device);
    return sum;
  }

  /// Snapshot of the counts before a search. Acquires what ended changes and frees left.
  WARPHEAP_COLD_FN scatter_snapshot begin_search() const {
    const scatter_tally::snapshot changes = state_->changes.quiescence();
    // The fence of `freed` orders the search after these counts, too.
    return {freed(), changes, false};
  }

  /// True if the search that `before` began is proof: nothing moved and nothing was freed meanwhile.
  WARPHEAP_FN bool was_quiescent(const scatter_snapshot& before) const {
    // The fence orders what the search read before these second readings, which may then be relaxed.
    fence(memory_order::acquire, thread_scope::device);
    return !before.unsettled && state_->changes.was_quiescent(before.changes) && freed() == before.freed;
  }

  /// True if a search for `what` proved exhaustion and nothing was freed since.
  WARPHEAP_FN bool is_refused(std::uint32_t what, std::uint64_t freed_now) const {
    // Relaxed: the note is a value of the count, compared with one that the caller has acquired.
    return atomic_view{state_->refused[what % notes]}.load(memory_order::relaxed, thread_scope::device) ==
           note_of(what, freed_now);
  }
  WARPHEAP_FN void note_refusal(std::uint32_t what, const scatter_snapshot& seen) const {
    if (what == unnoted) return;
    // Relaxed: see is_refused.
    atomic_view{state_->refused[what % notes]}.store(note_of(what, seen.freed), memory_order::relaxed,
                                                     thread_scope::device);
  }

  /// Searches that may yet be repeated although they found nothing.
  struct retry_limits {
    std::uint32_t frees = 4;     // because other threads freed blocks, which others took
    std::uint32_t changes = 64;  // because memory moved
  };
  /// True if a search for `what` that found nothing is to be repeated. Notes a refusal if the search was proof. A
  /// search that met memory which others had first, or were about to move, is repeated without a limit: those threads
  /// went on, and wait for no search.
  WARPHEAP_COLD_FN bool shall_retry(std::uint32_t what, const scatter_snapshot& before, retry_limits& left) const {
    if (was_quiescent(before)) {
      note_refusal(what, before);
      return false;
    }
    const scatter_snapshot now = begin_search();
    if (is_refused(what, now.freed)) return false;
    if (before.unsettled || (now.freed == before.freed && now.changes.begun == before.changes.begun)) return true;
    std::uint32_t& more = now.freed == before.freed ? left.changes : left.frees;
    if (more == 0) return false;
    --more;
    return true;
  }

 private:
  WARPHEAP_FN static std::uint64_t note_of(std::uint32_t what, std::uint64_t freed) {
    return (freed + 1) << what_bits | what;
  }

  state* state_;
};

}  // namespace warpheap::detail
