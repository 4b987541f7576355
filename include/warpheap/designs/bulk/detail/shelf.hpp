// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/bulk/bulk.hpp>

// Shelves: the bins of a class that an arena has, and the units in them. A chunk that has bins is on a shelf, too, and
// its pages are the units.
//
// Two stages, each ahead of the next. A thread counts units off the semaphore of the shelf; then off one bin of its list;
// then it clears bits of the bin's bitmap. A unit comes back in the reverse order. So, whoever stands where:
//
//   Invariant: set bits of a bin >= its free units + units that were counted off it and not yet claimed as bits.
//   Invariant: free units of all bins on the list, or about to be, >= units of the semaphore + units counted off it and
//              not yet off a bin.
//
// Hence who has a unit at one stage finds it at the next; it may have to wait for a thread that stands in between, and
// that thread waits for nobody.
//
// Invariant: a bin with free units is listed, or in the hands of a thread that is about to list it. Who leaves a bin with
// units and finds it not listed sets the mark; of all that do so one was first, and that one puts it on the list. Who takes
// it off the list takes the mark away, and looks at the units that it then has.
//
// A bin is on the list that its page tells. A list is a stack: its top is taken off when it has no units. The word of the
// top counts changes, so that a swap fails if it was taken off and put back meanwhile. The count is one of 2^32: a swap
// would have to wait, between a load and the next operation, while its list is changed so often, each time by an RMW on
// that word, with which no other lane of a machine that runs gets done within minutes.
//
// Who reads a header by way of a list is a reader of the arena, and the header stays one until it left. Who has a unit,
// a bit or a pin of it needs not be.
//
// Orders: a release of a bit releases what its owner did, a claim acquires it. All changes of `top` are read-modify-writes,
// so who acquires it has what was done before each header on the list was put there.

