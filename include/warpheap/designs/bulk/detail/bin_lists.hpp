// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/bulk/detail/bins.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/sync.hpp>

namespace warpheap::detail {

/// Units of a bin list that the caller counted off its semaphore, and not yet off a bin.
struct bulk_list_units {
  std::uint32_t arena;
  std::uint32_t units;
};

/// The bin lists: for each arena and class the bins, and the semaphore that counts their free
/// units. The list of class `pages_class` has chunks as its bins and their pages as its units.
///
/// Invariant of the units: free units of all bins that are listed, or about to be, >= units of the
/// semaphore + units counted off the semaphore and not yet off a bin. A unit is counted off the
/// semaphore first, then off a bin, then claimed as a bit; it comes back in the reverse order. So a
/// lane that has a unit of one stage finds one at the next, perhaps after a lane between two stages
/// has gone on; that lane waits for no other.
///
/// Invariant of the listed bit: a bin with free units is listed, or a thread is about to list it. A
/// thread that leaves units in a bin without the bit sets it; exactly one thread is first, and
/// lists the bin. A thread that takes an exhausted bin off the list clears the bit, and sees in the
/// same step whether units came meanwhile.
///
/// A list is several stacks; the number of a page tells its stack. An exhausted top is taken off
/// when a lane finds it. The word of a top counts changes, so a swap fails if the top was taken off
/// and put back meanwhile. The count has 32 bits: it would have to wrap between a load and the next
/// operation of one lane.
///
/// Lifetime: a lane that reaches a header by way of a list is a reader of the arena (SRCU) until it
/// has left the header. A lane that has a unit, a bit or a pin of a bin needs no read section: the
/// bin cannot be withdrawn.
///
/// Orders: all changes of a top are read-modify-writes. So a lane that acquires a top has what was
/// done before each of the headers on the stack was listed.
template <class Layout>
class bulk_bin_lists {
 public:
  WARPHEAP_FN explicit bulk_bin_lists(const arena& from) : bins_(from) {}
  WARPHEAP_FN const bulk_bins<Layout>& bins() const { return bins_; }
  WARPHEAP_FN const bulk_pages<Layout>& pages() const { return bins_.pages(); }

  WARPHEAP_FN typename Layout::bin_list& list_at(std::uint32_t arena, std::uint32_t c) const {
    return pages().control().arenas[arena].lists[c];
  }
  WARPHEAP_FN srcu& readers_of(std::uint32_t arena) const { return pages().control().arenas[arena].readers; }
  /// The arena of the caller's multiprocessor.
  WARPHEAP_FN std::uint32_t local_arena() const { return multiprocessor_index() & pages().arena_mask(); }

  /// Lists a bin whose listed bit the caller set. The caller is a reader of the arena, or has a pin
  /// or all units of the bin.
  WARPHEAP_FN void push(std::uint32_t arena, std::uint32_t c, std::uint32_t page) const {
    using enum memory_order;
    using enum thread_scope;
    const atomic_view top{list_at(arena, c).top[Layout::stack_of(page)]};
    const atomic_view next{pages().header_at(page).next};
    std::uint64_t seen = top.load(relaxed, device);
    do {  // not a spin: each turn means that another thread's change came in between
      next.store(static_cast<std::uint32_t>(seen), relaxed, device);
      // Release: a lane that acquires the top sees the header as it was written before.
    } while (!top.compare_exchange(seen, ((seen >> 32) + 1) << 32 | (page + 1), release, device));
  }

  /// Lists a bin that has `added` units more than in its state `before`, unless it has none or is
  /// listed.
  WARPHEAP_FN void list_if_unlisted(std::uint32_t arena, std::uint32_t c, std::uint32_t page, std::uint64_t before,
                                    std::uint32_t added) const {
    const bin_state old{before};
    if (old.listed() || old.units() + static_cast<std::int32_t>(added) <= 0) return;
    // Acquire and release: passes on to the list what the threads did that added units.
    const bin_state previous{atomic_view{pages().header_at(page).state}.fetch_or(
        bin_state::listed_bit, memory_order::acq_rel, thread_scope::device)};
    if (!previous.listed()) push(arena, c, page);
  }

  /// Adds free units and pins to a bin. The caller is a reader of the arena, or `pins` has a pin;
  /// it has a unit of the bin.
  WARPHEAP_FN void return_units(std::uint32_t arena, std::uint32_t c, std::uint32_t page, std::uint32_t count,
                                std::uint64_t pins) const {
    // Release: the thread that withdraws the bin has what the thread did that returned units.
    // Acquire: as in list_if_unlisted.
    const bin_state before{atomic_view{pages().header_at(page).state}.fetch_add(
        bin_state::units_of(count) + pins, memory_order::acq_rel, thread_scope::device)};
    stop_point("bulk.return_units.added");
    list_if_unlisted(arena, c, page, before.bits, count);
    if (before.units() + static_cast<std::int32_t>(count) == static_cast<std::int32_t>(Layout::units(c))) {
      count_fully_free(arena, c, 1);
    }
  }

