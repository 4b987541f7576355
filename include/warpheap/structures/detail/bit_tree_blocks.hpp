// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/structures/bit_tree.hpp>

// Runs of aligned blocks, found by a whole group: a block lies within one leaf, so each lane looks at another one.
//
// Since nobody else takes, what was there when the search began is there until it comes by. So if it finds nothing,
// nothing was there when it began, unless a bit above a leaf was missing: then the counts of changes tell.

namespace warpheap {
namespace detail {

// The bits of `word` with which blocks of `size` set bits begin.
WARPHEAP_FN inline std::uint64_t blocks_of(std::uint64_t word, std::uint32_t size) {
  std::uint64_t multiples = 1;
  for (std::uint32_t step = 1; step < size; step *= 2) word &= word >> step;
  for (std::uint32_t step = size; step < 64; step *= 2) multiples |= multiples << step;
  return word & multiples;
}

}  // namespace detail

WARPHEAP_COLD_FN inline index_run bit_tree::take_blocks(lane_mask group, std::uint32_t size, std::uint32_t most) const {
  const blocks wanted{size, most};  // in memory, so that it needs no registers
  index_run run = search_blocks(group, wanted);
  const std::uint64_t end = run.first + run.count;
  const std::uint32_t rest = size * most - static_cast<std::uint32_t>(run.count);
  if (run.count != 0 && rest != 0 && end % leaf_bits == 0) {
    run.count += extend(group, static_cast<std::uint32_t>(end / leaf_bits), rest, size);
  }
  return run;
}

// Those of them that lie in the first leaf with such a block. Collective.
WARPHEAP_COLD_FN inline index_run bit_tree::search_blocks(lane_mask group, const blocks& wanted) const {
  std::uint32_t leaf = 0;
  if (!find_blocks(group, leaf, wanted.size)) return {0, 0};
  index_run run{0, 0};
  if (is_leader(group)) run = blocks_from_leaf(leaf, wanted);
  return {shuffle(group, run.first, leader(group)), shuffle(group, run.count, leader(group))};
}

// The first leaf with a block of `size`; false if at one moment of the call there was none. Collective.
WARPHEAP_COLD_FN inline bool bit_tree::find_blocks(lane_mask group, std::uint32_t& leaf, std::uint32_t size) const {
  for (;;) {  // not a spin: it searches anew, and pauses in between
    const watch before = begin_watch();
    sync(group);
    if (look_for_blocks(group, leaf, size)) return true;
    // Members that were on their way in may have been missed.
    if (any(group, is_leader(group) && was_quiet(before))) return false;
    backoff{}.pause();
  }
}

// One pass over the set. Collective.
WARPHEAP_COLD_FN inline bool bit_tree::look_for_blocks(lane_mask group, std::uint32_t& leaf, std::uint32_t size) const {
  for (std::uint32_t from = 0;; from += static_cast<std::uint32_t>(group_size(group))) {
    // not a spin: each turn goes on to later leaves
    bool found = false;
    if (is_leader(group)) found = next_leaf(from, from);
    if (!any(group, found)) return false;
    from = shuffle(group, from, leader(group));
    const std::uint32_t mine = from + static_cast<std::uint32_t>(group_rank(group));
    const lane_mask having = ballot(group, is_shown(mine) && detail::blocks_of(leaf_word(mine), size) != 0);
    if (having == 0) continue;
    leaf = shuffle(group, mine, leader(having));
    return true;
  }
}

// The blocks that lie in `leaf`, which has one. One lane.
WARPHEAP_COLD_FN inline index_run bit_tree::blocks_from_leaf(std::uint32_t leaf, const blocks& wanted) const {
  const std::uint64_t word = leaf_word(leaf);
  const auto first = static_cast<std::uint32_t>(lowest_bit(detail::blocks_of(word, wanted.size)));
  const std::uint32_t length = detail::trailing_ones(word >> first) & ~(wanted.size - 1);
  const std::uint32_t most = wanted.size * wanted.most;
  const std::uint32_t count = length < most ? length : most;
  const std::uint64_t mask = detail::bit_range(first, count);
  const std::uint64_t before = leaf_view(leaf).fetch_and(~mask, memory_order::acquire, thread_scope::device);
  if ((before & ~mask) == 0) hide(leaf);
  return {std::uint64_t{leaf} * leaf_bits + first, count};
}

}  // namespace warpheap
