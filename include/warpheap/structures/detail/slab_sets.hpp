// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/structures/slab_sets.hpp>

namespace warpheap {

// Orders. A bit is set and cleared by read-modify-writes that acquire and release, whatever they find: an `insert`
// after a `take` that came too early sees what the taker had changed before, and the `where` that follows reads that.

// The count is relaxed, and the fence hands it on with the changes that follow: a search that sees what a move did sees
// that it had begun.
WARPHEAP_FN inline void slab_sets::begin_move() const {
  shared().moves.begin();
  fence(memory_order::release, thread_scope::device);
}

// Release: a search that reads this count finds the slab.
WARPHEAP_FN inline void slab_sets::end_move() const { shared().moves.end(); }

// Puts a slab that the caller holds into `set`.
WARPHEAP_FN inline void slab_sets::insert(std::uint32_t slab, std::uint32_t set) const {
  if (set != sets_) {
    tree(set).insert(slab);
  } else {
    rest_word(slab).fetch_or(bit_of(slab), memory_order::acq_rel, thread_scope::device);
  }
}

WARPHEAP_FN inline bool slab_sets::take(std::uint32_t slab, std::uint32_t set) const {
  if (set != sets_) return tree(set).erase(slab);
  return (rest_word(slab).fetch_and(~bit_of(slab), memory_order::acq_rel, thread_scope::device) & bit_of(slab)) != 0;
}

// Puts a slab that the caller holds where it belongs, and follows changes of its word that came too early to find it
// there.
template <class Where>
WARPHEAP_FN void slab_sets::settle(std::uint32_t slab, Where where) const {
  for (;;) {  // not a spin: each turn means that another thread changed the slab's word
    // Read while the slab is in the caller's hands: what was read before `take` may be of an earlier life, since others
    // may have had the slab in between.
    const std::uint32_t set = where(slab);
    insert(slab, set);
    stop_point("slab_sets.settle.inserted");
    const bool stays = where(slab) == set;
    stop_point("slab_sets.settle.looked");
    // If the bit is gone another thread has the slab, and follows its word from there.
    if (stays || !take(slab, set)) return;
  }
}

WARPHEAP_FN inline bool slab_sets::contains(std::uint32_t slab, std::uint32_t set) const {
  const std::uint64_t word = set != sets_ ? tree(set).leaf_word(slab / bit_tree::leaf_bits)
                                          : rest_word(slab).load(memory_order::relaxed, thread_scope::device);
  return (word & bit_of(slab)) != 0;
}

WARPHEAP_COLD_FN inline std::uint32_t slab_sets::find(std::uint32_t set, std::uint32_t seed) const {
  constexpr std::uint32_t looks = 8;  // at leaves that are just being emptied
  const bit_tree members = tree(set);
  const std::uint32_t hash = spread(seed);
  const auto all = static_cast<std::uint32_t>(divide_up(slabs_, bit_tree::leaf_bits));
  // From the leaf on that the seed tells, and from the first one after the last.
  auto from = static_cast<std::uint32_t>(std::uint64_t{hash} * all >> 32);
  for (std::uint32_t i = 0; i < looks; ++i) {
    std::uint32_t leaf = 0;
    if (!members.next_leaf(from, leaf)) {
      if (from == 0 || !members.next_leaf(0, leaf)) return none;
    }
    const std::uint64_t word = members.leaf_word(leaf);
    if (word != 0) {
      const std::uint64_t after = word & ~std::uint64_t{0} << hash % bit_tree::leaf_bits;
      return leaf * bit_tree::leaf_bits + static_cast<std::uint32_t>(lowest_bit(after != 0 ? after : word));
    }
    from = leaf + 1;
  }
  return none;
}

// The first member in a leaf from bit `bit` on, cyclic, or `none`.
WARPHEAP_FN inline std::uint32_t slab_sets::first_in_leaf(const bit_tree& members, std::uint32_t leaf,
                                                          std::uint32_t bit) {
  const std::uint64_t word = members.leaf_word(leaf);
  if (word == 0) return none;
  const std::uint64_t after = word & ~std::uint64_t{0} << bit;
  return leaf * bit_tree::leaf_bits + static_cast<std::uint32_t>(lowest_bit(after != 0 ? after : word));
}

WARPHEAP_FN inline std::uint32_t slab_sets::search_leaf(std::uint32_t set, std::uint32_t from) const {
  return first_in_leaf(tree(set), from / bit_tree::leaf_bits, from % bit_tree::leaf_bits);
}

// A member in the leaves [first, end), or `none`: of the first leaf that has one, the first from bit `bit` on, cyclic.
WARPHEAP_FN inline std::uint32_t slab_sets::search_leaves(const bit_tree& members, std::uint32_t first,
                                                          std::uint32_t end, std::uint32_t bit) const {
  for (std::uint32_t leaf = 0; first < end && members.next_leaf(first, leaf) && leaf < end; first = leaf + 1) {
    const std::uint32_t found = first_in_leaf(members, leaf, bit);
    if (found != none) return found;
  }
  return none;
}

WARPHEAP_COLD_FN inline std::uint32_t slab_sets::search(std::uint32_t set, std::uint32_t from) const {
  const bit_tree members = tree(set);
  const std::uint32_t leaf = from / bit_tree::leaf_bits;
  const std::uint32_t bit = from % bit_tree::leaf_bits;
  const auto end = static_cast<std::uint32_t>(divide_up(slabs_, bit_tree::leaf_bits));
  const std::uint32_t found = search_leaves(members, leaf, end, bit);
  return found != none ? found : search_leaves(members, 0, leaf, bit);
}

// A slab of `set`: one that the seed tells, or, if others are faster each time, the lowest; `none` only if the set was
// empty at one moment. One lane.
WARPHEAP_COLD_FN inline std::uint32_t slab_sets::pick_from(std::uint32_t set, std::uint32_t seed) const {
  constexpr std::uint32_t tries = 4;
  for (std::uint32_t i = 0; i < tries; ++i) {
    const std::uint32_t slab = find(set, seed + i);
    if (slab == none) break;
    if (take(slab, set)) return slab;
  }
  std::uint32_t leaf = 0;
  const std::uint64_t bit = tree(set).take_low(lane_bit(), 1, 1, leaf);
  if (bit == 0) return none;
  return leaf * bit_tree::leaf_bits + static_cast<std::uint32_t>(lowest_bit(bit));
}

WARPHEAP_COLD_FN inline auto slab_sets::pick(lane_mask group, set_order order, std::uint32_t seed) const -> picked {
  picked found{none, 0};
  if (is_leader(group)) {
    for (std::uint32_t i = 0; i < order.count && found.slab == none; ++i) {
      found = {pick_from(order.at(i), seed), order.at(i)};
    }
  }
  sync(group);  // what the leader acquired, all lanes did
  return {shuffle(group, found.slab, leader(group)), shuffle(group, found.set, leader(group))};
}

WARPHEAP_FN inline auto slab_sets::begin_snapshot() const -> quiescence_snapshot {
  const quiescence_snapshot before = shared().moves.quiescence();
  fence(memory_order::acquire, thread_scope::device);  // the search comes after the counts
  return before;
}

WARPHEAP_FN inline bool slab_sets::was_quiescent(quiescence_snapshot before) const {
  fence(memory_order::acquire, thread_scope::device);  // what the search read comes before these
  return shared().moves.was_quiescent(before);
}

}  // namespace warpheap
