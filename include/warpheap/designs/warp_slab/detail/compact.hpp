// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/warp_slab/warp_slab.hpp>

// A table without gaps. Probes are at places at random, so places without slabs would cost each of them
// a look: of a class that had most of the heap once, and has little now, nearly all.
//
// Slabs at the last places move to the gaps that others have left. Nothing of a slab moves but its place. A thread that
// comes by the old one finds it vacant. A search along the hints may miss the slab in between; that is a change under
// way, as when its hint is hidden. A thread that sets or clears its hint meanwhile goes by the place that the hint
// names, in one operation with the rest of it, so what it marks is where the slab is then, or is marked by the mover.

namespace warpheap {

// Closes the gaps that taking `slabs` slabs back has left, none below place `lowest`. The lock's holder. Collective.
WARPHEAP_COLD_FN inline void warp_slab::compact(lane_mask group, std::uint32_t c, std::uint32_t lowest,
                                                std::uint32_t slabs) const {
  using enum memory_order;
  using enum thread_scope;
  const std::uint32_t places = atomic_view{of_class(c).places}.load(relaxed, device);
  const std::uint32_t left = places - slabs;
  const auto lanes = static_cast<std::uint32_t>(group_size(group));
  std::uint32_t gap = lowest;
  for (auto from = left + static_cast<std::uint32_t>(group_rank(group)); any(group, from < places); from += lanes) {
    fill_gaps(group, c, from, from < places, left, gap);
  }
  if (is_leader(group)) atomic_view{of_class(c).places}.store(left, release, device);
}

// Moves the slab at place `from`, another one for each lane that `moves`, to a gap below place `slabs`; there are as
// many gaps as such slabs, and none below `gap`. Collective.
WARPHEAP_COLD_FN inline void warp_slab::fill_gaps(lane_mask group, std::uint32_t c, std::uint32_t from, bool moves,
                                                  std::uint32_t slabs, std::uint32_t& gap) const {
  moves = moves && table(c, from).load(memory_order::relaxed, thread_scope::device) != 0;
  while (any(group, moves)) {  // not a spin: each turn moves slabs, or goes on to later gaps
    const std::uint32_t to = next_gap(group, c, moves, slabs, gap);
    if (to < slabs) {
      move_place(c, from, to);
      moves = false;
    }
    sync(group);  // all see which gaps are filled
  }
}

// A gap for each lane that `moves`, or none, `slabs`, if there are too few among the next places from `gap` on, which
// goes on after those that are used up. Collective.
WARPHEAP_COLD_FN inline std::uint32_t warp_slab::next_gap(lane_mask group, std::uint32_t c, bool moves,
                                                          std::uint32_t slabs, std::uint32_t& gap) const {
  const std::uint32_t place = gap + static_cast<std::uint32_t>(group_rank(group));
  const bool vacant = place < slabs && table(c, place).load(memory_order::relaxed, thread_scope::device) == 0;
  const lane_mask gaps = ballot(group, vacant);
  const lane_mask movers = ballot(group, moves);
  if (group_size(gaps) <= group_size(movers)) gap += static_cast<std::uint32_t>(group_size(group));
  const bool served = moves && group_rank(movers) < group_size(gaps);
  const std::uint32_t to = shuffle(group, place, served ? nth_set_bit(gaps, group_rank(movers)) : lane_index());
  return served ? to : slabs;
}

// Has the slab at place `from` be at place `to`. One lane, the lock's holder.
WARPHEAP_COLD_FN inline void warp_slab::move_place(std::uint32_t c, std::uint32_t from, std::uint32_t to) const {
  using enum memory_order;
  using enum thread_scope;
  const std::uint32_t entry = table(c, from).load(relaxed, device);
  begin_change(c);
  table(c, to).store(entry, release, device);
  const atomic_view view{header(entry - 1).hint};
  slab_hint seen{view.load(relaxed, device)};
  while (!view.compare_exchange(seen.value, seen.at(to).value, acq_rel,
                                device)) {  // not a spin: another change came first
  }
  if (seen.shown()) hints(c).mark(to);
  table(c, from).store(0, relaxed, device);
  hints(c).unmark(from);
  end_change(c);
}

}  // namespace warpheap
