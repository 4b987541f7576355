// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/warp_slab/warp_slab.hpp>

// Looking for blocks along the hints: at a few slabs as long as the class can be extended, and at all before a refusal.

namespace warpheap {

// A block for each lane of `group`: `found`, or if that is null one of class `c`, or null if the heap has none.
// Collective.
WARPHEAP_COLD_FN inline void* warp_slab::take_along_hints(lane_mask group, std::uint32_t c, void* found) const {
  bool wants = found == nullptr;
  // Not a spin: for each class that is wanted a turn serves a lane, or waits until the class is extended or refused.
  for (std::uint32_t turn = 0; any(group, wants); ++turn) {
    if (take_or_extend(group, c, turn, wants, found) == outcome::refused) wants = false;
    wants = wants && found == nullptr;
    sync(group);
  }
  return found;
}

// One turn of that, for those who want a block: `refused` for who is not to have one. Collective.
WARPHEAP_COLD_FN inline auto warp_slab::take_or_extend(lane_mask group, std::uint32_t c, std::uint32_t turn, bool wants,
                                                       void*& found) const -> outcome {
  // Acquired before the looks, so that they see the slabs of the extensions that it counts.
  const std::uint32_t news = atomic_view{of_class(c).news}.load(memory_order::acquire, thread_scope::device);
  sync(group);
  const lane_mask peers = match(group, wants ? c : classes::count);
  if (turn != 0) found = look_again(group, c, turn, found);
  bool lost = false;
  found = follow_hints(group, c, wants && found == nullptr, found, lost);
  wants = wants && found == nullptr;
  // If a lane of the class was served, or others were quicker, there may be more.
  const lane_mask rest = ballot(group, wants);
  const bool dry = wants && (peers & ~rest) == 0 && !lost;
  return any(group, dry) ? extend(group, c, dry, news, found) : outcome::served;
}

// The looks of a later turn, at what was added since: `found`, or what is found if that is null. Collective.
WARPHEAP_COLD_FN inline void* warp_slab::look_again(lane_mask group, std::uint32_t c, std::uint32_t turn,
                                                    void* found) const {
  found = take_at_home(group, c, found);
  if (any(group, found == nullptr)) look_on(group, look_kind::latest, turn, c, found);
  return found;
}

// Goes along the hints for each lane that `looks`: `found`, or what is found for these. `lost`: there were blocks,
// which others had first, and there is no place to make more. Collective over `group`; the lanes of each class go by
// themselves, side by side with those of others.
WARPHEAP_COLD_FN inline void* warp_slab::follow_hints(lane_mask group, std::uint32_t c, bool looks, void* found,
                                                      bool& lost) const {
  using enum memory_order;
  using enum thread_scope;
  // So many slabs without blocks are put up with as long as there is memory to make others of. It bounds the wait of
  // one that comes after many others; what it passes over is found by later searches, since each clears the hints
  // that it followed in vain.
  constexpr std::uint32_t patience = 4;
  // One lane tells, since all have to go the same way.
  const std::uint32_t in_slabs = is_leader(group) ? atomic_view{control_->slab_units}.load(relaxed, device) : 0;
  const bool full = any(group, in_slabs >= control_->units);
  walk_part part{0, 0, full ? ~0u : patience, false, false};
  lane_mask peers = match(group, looks ? c : classes::count);
  if (looks) found = walk(peers, peers, c, part);
  const lane_mask met = meet(group);
  const lane_mask served = ballot(met, found != nullptr);
  const bool again = looks && (served & peers) == 0 && (part.patience == 0 || part.lost);
  if (!any(met, again)) return found;
  if (!is_without_place(met, c, again)) peers = 0;
  return follow_all(group, peers, c, part, found, lost);
}

// As no place for a slab is left: the rest of the walks of `peers`, if these ran out of patience; none: the caller has
// no part in it. Collective over `group`.
WARPHEAP_COLD_FN inline void* warp_slab::follow_all(lane_mask group, lane_mask peers, std::uint32_t c, walk_part& part,
                                                    void* found, bool& lost) const {
  if (peers != 0 && part.patience == 0) {
    part.patience = ~0u;
    found = walk(peers, peers, c, part);
  }
  lost = peers != 0 && part.lost;
  sync(group);
  return found;
}

// Whether there seems to be no place for a slab of class `c`, for each lane that `asks`; false for others. Collective.
WARPHEAP_COLD_FN inline bool warp_slab::is_without_place(lane_mask group, std::uint32_t c, bool asks) const {
  bool without = false;
  for (lane_mask rest = ballot(group, asks); rest != 0;) {  // not a spin: one turn a class
    const std::uint32_t of = shuffle(group, c, leader(rest));
    if (!has_place(group, of) && asks && c == of) without = true;
    rest &= ~ballot(meet(group), c == of);
  }
  return without;
}

// Whether there seems to be a place for a slab of class `c`, which is the same for all lanes. Collective.
WARPHEAP_COLD_FN inline bool warp_slab::has_place(lane_mask group, std::uint32_t c) const {
  return free_units().has_block(group, units_of(c));
}

// Blocks for some of the lanes `wanting` of `group`, at least one; null for all if at one moment of the call no slab of
// the class had any. Collective over `group`.
//
// A pass that met no hint at all, while none was about to change, saw all of them cleared at one moment. A thread that
// released a block before that would have set one.
WARPHEAP_COLD_FN inline void* warp_slab::search(lane_mask group, lane_mask wanting, std::uint32_t c) const {
  void* found = nullptr;
  while (!search_once(group, wanting, c, found)) backoff{}.pause();  // not a spin: it searches anew
  sync(group);
  return found;
}

// One such pass; false if it found none and may have missed some. Collective.
WARPHEAP_COLD_FN inline bool warp_slab::search_once(lane_mask group, lane_mask wanting, std::uint32_t c,
                                                    void*& found) const {
  bit_tree::watch before{};
  if (is_leader(group)) before = begin_watch(c);
  sync(group);
  walk_part part{0, 0, ~0u, false, false};
  found = walk(group, wanting, c, part);
  bool exact = found != nullptr;
  if (is_leader(group)) exact = exact || (!part.met && was_quiet(c, before));
  const lane_mask met = meet(group);
  return any(met, exact);
}

// What the leader remembers of a search, to know afterwards whether a hint that was cleared for a moment may have
// hidden a block: then the change is seen to have begun. Acquires.
WARPHEAP_COLD_FN inline bit_tree::watch warp_slab::begin_watch(std::uint32_t c) const {
  return of_class(c).changes.quiescence();
}
WARPHEAP_COLD_FN inline bool warp_slab::was_quiet(std::uint32_t c, bit_tree::watch before) const {
  fence(memory_order::acquire, thread_scope::device);
  return of_class(c).changes.stood_still(before);
}

// One pass along the hints, from the home on and around, until slabs have blocks or as many as `part` has patience for
// had none: blocks for some of the lanes `wanting` of `group`, or null for all. `part` tells all lanes whether there
// was a hint, and whether there were blocks that others had first. Collective over `group`.
WARPHEAP_COLD_FN inline void* warp_slab::walk(lane_mask group, lane_mask wanting, std::uint32_t c,
                                              walk_part& part) const {
  using enum memory_order;
  using enum thread_scope;
  std::uint32_t places = 0;
  if (is_leader(group)) places = atomic_view{of_class(c).places}.load(acquire, device);
  places = shuffle(group, places, leader(group));
  if (places == 0) return nullptr;
  // Those who search spread over all slabs. When neighbours began side by side, of a million threads all went after
  // each other, and each hint in vain was followed by thousands.
  const std::uint32_t home = split(std::uint64_t{spread(grid_warp_index())} * places).high;
  part.from = home;
  part.to = places;
  void* found = nullptr;
  while (walk_on(group, wanting, c, part, found)) {  // not a spin: each turn goes on to later places
  }
  if (home != 0 && part.patience != 0 && !any(group, found != nullptr)) {
    part.from = 0;
    part.to = home;
    while (walk_on(group, wanting, c, part, found)) {  // not a spin: the same
    }
  }
  return found;
}

// One turn of that, with the next hints of a part of the places; true if there is reason for another. Collective.
WARPHEAP_COLD_FN inline bool warp_slab::walk_on(lane_mask group, lane_mask wanting, std::uint32_t c, walk_part& part,
                                                void*& found) const {
  std::uint64_t marked = 0;
  if (is_leader(group)) part.from = next_place(c, part.from, part.to, marked);
  part.from = shuffle(group, part.from, leader(group));
  if (part.from >= part.to) return false;
  part.met = true;
  marked = shuffle(group, marked, leader(group));
  const int lanes = group_size(group);
  const int most = part.patience < static_cast<std::uint32_t>(lanes) ? static_cast<int>(part.patience) : lanes;
  const int count = popcount(marked) < most ? popcount(marked) : most;
  const int rank = group_rank(group);
  const std::uint32_t place = part.from + detail::nth_mark(marked, rank);
  part.from += detail::nth_mark(marked, count);
  part.patience -= static_cast<std::uint32_t>(count);
  found = take_from_slabs(group, wanting, c, place, rank < count, part.lost);
  return part.patience != 0 && !any(group, found != nullptr);
}

// Blocks for some of the lanes `wanting`, of the slabs at the places of those that look, or null for all; `lost` if
// others had those that there were first. Drops hints that lead nowhere. Collective over `group`.
WARPHEAP_COLD_FN inline void* warp_slab::take_from_slabs(lane_mask group, lane_mask wanting, std::uint32_t c,
                                                         std::uint32_t place, bool looks, bool& lost) const {
  slab_look look{};
  std::uint32_t unit = no_unit;
  if (looks) look = look_through(c, place, unit);
  stop_point("warp_slab.take_from_slabs.looked");
  void* const found = share(group, wanting, c, look);
  lost = any(group, look.free != 0) || lost;
  if (unit != no_unit && look.free == 0) hide(c, place, unit);
  return found;
}

// The first place in [from, to) with a hint, or `to`; in `marked` the hints from there to the end of the leaf that it
// is in, none at `to` or above. One lane.
WARPHEAP_COLD_FN inline std::uint32_t warp_slab::next_place(std::uint32_t c, std::uint32_t from, std::uint32_t to,
                                                            std::uint64_t& marked) const {
  constexpr std::uint32_t bits = bit_tree::leaf_bits;
  const bit_tree some = hints(c);
  for (std::uint32_t leaf = 0; from < to && some.next_leaf(from / bits, leaf); from = (leaf + 1) * bits) {
    if (leaf != from / bits) from = leaf * bits;
    if (from >= to) break;
    marked = some.leaf_word(leaf) >> from % bits;
    if (marked == 0) continue;
    const int skipped = lowest_bit(marked);
    from += static_cast<std::uint32_t>(skipped);
    marked >>= skipped;
    if (from >= to) break;
    if (to - from < bits) marked &= detail::bit_range(0, to - from);
    return from;
  }
  marked = 0;
  return to;
}

// Looks through the slab at `place`, whose first unit it tells. What it finds is a word with free blocks; if there is
// no slab with a hint, it takes the place out of the set and leaves `unit` as it is. One lane.
WARPHEAP_COLD_FN inline slab_look warp_slab::look_through(std::uint32_t c, std::uint32_t place,
                                                          std::uint32_t& unit) const {
  using enum memory_order;
  using enum thread_scope;
  const std::uint32_t entry = table(c, place).load(acquire, device);
  if (entry == 0 || !slab_hint{atomic_view{header(entry - 1).hint}.load(relaxed, device)}.shown()) {
    drop_place(c, place);
    return {};
  }
  unit = entry - 1;
  slab_look look{};
  for (std::uint32_t w = 0; w < words_of(c) && look.free == 0; w += looks_at_once) {
    look = look_from(c, unit, w);
  }
  return look;
}

// Looks at the next few words of a slab of which `looked` have been looked at. Warps that come to one slab begin at
// different words. One lane.
WARPHEAP_COLD_FN inline slab_look warp_slab::look_from(std::uint32_t c, std::uint32_t unit,
                                                       std::uint32_t looked) const {
  return look_at(c, unit, looked + grid_warp_index(), words_of(c) - looked);
}

}  // namespace warpheap
