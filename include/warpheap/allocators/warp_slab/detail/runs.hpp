// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocators/warp_slab/warp_slab.hpp>

// Blocks above the largest class are runs of units. The header of the first tells how many.

namespace warpheap {

// A block of `bytes` bytes at a multiple of `alignment`, or null. One lane.
WARPHEAP_COLD_FN inline void* warp_slab::malloc_run(std::uint64_t bytes, std::uint64_t alignment) const {
  const std::uint64_t heap_bytes = control_->units << classes::unit_shift;
  if (bytes > heap_bytes || alignment > (std::uint64_t{1} << 40)) return nullptr;
  const auto count = static_cast<std::uint32_t>(divide_up(bytes, classes::unit_bytes));
  const auto unit_alignment = static_cast<std::uint32_t>(divide_up(alignment, classes::unit_bytes));
  control_->lock.acquire();
  index_run run = take_units(count, count, unit_alignment);
  if (run.count == 0 && reclaim(lane_bit())) run = take_units(count, count, unit_alignment);
  control_->lock.release();
  if (run.count == 0) return nullptr;
  header(static_cast<std::uint32_t>(run.first)).owner = layout::run_base + count;
  return data_ + (run.first << classes::unit_shift);
}

WARPHEAP_COLD_FN inline void warp_slab::free_run(std::uint32_t unit, std::uint32_t units) const {
  header(unit).owner = 0;
  // Leaf by leaf, and none of it in the caller's registers.
  for (const std::uint32_t end = unit + units; unit != end;) {
    constexpr std::uint32_t bits = bit_tree::leaf_bits;
    const std::uint32_t room = bits - unit % bits;
    const std::uint32_t count = end - unit < room ? end - unit : room;
    free_units().mark(unit / bits, detail::bit_range(unit % bits, count));
    unit += count;
  }
}

}  // namespace warpheap
