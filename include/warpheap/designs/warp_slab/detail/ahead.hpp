// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/warp_slab/detail/claim.hpp>
#include <warpheap/designs/warp_slab/warp_slab.hpp>

// Slabs for a class before it is out of blocks.
//
// Where threads malloc and free by turns, a warp finds what it wants at its seat as long as enough of the class is
// free. A class that grows only when nothing is found comes to be all but full, and then most claims look elsewhere. So
// a class whose words are seen to be crowded is given more slabs, if the warp that sees it has come this way before:
// within the launch, or in a large grid ever. Nobody needs that: it only makes later calls quicker. It ends when a
// class has a sixteenth of the heap, or all classes half of it, so that what one has in store is not what others lack;
// beyond that, and for warps that come for the first time, only `extend` adds slabs.

namespace warpheap {

// Adds slabs to a class that is crowded, as far as those see who look for blocks of it: `free` is what the caller saw
// free of a word of class `c`. Collective.
WARPHEAP_COLD_FN inline void warp_slab::make_room(lane_mask group, std::uint32_t c, std::uint32_t free) const {
  const auto seen = static_cast<std::uint32_t>(popcount(free));
  if (!any(group, seen < room_within_launch)) return;
  const std::uint32_t enough = enough_room(group);
  const lane_mask peers = match(group, c);
  const int seldom = group_size(ballot(group, seen < enough) & peers);
  const bool asks = 2 * seldom > group_size(peers) && is_leader(peers) && may_have_room(c);
  const lane_mask askers = ballot(group, asks);
  if (askers == 0) return;
  c = shuffle(group, c, leader(askers));
  if (is_crowded(group, c, enough)) add_room(group, c);
}

// How many free blocks a word is to have, of 32, for the caller's warp: 0 if it has not come this way before. Where
// threads ask for the first time, what they find crowded is what they fill themselves, and no reason to wait for more.
// In this launch: a quarter, since the threads malloc and free by turns, and what is free is where a claim needs no
// second look. In any launch, in a grid of which only a part runs at once: an eighth. Collective.
WARPHEAP_COLD_FN inline std::uint32_t warp_slab::enough_room(lane_mask group) const {
  using enum memory_order;
  using enum thread_scope;
  slab_visit last{};
  if (is_leader(group)) {
    last = {visit().load(relaxed, device)};
    const slab_visit next = last.next();
    if (next.value != last.value) visit().store(next.value, relaxed, device);
  }
  last.value = shuffle(group, last.value, leader(group));
  if (last.is_now()) return room_within_launch;
  return last.value != 0 && has_more_threads_than_run() ? room_between_launches : 0;
}

// What is remembered of the caller's warp, or of those that share it in a small heap.
WARPHEAP_FN inline atomic_view<std::uint32_t> warp_slab::visit() const {
  constexpr std::uint32_t there = unit_section::section_seats / unit_section::class_seats;
  const std::uint32_t mine = grid_warp_index() & (seat_mask_ / unit_section::class_seats);
  return atomic_view{sections()[mine / there].visits[mine % there]};
}

// Whether the caller's grid has more threads than a large GPU runs at once.
WARPHEAP_FN inline bool warp_slab::has_more_threads_than_run() { return grid_threads() > threads_at_once; }

// Whether the caller's warp is one of those that look closer at class `c`, and the heap has room for it. One lane.
WARPHEAP_COLD_FN inline bool warp_slab::may_have_room(std::uint32_t c) const {
  using enum memory_order;
  using enum thread_scope;
  constexpr std::uint32_t share_of_heap = 16;
  // A warp without a seat asks for the first time.
  const slab_seat named{seat(c).load(relaxed, device)};
  if (!named.is_of(c) || !is_picked(named.word(c))) return false;
  const std::uint64_t places = atomic_view{of_class(c).places}.load(relaxed, device);
  return places * units_of(c) * share_of_heap < control_->units && has_room();
}

// Whether less than half of the heap is slabs, so that what one class has in store is not what others lack.
WARPHEAP_FN inline bool warp_slab::has_room() const {
  return atomic_view{control_->slab_units}.load(memory_order::relaxed, thread_scope::device) < control_->units / 2;
}

// Whether the words of a class have fewer than `enough` free blocks each, as a sample has it, and more than hardly any:
// then it is full, and `extend` knows better what it needs. Collective.
WARPHEAP_COLD_FN inline bool warp_slab::is_crowded(lane_mask group, std::uint32_t c, std::uint32_t enough) const {
  constexpr std::uint32_t sample = 24;  // words
  constexpr std::uint32_t unused = 8;   // rounds of looks from here on are nobody's
  std::uint32_t free = 0;
  std::uint32_t words = 0;
  for (std::uint32_t round = unused; words < sample; ++round) {
    look_around(c, look_kind::anywhere, round, free);
    words += looks_at_once * static_cast<std::uint32_t>(group_size(group));
  }
  const std::uint32_t all = reduce(group, free, plus{});
  return all < words * enough && all > words * enough / 8;
}

// Adds slabs. One group of the heap at a time; others go on. Collective.
WARPHEAP_COLD_FN inline void warp_slab::add_room(lane_mask group, std::uint32_t c) const {
  using enum memory_order;
  using enum thread_scope;
  control_->lock.try_hold(group, [&] {
    // Steps that a warp can take within some ten microseconds.
    constexpr std::uint32_t most = 2048;
    const std::uint32_t limit = most / (words_of(c) > units_of(c) ? words_of(c) : units_of(c));
    const std::uint32_t half = atomic_view{of_class(c).places}.load(relaxed, device) / 2 + 1;
    const bool added = add_slabs(group, c, half < limit ? half : limit);
    sync(group);  // the leader releases with the news what all lanes did
    if (added && is_leader(group)) atomic_view{of_class(c).news}.fetch_add(1, release, device);
  });
}

// True for one seat in eight and warp: so many look closer, since a closer look takes its time.
WARPHEAP_FN inline bool warp_slab::is_picked(std::uint32_t word) {
  constexpr std::uint32_t one_in = 8;
  return (spread(word + grid_warp_index()) >> 16) % one_in == 0;
}

}  // namespace warpheap
