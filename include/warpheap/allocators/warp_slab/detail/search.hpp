// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocators/warp_slab/warp_slab.hpp>

// Looking for blocks along the hints: at a few slabs as long as the class can be extended, and at all before a refusal.

namespace warpheap {

// A block for each lane of `group`, all of class `c`; null for those that there is none for. Collective.
WARPHEAP_COLD_FN inline void* warp_slab::take_along_hints(lane_mask group, std::uint32_t c) const {
  using enum memory_order;
  using enum thread_scope;
  // So many slabs without blocks are put up with as long as there is memory to make others of. It bounds the wait of one
  // that comes after many others; what it leaves behind is found by later searches, since each clears the hints that it
  // followed in vain.
  constexpr std::uint32_t patience = 4;
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
      std::uint32_t leaf = 0;
      const bool may_extend = any(group, is_leader(group) && free_units().next_leaf(0, leaf));
      found = walk(group, c, may_extend ? patience : ~0u, met);
    }
    if (!any(group, found != nullptr)) {
      const outcome then = extend(group, c, extensions, found);
      if (then == outcome::refused) return nullptr;
    }
    group = ballot(group, found == nullptr);
    if (found != nullptr) return found;
  }
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

// One pass along the hints, from the home on and around, until a slab has blocks or `patience` had none: blocks for
// some lanes of `group`, or null for all. `met` tells all lanes whether there was a hint. Collective.
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
  std::uint32_t from = home;
  std::uint32_t to = places;
  for (;;) {  // not a spin: each turn goes on to later places, or to the second half
    std::uint32_t place = to;
    if (is_leader(group)) place = next_place(c, from, to);
    place = shuffle(group, place, leader(group));
    if (place == to) {
      if (to == home || home == 0) return nullptr;
      from = 0;
      to = home;
      continue;
    }
    met = true;
    void* const found = take_from_slab(group, c, place);
    if (any(group, found != nullptr) || --patience == 0) return found;
    from = place + 1;
  }
}

// The first place in [from, to) with a hint, or `to`. One lane.
WARPHEAP_COLD_FN inline std::uint32_t warp_slab::next_place(std::uint32_t c, std::uint32_t from,
                                                            std::uint32_t to) const {
  constexpr std::uint32_t bits = bit_tree::leaf_bits;
  const bit_tree some = hints(c);
  for (std::uint32_t leaf = 0; from < to && some.next_leaf(from / bits, leaf); from = (leaf + 1) * bits) {
    if (leaf != from / bits) from = leaf * bits;
    if (from >= to) break;
    const std::uint64_t marked = some.leaf_word(leaf) >> from % bits;
    if (marked == 0) continue;
    from += static_cast<std::uint32_t>(lowest_bit(marked));
    return from < to ? from : to;
  }
  return to;
}

// Blocks of the slab at `place` for some lanes of `group`, or null for all. Drops a hint that leads nowhere.
// Collective.
WARPHEAP_COLD_FN inline void* warp_slab::take_from_slab(lane_mask group, std::uint32_t c, std::uint32_t place) const {
  using enum memory_order;
  using enum thread_scope;
  std::uint32_t entry = 0;
  bool shown = false;
  if (is_leader(group)) {
    entry = table(c, place).load(acquire, device);
    if (entry != 0) shown = slab_hint{atomic_view{header(entry - 1).hint}.load(relaxed, device)}.shown();
    if (!shown) drop_place(c, place);
  }
  if (!any(group, shown)) return nullptr;
  const std::uint32_t unit = shuffle(group, entry, leader(group)) - 1;
  const slab_look look = look_through(group, c, unit);
  void* const found = share(group, group, c, look);
  if (!any(group, look.seen.free() != 0)) hide(group, c, place, unit);
  return found;
}

// A word with free blocks among the caller's part of the words of a slab, which the lanes of `group` share. One lane.
WARPHEAP_COLD_FN inline slab_look warp_slab::look_through(lane_mask group, std::uint32_t c, std::uint32_t unit) const {
  const auto lanes = static_cast<std::uint32_t>(group_size(group));
  const std::uint32_t words = classes::words(c);
  slab_look look{};
  for (auto w = static_cast<std::uint32_t>(group_rank(group)); w < words; w += looks_at_once * lanes) {
    // Warps that come to one slab begin at different words.
    look = look_at(c, unit, w + detail::warp_number(), lanes, (words - w + lanes - 1) / lanes);
    if (look.seen.free() != 0) break;
  }
  return look;
}

}  // namespace warpheap
