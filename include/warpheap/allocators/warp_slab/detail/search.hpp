// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocators/warp_slab/warp_slab.hpp>

// Looking for blocks along the hints: at a few slabs as long as the class can be extended, and at all before a refusal.

namespace warpheap {
namespace detail {

// Index of the set bit of `marks` that has `rank` set bits below it; 64 if there is none.
WARPHEAP_FN inline std::uint32_t nth_mark(std::uint64_t marks, int rank) {
  const auto low = static_cast<std::uint32_t>(marks);
  const auto high = static_cast<std::uint32_t>(marks >> 32);
  const int in_low = popcount(low);
  if (rank < in_low) return static_cast<std::uint32_t>(nth_set_bit(low, rank));
  if (rank - in_low < popcount(high)) return 32 + static_cast<std::uint32_t>(nth_set_bit(high, rank - in_low));
  return 64;
}

}  // namespace detail

// A block for each lane of `group`, all of class `c`; null for those that there is none for. Collective.
WARPHEAP_COLD_FN inline void* warp_slab::take_along_hints(lane_mask group, std::uint32_t c) const {
  using enum memory_order;
  using enum thread_scope;
  // So many slabs without blocks are put up with as long as there is memory to make others of. It bounds the wait of one
  // that comes after many others; what it leaves behind is found by later searches, since each clears the hints that it
  // followed in vain.
  constexpr std::uint32_t patience = warp_width;
  for (std::uint32_t turn = 0;; ++turn) {  // not a spin: each turn serves a lane, or waits for an extension
    std::uint32_t extensions = 0;
    // Acquired before the looks, so that they see the slabs of the extensions that it counts.
    if (is_leader(group)) extensions = atomic_view{of_class(c).extensions}.load(acquire, device);
    sync(group);
    void* found = nullptr;
    if (turn != 0) {
      found = take_at_home(group, group, c);
      if (!any(group, found != nullptr)) found = probe(group, group, c, 2 * turn + 1);
    }
    if (!any(group, found != nullptr)) {
      bool met = false;
      found = walk(group, c, has_units(group) ? patience : ~0u, met);
    }
    if (!any(group, found != nullptr)) {
      const outcome then = extend(group, c, extensions, found);
      if (then == outcome::refused) return nullptr;
    }
    group = ballot(group, found == nullptr);
    if (found != nullptr) return found;
  }
}

// Whether there are units to make slabs of. Collective.
WARPHEAP_COLD_FN inline bool warp_slab::has_units(lane_mask group) const {
  std::uint32_t leaf = 0;
  return any(group, is_leader(group) && free_units().next_leaf(0, leaf));
}

// Blocks for some lanes of `group`, at least one; null for all if at one moment of the call no slab of the class had
// any. Collective.
//
// A pass that met no hint at all, while none was about to change, saw all of them cleared at one moment. Who released a
// block before that would have set one.
WARPHEAP_COLD_FN inline void* warp_slab::search(lane_mask group, std::uint32_t c) const {
  using enum memory_order;
  using enum thread_scope;
  for (backoff wait;; wait.pause()) {
    bool quiet = false;
    std::uint32_t begun = 0;
    if (is_leader(group)) {
      const std::uint32_t ended = atomic_view{of_class(c).changes_ended}.load(acquire, device);
      begun = atomic_view{of_class(c).changes_begun}.load(acquire, device);
      quiet = begun == ended;
    }
    sync(group);
    bool met = false;
    void* const found = walk(group, c, ~0u, met);
    if (any(group, found != nullptr)) return found;
    if (is_leader(group)) {
      // A hint that was cleared for a moment may have hidden a block: then the change is seen to have begun.
      fence(acquire, device);
      quiet = quiet && !met && atomic_view{of_class(c).changes_begun}.load(acquire, device) == begun;
    }
    if (any(group, is_leader(group) && quiet)) return nullptr;
  }
}

// One pass along the hints, from the home on and around, until slabs have blocks or `patience` had none: blocks for some
// lanes of `group`, or null for all. `met` tells all lanes whether there was a hint. Collective.
WARPHEAP_COLD_FN inline void* warp_slab::walk(lane_mask group, std::uint32_t c, std::uint32_t patience,
                                              bool& met) const {
  using enum memory_order;
  using enum thread_scope;
  std::uint32_t places = 0;
  if (is_leader(group)) places = atomic_view{of_class(c).places}.load(acquire, device);
  places = shuffle(group, places, leader(group));
  if (places == 0) return nullptr;
  // Those who search spread over the slabs.
  const std::uint32_t home = detail::warp_number() / classes::words(c) % places;
  void* const found = walk_between(group, c, {home, places}, patience, met);
  if (home == 0 || patience == 0 || any(group, found != nullptr)) return found;
  return walk_between(group, c, {0, home}, patience, met);
}

// The same for the hints of a part of the places; `patience` is what is left of it. Collective.
WARPHEAP_COLD_FN inline void* warp_slab::walk_between(lane_mask group, std::uint32_t c, places_between part,
                                                      std::uint32_t& patience, bool& met) const {
  while (true) {  // not a spin: each turn goes on to later places
    std::uint64_t marked = 0;
    if (is_leader(group)) part.from = next_place(c, part.from, part.to, marked);
    part.from = shuffle(group, part.from, leader(group));
    if (part.from >= part.to) return nullptr;
    met = true;
    marked = shuffle(group, marked, leader(group));
    const int lanes = group_size(group);
    const int most = patience < static_cast<std::uint32_t>(lanes) ? static_cast<int>(patience) : lanes;
    const int count = popcount(marked) < most ? popcount(marked) : most;
    const bool looks = group_rank(group) < count;
    void* const found = take_from_slabs(group, c, part.from + detail::nth_mark(marked, group_rank(group)), looks);
    patience -= static_cast<std::uint32_t>(count);
    if (any(group, found != nullptr) || patience == 0) return found;
    part.from += detail::nth_mark(marked, count);
  }
}

// Blocks for some lanes of `group` of the slabs at the places of those that look, or null for all. Drops hints that lead
// nowhere. Collective.
WARPHEAP_COLD_FN inline void* warp_slab::take_from_slabs(lane_mask group, std::uint32_t c, std::uint32_t place,
                                                         bool looks) const {
  slab_look look{};
  std::uint32_t unit = no_unit;
  if (looks) look = look_through(c, place, unit);
  void* const found = share(group, group, c, look);
  if (unit != no_unit && look.seen.free() == 0) hide(c, place, unit);
  return found;
}

// The first place in [from, to) with a hint, or `to`; in `marked` the hints from there to the end of the leaf that it is
// in, none at `to` or behind. One lane.
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

// Looks through the slab at `place`, whose first unit it tells. What it finds is a word with free blocks; if there is no
// slab with a hint, it takes the place out of the set and leaves `unit` as it is. One lane.
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
  const std::uint32_t words = classes::words(c);
  slab_look look{};
  for (std::uint32_t w = 0; w < words && look.seen.free() == 0; w += looks_at_once) {
    // Warps that come to one slab begin at different words.
    look = look_at(c, unit, w + detail::warp_number(), words - w);
  }
  return look;
}

}  // namespace warpheap
