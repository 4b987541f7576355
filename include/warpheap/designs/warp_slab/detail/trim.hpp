// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/warp_slab/warp_slab.hpp>

// Units that leave the heap for a while: those that are in the set of free ones, and nothing else changes for them.

namespace warpheap {

WARPHEAP_FN inline void warp_slab::coalesce() const {
  if (block_index() != 0 || thread_index() >= warp_width) return;
  const lane_mask group = active_group();
  store().control().lock.hold(group, [&] {
    const auto units = static_cast<std::uint32_t>(store().control().units);
    while (reclamation().reclaim(group, units)) {  // not a spin: each turn takes slabs back
    }
  });
}

WARPHEAP_FN inline void warp_slab::withdraw(std::uint64_t* taken) const {
  store().units().withdraw(store().control().units, taken, grid_thread_index(), grid_threads());
}

WARPHEAP_FN inline void warp_slab::restore(const std::uint64_t* given) const {
  store().units().restore(store().control().units, given, grid_thread_index(), grid_threads());
}

}  // namespace warpheap
