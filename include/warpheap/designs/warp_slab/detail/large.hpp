// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/warp_slab/warp_slab.hpp>

// Blocks above the largest class are runs of units (runs.hpp). The header of the first tells how many.

namespace warpheap {

// A block of `bytes` bytes, more than 0, at a multiple of `alignment` bytes, a power of two, or null. Lanes that call
// together with the same heap wait for one another. Any lanes.
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
  if (!got) return nullptr;
  atomic_view{store().header(first).owner}.store(unit_owner::run(count).value, memory_order::relaxed,
                                                 thread_scope::device);
  return store().data() + (std::uint64_t{first} << classes::unit_shift);
}

// A block of class `c` in units of its own, in a heap that is smaller than a slab of the class; else null. A heap in
// which slabs of the class can lie keeps neighbouring units for them: else single blocks would use up memory that comes
// back unit by unit.
WARPHEAP_COLD_FN inline void* warp_slab::take_without_slab(std::uint32_t c) const {
  return store().control().units < store().units_of(c) ? malloc_run(classes::bytes(c), 1) : nullptr;
}

// Makes the units of a run free, after a release fence. It takes a copy of the handle: for a call of a member each free
// would put the handle in memory. One lane.
WARPHEAP_COLD_FN inline void warp_slab::free_run_of(warp_slab self, std::uint32_t unit, std::uint32_t units) {
  self.store().free_run(unit, units);
}

}  // namespace warpheap