  /// Counts up to `most` units off the bin of `taken`, and stores how many, and where their search
  /// begins. Takers of a bin that was fully free begin where the one before ends. The caller is a
  /// reader of the arena.
  WARPHEAP_FN void count_off_bin(std::uint32_t arena, std::uint32_t c, std::uint32_t most,
                                 bulk_bin_units& taken) const {
    using enum memory_order;
    using enum thread_scope;
    const std::uint32_t page = taken.page;
    const atomic_view state{pages().header_at(page).state};
    // Acquire: the bit of each unit was set before the unit was added.
    const bin_state old{state.fetch_sub(bin_state::units_of(most), acquire, device)};
    const std::int32_t there = old.units() < 0 ? 0 : old.units();
    const std::uint32_t got = static_cast<std::uint32_t>(there) < most ? static_cast<std::uint32_t>(there) : most;
    if (static_cast<std::uint32_t>(there) == Layout::units(c)) count_fully_free(arena, c, ~0u);
    if (got != most) return_units(arena, c, page, most - got, 0);
    taken.units = got;
    taken.start = Layout::units(c) - static_cast<std::uint32_t>(there);
  }

  /// Reads the top of a stack, of stack `first` if it has one: counts up to `most` units off it, or
  /// takes it off the stack if it has none. False if no stack had a top. The caller is a reader of
  /// the arena.
  WARPHEAP_FN bool count_off_top(std::uint32_t arena, std::uint32_t c, std::uint32_t first, std::uint32_t most,
                                 bulk_bin_units& got) const {
    using enum memory_order;
    using enum thread_scope;
    std::uint64_t* const tops = list_at(arena, c).top;
    std::uint32_t stack = first % Layout::stacks;
    // Acquire: the header was written before it was listed.
    std::uint64_t seen = atomic_view{tops[stack]}.load(acquire, device);
    if (static_cast<std::uint32_t>(seen) == 0) {
      std::uint32_t there = 0;
      for (std::uint32_t i = 0; i < Layout::stacks; ++i) {
        // Relaxed: tells only which top to acquire.
        if (static_cast<std::uint32_t>(atomic_view{tops[i]}.load(relaxed, device)) != 0) there |= 1u << i;
      }
      if (there != 0) {
        stack = static_cast<std::uint32_t>(lowest_bit(there >> stack != 0 ? there >> stack << stack : there));
        seen = atomic_view{tops[stack]}.load(acquire, device);
      }
    }
    const bool there = static_cast<std::uint32_t>(seen) != 0;
    got.units = 0;
    if (there) {
      got.page = static_cast<std::uint32_t>(seen) - 1;
      auto& head = pages().header_at(got.page);
      const atomic_view state{head.state};
      // Relaxed: the acquired top orders it, and the swap below fails if it is old.
      const std::uint32_t next = atomic_view{head.next}.load(relaxed, device);
      // Read before the subtraction, so that lanes that find nothing do not push the count further
      // below 0.
      const bool has_units = bin_state{state.load(relaxed, device)}.units() > 0;
      stop_point("bulk.count_off_top.seen");
      if (has_units) {
        count_off_bin(arena, c, most, got);
        // Acquire and release: keeps the chain of read-modify-writes of the top, and orders the
        // listed bit after it.
      } else if (atomic_view{tops[stack]}.compare_exchange(seen, ((seen >> 32) + 1) << 32 | next, acq_rel, device)) {
        list_if_unlisted(arena, c, got.page,
                         state.fetch_and(~bin_state::listed_bit, acq_rel, device) & ~bin_state::listed_bit, 0);
      }
    }
    return there;
  }

  /// Counts units off a bin for units counted off the semaphore: at least one, at most `most`. One
  /// lane. Waits for a thread that is about to list a bin, which by the invariant there is.
  WARPHEAP_COLD_FN bulk_bin_units count_off_some_bin(std::uint32_t arena, std::uint32_t c, std::uint32_t most) const {
    bulk_bin_units got{0, 0, 0};
    std::uint32_t stack = grid_warp_index();
    for (backoff wait;; ++stack) {
      const srcu::ticket in = readers_of(arena).enter();
      const bool there = count_off_top(arena, c, stack, most, got);
      readers_of(arena).leave(in);
      if (got.units != 0) return got;
      if (!there) wait.pause();
    }
  }

  /// Counts bins that are fully free: one more, or one less with ~0.
  WARPHEAP_FN void count_fully_free(std::uint32_t arena, std::uint32_t c, std::uint32_t change) const {
    // Relaxed: hints that tell reclamation where to search.
    atomic_view{list_at(arena, c).fully_free}.fetch_add(change, memory_order::relaxed, thread_scope::device);
    atomic_view{pages().control().arenas[arena].fully_free}.fetch_add(change, memory_order::relaxed,
                                                                      thread_scope::device);
  }

  /// Frees units of one word: bits, then the bin's count, then the semaphore. One lane, after the
  /// accesses of its group to the blocks.
  WARPHEAP_FN void free_units(std::uint32_t page, std::uint32_t c, std::uint32_t word, std::uint64_t bits) const {
    auto& head = pages().header_at(page);
    const std::uint32_t arena = head.arena;
    const auto count = static_cast<std::uint32_t>(popcount(bits));
    bins().set_bits(page, word, bits);
    // The pin keeps the bin from being withdrawn until the header is no longer needed here, even if
    // all units are free.
    return_units(arena, c, page, count, bin_state::one_pin);
    require(list_at(arena, c).count.signal(count), "bulk: more blocks than can be counted");
    // Release: the thread that withdraws the bin does so after these accesses to its header.
    atomic_view{head.state}.fetch_sub(bin_state::one_pin, memory_order::release, thread_scope::device);
  }

 private:
  bulk_bins<Layout> bins_;
};

}  // namespace warpheap::detail
