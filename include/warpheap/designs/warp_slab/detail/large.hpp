// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/warp_slab/warp_slab.hpp>

// Blocks above the largest class are runs of units (runs.hpp). The header of the first tells how many.

namespace warpheap {

// A block of `bytes` bytes at a multiple of `alignment`, or null.
WARPHEAP_COLD_FN inline void* warp_slab::malloc_run(unsigned long long bytes, unsigned long long alignment) const {
  const std::uint64_t heap_bytes = store().control().units << classes::unit_shift;
  if (bytes > heap_bytes || alignment > (std::uint64_t{1} << 40)) return nullptr;
  const auto count = static_cast<std::uint32_t>(divide_up(bytes, classes::unit_bytes));
  const auto unit_alignment = static_cast<std::uint32_t>(divide_up(alignment, classes::unit_bytes));
  const lane_mask group = warp_request::of(active_group(), &store().control()).lanes;
  std::uint32_t first = 0;
  bool got = unit_alignment == 1 && runs().take_run_at_once(group, count, first);
  const lane_mask rest = ballot(group, !got);
  if (!got) got = runs().take_run_by_turns(rest, count, unit_alignment, first);
  sync(group);
  return got ? begin_run(first, count) : nullptr;
}

// A block of class `c` in units of its own, for lanes to which the class was refused: there is no place for a slab, but
// maybe for a block. Null if no units are free, or if three quarters of a unit and more would be lost: such blocks
// wait for a slab, but in a heap that is smaller than that.
WARPHEAP_COLD_FN inline void* warp_slab::take_without_slab(std::uint32_t c) const {
  const std::uint32_t bytes = classes::bytes(c);
  if (store().control().units < store().units_of(c)) return malloc_run(bytes, 1);
  if (4 * bytes <= classes::unit_bytes) return nullptr;
  const auto count = static_cast<std::uint32_t>(next_power_of_two(divide_up(bytes, classes::unit_bytes)));
  const lane_mask group = warp_request::of(active_group(), &store().control(), count).lanes;
  std::uint32_t first = 0;
  const bool got = runs().take_free_run(group, count, first);
  sync(group);
  return got ? begin_run(first, count) : nullptr;
}

// The block in the run of `count` units from `first` on, which the caller has taken.
WARPHEAP_FN inline void* warp_slab::begin_run(std::uint32_t first, std::uint32_t count) const {
  atomic_view{store().header(first).owner}.store(unit_owner::run(count).value, memory_order::relaxed,
                                                 thread_scope::device);
  return store().data() + (std::uint64_t{first} << classes::unit_shift);
}

// Gives a run back, by a copy of the handle: a call of a member would have each free put the handle in memory.
WARPHEAP_COLD_FN inline void warp_slab::free_run_of(warp_slab self, std::uint32_t unit, std::uint32_t units) {
  self.store().free_run(unit, units);
}

}  // namespace warpheap
