// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/warp_slab/warp_slab.hpp>

// Units that leave the heap for a while: those that are in the set of free ones, and nothing else changes for them.

namespace warpheap {

WARPHEAP_FN inline void warp_slab::coalesce() const {
  if (block_index() != 0 || thread_index() >= warp_width) return;
  const lane_mask group = active_group();
  control_->lock.hold(group, [&] {
    while (reclaim(group, static_cast<std::uint32_t>(control_->units))) {  // not a spin: each turn takes slabs back
    }
  });
}

WARPHEAP_FN inline void warp_slab::withdraw(std::uint64_t* units) const {
  const bit_tree set = free_units();
  const std::uint64_t leaves = divide_up(control_->units, bit_tree::leaf_bits);
  for (std::uint64_t i = grid_thread_index(); i < leaves; i += grid_threads()) {
    const auto leaf = static_cast<std::uint32_t>(i);
    std::uint64_t taken = 0;
    for (std::uint64_t left = set.leaf_word(leaf); left != 0;) {  // not a spin: one turn a run of neighbours
      const int first = lowest_bit(left);
      const std::uint32_t count = detail::trailing_ones(left >> first);
      const std::uint64_t run = detail::bit_range(first, count);
      if (set.take_exactly({i * bit_tree::leaf_bits + first, count})) taken |= run;
      left &= ~run;
    }
    units[i] = taken;
  }
}

WARPHEAP_FN inline void warp_slab::restore(const std::uint64_t* units) const {
  const std::uint64_t leaves = divide_up(control_->units, bit_tree::leaf_bits);
  for (std::uint64_t i = grid_thread_index(); i < leaves; i += grid_threads()) {
    if (units[i] != 0) free_units().add(static_cast<std::uint32_t>(i), units[i]);
  }
}

}  // namespace warpheap
