// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocators/warp_slab/warp_slab.hpp>

// Looking for blocks beyond the caller's home, along the hints.

namespace warpheap {

// A block for each lane of `group`, all of class `c`; null for those that there is none for. Collective.
WARPHEAP_COLD_FN inline void* warp_slab::take_elsewhere(lane_mask group, std::uint32_t c) const {
  using enum memory_order;
  using enum thread_scope;
  for (;;) {  // not a spin: each turn serves a lane, or waits for an extension
    const auto wanted = static_cast<std::uint32_t>(group_size(group));
    std::uint32_t extensions = 0;
    slab_claim got;
    if (is_leader(group)) {
      // Acquired before the search, so that the search sees the slabs of the extensions that it counts.
      extensions = atomic_view{of_class(c).extensions}.load(acquire, device);
      got = search(c, wanted);
    }
    outcome then = outcome::served;
    if (!any(group, got.blocks != 0)) then = extend(group, c, extensions, got);
    if (then == outcome::refused) return nullptr;
    if (then == outcome::extended) continue;
    sync(group);  // what the leader acquired is acquired for all
    got.word = shuffle(group, got.word, leader(group));
    got.blocks = shuffle(group, got.blocks, leader(group));
    const int rank = group_rank(group);
    const bool served = rank < popcount(got.blocks);
    group = ballot(group, !served);
    if (served) return block_of(c, got, rank);
  }
}

// Up to `wanted` blocks of one word; none if at one moment of the call no slab of the class had any. One lane.
WARPHEAP_COLD_FN inline slab_claim warp_slab::search(std::uint32_t c, std::uint32_t wanted) const {
  using enum memory_order;
  using enum thread_scope;
  class_state& state = of_class(c);
  for (backoff wait;; wait.pause()) {
    const std::uint32_t ended = atomic_view{state.changes_ended}.load(acquire, device);
    const std::uint32_t begun = atomic_view{state.changes_begun}.load(acquire, device);
    const std::uint32_t places = atomic_view{state.places}.load(acquire, device);
    // From the home on and around, so that those who search spread over the slabs.
    const std::uint32_t home = places == 0 ? 0 : detail::warp_number() / classes::words(c) % places;
    slab_claim got = search_places(c, home, places, wanted);
    if (got.blocks == 0) got = search_places(c, 0, home, wanted);
    if (got.blocks != 0) return got;
    // A hint that was cleared for a moment may have hidden a block: then the change is seen to have begun.
    fence(acquire, device);
    if (begun == ended && atomic_view{state.changes_begun}.load(acquire, device) == begun) return {};
  }
}

// The same at places [from, to), in one pass.
WARPHEAP_COLD_FN inline slab_claim warp_slab::search_places(std::uint32_t c, std::uint32_t from, std::uint32_t to,
                                                            std::uint32_t wanted) const {
  constexpr std::uint32_t bits = bit_tree::leaf_bits;
  const bit_tree some = hints(c);
  for (std::uint32_t leaf = 0; from < to && some.next_leaf(from / bits, leaf);) {
    if (leaf != from / bits) from = leaf * bits;
    const std::uint64_t marked = from < to ? some.leaf_word(leaf) >> from % bits : 0;
    if (marked == 0) {
      from = (leaf + 1) * bits;
      continue;
    }
    from += static_cast<std::uint32_t>(lowest_bit(marked));
    if (from >= to) break;
    const slab_claim got = search_slab(c, from, wanted);
    if (got.blocks != 0) return got;
    ++from;
  }
  return {};
}

// The same in one slab. Drops hints that lead nowhere.
WARPHEAP_COLD_FN inline slab_claim warp_slab::search_slab(std::uint32_t c, std::uint32_t place,
                                                          std::uint32_t wanted) const {
  using enum memory_order;
  using enum thread_scope;
  const std::uint32_t entry = table(c, place).load(acquire, device);
  std::uint32_t left = 0;
  if (entry != 0) left = slab_hints{atomic_view{header(entry - 1).hints}.load(relaxed, device)}.words();
  if (left == 0) drop_place(c, place);
  const std::uint32_t unit = entry - 1;
  while (left != 0) {  // not a spin: each turn drops a bit of a word that was read once
    const std::uint32_t ahead = left & ~low_bits(static_cast<int>(detail::warp_number() % 32));
    const auto index = static_cast<std::uint32_t>(lowest_bit(ahead != 0 ? ahead : left));
    left &= ~(1u << index);
    const slab_claim got = claim(c, unit, index, wanted);
    if (got.blocks != 0) return got;
    if (!hide(c, place, unit * classes::most_words + index)) break;
  }
  return {};
}

}  // namespace warpheap
