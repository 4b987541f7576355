// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocators/warp_slab/detail/claim.hpp>
#include <warpheap/allocators/warp_slab/warp_slab.hpp>

// Slabs for a class before it is out of blocks.
//
// Where threads malloc and free by turns, a warp finds what it wants at its seat as long as enough of the class is free.
// A class that grows only when nothing is found comes to be all but full, and most claims look elsewhere. So a class whose
// words are seen to be crowded is given more slabs. Nobody needs that: it only makes later calls quicker. It ends when a
// class has a sixteenth of the heap, or all classes half of it, so that what one has in store is not what others lack;
// beyond that, and for warps that come for the first time, only `extend` adds slabs.

namespace warpheap {

// Adds slabs to a class that is crowded, as far as those see who look for blocks of it: `free` is what the words have free
// that the caller looked at, for class `c` as all of his `peers`. Collective over `group`.
WARPHEAP_COLD_FN inline void warp_slab::make_room(lane_mask group, lane_mask peers, std::uint32_t c,
                                                  std::uint32_t free) const {
  const int seldom = group_size(ballot(group, free < looks_at_once * crowded_below) & peers);
  const bool crowded = 2 * seldom > group_size(peers);
  if (!any(group, crowded) || !has_come_before(group)) return;
  const bool asks = crowded && is_leader(peers) && may_have_room(c);
  const lane_mask askers = ballot(group, asks);
  if (askers == 0) return;
  c = shuffle(group, c, leader(askers));
  if (is_crowded(group, c)) add_room(group, c);
}

// Whether the caller's warp has seen a class crowded before. Where threads ask for the first time, what they find crowded is what
// they fill themselves, and no reason to wait for more. Collective.
WARPHEAP_COLD_FN inline bool warp_slab::has_come_before(lane_mask group) const {
  using enum memory_order;
  using enum thread_scope;
  constexpr std::uint32_t there = unit_group::seats_of_group / unit_group::class_seats;
  const std::uint32_t mine = detail::warp_number() & (seat_mask_ / unit_group::class_seats);
  const atomic_view visit{groups()[mine / there].visits[mine % there]};
  const bool before = is_leader(group) && visit.load(relaxed, device) != 0;
  if (is_leader(group) && !before) visit.store(1, relaxed, device);
  return any(group, before);
}

// Whether the caller's warp is one of those that look closer at class `c`, and the heap has room for it. One lane.
WARPHEAP_COLD_FN inline bool warp_slab::may_have_room(std::uint32_t c) const {
  using enum memory_order;
  using enum thread_scope;
  constexpr std::uint32_t share_of_heap = 16;
  // Who has no seat yet asks for the first time.
  const slab_seat named{seat(c).load(relaxed, device)};
  if (!named.is_of(c) || !is_picked(named.word(c))) return false;
  const std::uint64_t places = atomic_view{of_class(c).places}.load(relaxed, device);
  return places * classes::units(c) * share_of_heap < control_->units && has_room();
}

// Whether less than half of the heap is slabs, so that what one class has in store is not what others lack.
WARPHEAP_FN inline bool warp_slab::has_room() const {
  return atomic_view{control_->slab_units}.load(memory_order::relaxed, thread_scope::device) < control_->units / 2;
}

// Whether less than an eighth of a class is free, as a sample has it, and more than nothing: then it is full, and `extend`
// knows better what it needs. Collective.
WARPHEAP_COLD_FN inline bool warp_slab::is_crowded(lane_mask group, std::uint32_t c) const {
  constexpr std::uint32_t sample = 24;  // words
  constexpr std::uint32_t unused = 8;   // rounds of looks from here on are nobody's
  std::uint32_t free = 0;
  std::uint32_t words = 0;
  for (std::uint32_t round = unused; words < sample; round += 2) {
    look_around(c, round, free);
    words += looks_at_once * static_cast<std::uint32_t>(group_size(group));
  }
  const std::uint32_t all = reduce(group, free, plus{});
  return all < words * crowded_below && all > words / 2;
}

// Adds slabs. One group of the heap at a time; others go on. Collective.
WARPHEAP_COLD_FN inline void warp_slab::add_room(lane_mask group, std::uint32_t c) const {
  using enum memory_order;
  using enum thread_scope;
  const bool holds = is_leader(group) && control_->lock.try_acquire();
  if (!any(group, holds)) return;
  sync(group);  // what the lock's holder before wrote is visible to all lanes
  // Steps that a warp can take within some ten microseconds.
  constexpr std::uint32_t most = 2048;
  const std::uint32_t limit = most / (classes::words(c) > classes::units(c) ? classes::words(c) : classes::units(c));
  const std::uint32_t half = atomic_view{of_class(c).places}.load(relaxed, device) / 2 + 1;
  const bool added = add_slabs(group, c, half < limit ? half : limit);
  sync(group);
  if (holds) {
    if (added) atomic_view{of_class(c).news}.fetch_add(1, release, device);
    control_->lock.release();
  }
}

// True for one seat in eight and warp: so many look closer, since a closer look takes its time.
WARPHEAP_FN inline bool warp_slab::is_picked(std::uint32_t word) {
  constexpr std::uint32_t one_in = 8;
  return ((word + detail::warp_number()) * 0x9e3779b1 >> 16) % one_in == 0;
}

}  // namespace warpheap