namespace warpheap {
namespace detail {

// A bit of `word` that has `rank` set bits below it.
WARPHEAP_FN inline std::uint32_t bulk_bit_of(std::uint64_t word, std::uint32_t rank) {
  const auto low = static_cast<std::uint32_t>(word);
  const auto in_low = static_cast<std::uint32_t>(popcount(low));
  if (rank < in_low) return static_cast<std::uint32_t>(nth_set_bit(low, static_cast<int>(rank)));
  return 32 + static_cast<std::uint32_t>(
                  nth_set_bit(static_cast<std::uint32_t>(word >> 32), static_cast<int>(rank - in_low)));
}

// Up to `wanted` of the bits of `half`, at least one if there is one. The lowest.
WARPHEAP_FN inline std::uint32_t bulk_lowest(std::uint32_t half, std::uint32_t wanted) {
  if (static_cast<std::uint32_t>(popcount(half)) <= wanted) return half;
  return half & low_bits(nth_set_bit(half, static_cast<int>(wanted)));
}

// Up to `wanted` of the bits of `word`, from bit `from` on and around.
WARPHEAP_FN inline std::uint64_t bulk_pick(std::uint64_t word, std::uint32_t wanted, std::uint32_t from) {
  const std::uint64_t turned = word >> from % 64 | word << (64 - from % 64) % 64;
  const std::uint32_t first = bulk_lowest(static_cast<std::uint32_t>(turned), wanted);
  const std::uint32_t second =
      bulk_lowest(static_cast<std::uint32_t>(turned >> 32), wanted - static_cast<std::uint32_t>(popcount(first)));
  const std::uint64_t picked = std::uint64_t{second} << 32 | first;
  return picked << from % 64 | picked >> (64 - from % 64) % 64;
}

// The warp of the caller, numbered through the grid.
WARPHEAP_FN inline std::uint32_t bulk_warp() {
  return static_cast<std::uint32_t>(block_index()) * ((block_threads() + warp_width - 1) / warp_width) +
         thread_index() / warp_width;
}

}  // namespace detail

// Puts a bin on the list whose mark the caller set. As a reader of the arena, or with a pin or all of the bin.
template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_FN void bulk_allocator<Buddy, ChunkPages>::push(std::uint32_t arena, std::uint32_t c,
                                                         std::uint32_t page) const {
  using enum memory_order;
  using enum thread_scope;
  const atomic_view top{shelf_of(arena, c).top[layout::list_of(page)]};
  const atomic_view next{header_at(page).next};
  std::uint64_t seen = top.load(relaxed, device);
  do {  // not a spin: each turn means that another thread's change came in between
    next.store(static_cast<std::uint32_t>(seen), relaxed, device);
  } while (!top.compare_exchange(seen, ((seen >> 32) + 1) << 32 | (page + 1), release, device));
}

// Lists a bin that was left with `added` units more than in `before`, if nobody else does.
template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_FN void bulk_allocator<Buddy, ChunkPages>::relist(std::uint32_t arena, std::uint32_t c, std::uint32_t page,
                                                           std::uint64_t before, std::uint32_t added) const {
  const detail::bin_state old{before};
  if (old.listed() || old.units() + static_cast<std::int32_t>(added) <= 0) return;
  const detail::bin_state marked{atomic_view{header_at(page).state}.fetch_or(
      detail::bin_state::listed_bit, memory_order::acq_rel, thread_scope::device)};
  if (!marked.listed()) push(arena, c, page);
}

// Adds free units to a bin, and pins. As a reader of the arena, or with a pin among those, for who has a unit of it.
template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_FN void bulk_allocator<Buddy, ChunkPages>::return_units(std::uint32_t arena, std::uint32_t c,
                                                                 std::uint32_t page, std::uint32_t count,
                                                                 std::uint64_t pins) const {
  const detail::bin_state before{atomic_view{header_at(page).state}.fetch_add(
      detail::bin_state::units_of(count) + pins, memory_order::acq_rel, thread_scope::device)};
  relist(arena, c, page, before.bits, count);
  if (before.units() + static_cast<std::int32_t>(count) == static_cast<std::int32_t>(layout::units(c))) {
    count_whole(arena, c, 1);
  }
}

// Counts up to `most` units off the bin of `held`, and tells how many and where to look for them: of a bin that was whole
// takers in turn begin where the one before ends. As a reader of the arena.
template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_FN void bulk_allocator<Buddy, ChunkPages>::hold_of(std::uint32_t arena, std::uint32_t c, std::uint32_t most,
                                                            hold& held) const {
  using enum memory_order;
  using enum thread_scope;
  const std::uint32_t page = held.page;
  const atomic_view state{header_at(page).state};
  const detail::bin_state old{state.fetch_sub(detail::bin_state::units_of(most), acquire, device)};
  const std::int32_t there = old.units() < 0 ? 0 : old.units();
  const std::uint32_t got = static_cast<std::uint32_t>(there) < most ? static_cast<std::uint32_t>(there) : most;
  if (static_cast<std::uint32_t>(there) == layout::units(c)) count_whole(arena, c, ~0u);
  if (got != most) return_units(arena, c, page, most - got, 0);
  held.units = got;
  held.place = layout::units(c) - static_cast<std::uint32_t>(there);
}

// Looks at the top of a list, of list `first` if it has one: counts up to `most` units off it, or takes it off the list if
// it has none. False if no list had a top. As a reader of the arena.
template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_FN bool bulk_allocator<Buddy, ChunkPages>::take_top(std::uint32_t arena, std::uint32_t c, std::uint32_t first,
                                                             std::uint32_t most, hold& got) const {
  using enum memory_order;
  using enum thread_scope;
  std::uint64_t* const tops = shelf_of(arena, c).top;
  std::uint32_t list = first % layout::lists;
  std::uint64_t seen = atomic_view{tops[list]}.load(acquire, device);
  if (static_cast<std::uint32_t>(seen) == 0) {
    std::uint32_t there = 0;
    for (std::uint32_t i = 0; i < layout::lists; ++i) {
      if (static_cast<std::uint32_t>(atomic_view{tops[i]}.load(relaxed, device)) != 0) there |= 1u << i;
    }
    if (there != 0) {
      list = static_cast<std::uint32_t>(lowest_bit(there >> list != 0 ? there >> list << list : there));
      seen = atomic_view{tops[list]}.load(acquire, device);
    }
  }
  const bool there = static_cast<std::uint32_t>(seen) != 0;
  got.units = 0;
  if (there) {
    got.page = static_cast<std::uint32_t>(seen) - 1;
    header& head = header_at(got.page);
    const atomic_view state{head.state};
    const std::uint32_t next = atomic_view{head.next}.load(relaxed, device);
    // Looked at first, so that those who find nothing left do not make it look even less.
    if (detail::bin_state{state.load(relaxed, device)}.units() > 0) {
      hold_of(arena, c, most, got);
    } else if (atomic_view{tops[list]}.compare_exchange(seen, ((seen >> 32) + 1) << 32 | next, acq_rel, device)) {
      relist(arena, c, got.page,
             state.fetch_and(~detail::bin_state::listed_bit, acq_rel, device) & ~detail::bin_state::listed_bit, 0);
    }
  }
  return there;
}

// Counts units off a bin, up to `most` of those that the caller counted off the semaphore, at least one. One lane.
template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_COLD_FN auto bulk_allocator<Buddy, ChunkPages>::take_listed(std::uint32_t arena, std::uint32_t c,
                                                                     std::uint32_t most) const -> hold {
  hold got{0, 0, 0};
  std::uint32_t list = detail::bulk_warp();
  for (backoff wait;; ++list) {
    // Without a top, somebody has a list in his hands, or a bin that is about to be on it.
    const srcu::ticket in = readers_of(arena).enter();
    const bool there = take_top(arena, c, list, most, got);
    readers_of(arena).leave(in);
    if (got.units != 0) return got;
    if (!there) wait.pause();
  }
}

// Claims blocks for units counted off a bin: those of one word, as many as can be had at one look. One lane.
template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_FN auto bulk_allocator<Buddy, ChunkPages>::claim_at_once(hold from) const -> claim {
  using enum memory_order;
  using enum thread_scope;
  header& head = header_at(from.page);
  std::uint64_t seen[layout::most_words];
  // Words that the class does not use are 0.
  for (std::uint32_t i = 0; i < layout::most_words; ++i) seen[i] = atomic_view{head.bits[i]}.load(relaxed, device);
  // The first that has enough, from one on that the subtraction told, so that takers of a bin part; else that with most.
  const std::uint32_t start = from.place / 64;
  std::uint32_t best = 0;
  std::uint32_t best_word = 0;
  std::uint64_t bits = 0;
  for (std::uint32_t i = 0; i < layout::most_words; ++i) {
    const auto has = static_cast<std::uint32_t>(popcount(seen[i]));
    if (has == 0) continue;
    // At least 1, so it is above nothing.
    const std::uint32_t value = (has < from.units ? has : from.units) * layout::most_words +
                                (layout::most_words - (i - start) % layout::most_words);
    if (value <= best) continue;
    best = value;
    best_word = i;
    bits = seen[i];
  }
  bits = detail::bulk_pick(bits, from.units, from.place);
  if (bits == 0) return {from.page, 0, 0};
  return {from.page, best_word, atomic_view{head.bits[best_word]}.fetch_and(~bits, acquire, device) & bits};
}

// The same, and at least one. There is one: others claim no more than they counted off.
template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_COLD_FN auto bulk_allocator<Buddy, ChunkPages>::claim_some(hold from) const -> claim {
  for (backoff wait;; wait.pause()) {
    const claim got = claim_at_once(from);
    if (got.bits != 0) return got;
  }
}

// Counts bins of which all units are free, one more or, with ~0, one less.
template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_FN void bulk_allocator<Buddy, ChunkPages>::count_whole(std::uint32_t arena, std::uint32_t c,
                                                                std::uint32_t change) const {
  atomic_view{shelf_of(arena, c).whole}.fetch_add(change, memory_order::relaxed, thread_scope::device);
  atomic_view{control_->arenas[arena].whole}.fetch_add(change, memory_order::relaxed, thread_scope::device);
}

// Makes units of one word free. One lane, whose group's accesses to them came before.
template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_FN void bulk_allocator<Buddy, ChunkPages>::give_units(std::uint32_t page, std::uint32_t c, std::uint32_t word,
                                                               std::uint64_t bits) const {
  using enum memory_order;
  using enum thread_scope;
  header& head = header_at(page);
  const std::uint32_t arena = head.arena;
  const auto count = static_cast<std::uint32_t>(popcount(bits));
  const std::uint64_t old = atomic_view{head.bits[word]}.fetch_or(bits, release, device);
  invariant((old & bits) == 0, "bulk: a block was freed twice");
  // With the pin the bin stays until we are done with it, though all of its units may be free.
  return_units(arena, c, page, count, detail::bin_state::one_pin);
  require(shelf_of(arena, c).count.signal(count), "bulk: more blocks than can be counted");
  atomic_view{head.state}.fetch_sub(detail::bin_state::one_pin, release, device);
}

}  // namespace warpheap
