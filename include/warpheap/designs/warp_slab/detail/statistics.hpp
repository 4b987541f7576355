// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/warp_slab/warp_slab.hpp>

// What the heap has, counted by a grid that reads the header of each unit. Exact while no other kernel uses the heap.
// Else a unit may be counted twice, as what it was and as what it becomes, but no slab has more free blocks than
// blocks.

namespace warpheap {

// Calls `of_slab(class, free blocks)` for each slab and `of_run(units)` for each run whose first unit falls to the
// caller.
template <class OfSlab, class OfRun>
WARPHEAP_FN void warp_slab::visit_units(OfSlab of_slab, OfRun of_run) const {
  for (std::uint64_t i = grid_thread_index(); i < store().control().units; i += grid_threads()) {
    const auto unit = static_cast<std::uint32_t>(i);
    const unit_owner owner{atomic_view{store().header(unit).owner}.load(memory_order::relaxed, thread_scope::device)};
    if (owner.is_run()) {
      of_run(owner.run_units());
    } else if (owner.is_slab() && owner.below() == 0) {
      std::uint32_t free_blocks = 0;
      const std::uint32_t c = owner.of_class();
      for (std::uint32_t w = 0; w < store().words_of(c); ++w) {
        const slab_word each{
            store().word(word_number::make(unit, w)).load(memory_order::relaxed, thread_scope::device)};
        free_blocks += static_cast<std::uint32_t>(popcount(each.free_of(c) & store().all_blocks(c, w)));
      }
      of_slab(c, free_blocks);
    }
  }
}

WARPHEAP_FN inline void warp_slab::tally(warp_slab_tally& sums) const {
  visit_units(
      [&](std::uint32_t c, std::uint32_t free_blocks) {
        add_to_sum(sums.slabs[c], 1);
        add_to_sum(sums.free_blocks[c], free_blocks);
      },
      [&](std::uint32_t units) {
        add_to_sum(sums.large_blocks, 1);
        add_to_sum(sums.large_units, units);
      });
  const std::uint64_t leaves = divide_up(store().control().units, bit_tree::leaf_bits);
  for (std::uint64_t i = grid_thread_index(); i < leaves; i += grid_threads()) {
    const std::uint64_t leaf = store().free_units().leaf_word(static_cast<std::uint32_t>(i));
    add_to_sum(sums.free_units, static_cast<std::uint64_t>(popcount(leaf)));
  }
}

WARPHEAP_FN inline void warp_slab::count(allocator_counts& counts) const {
  std::uint64_t live = 0;
  visit_units(
      [&](std::uint32_t c, std::uint32_t free_blocks) {
        live += std::uint64_t{store().blocks_of(c) - free_blocks} * classes::bytes(c);
      },
      [&](std::uint32_t units) { live += std::uint64_t{units} << classes::unit_shift; });
  add_to_sum(counts.live_bytes, live);
}

}  // namespace warpheap
