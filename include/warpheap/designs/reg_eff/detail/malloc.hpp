// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/reg_eff/reg_eff.hpp>

// malloc. Each lane walks by itself: lanes of a warp that begin at one cursor read the same headers at once.

namespace warpheap {

template <reg_eff_options Options>
WARPHEAP_FN void* basic_reg_eff<Options>::malloc(std::uint64_t bytes) const {
  if (bytes > layout::largest_bytes) return nullptr;
  return block_at(ring().take(ring_request{static_cast<std::uint32_t>(divide_up(bytes, layout::granule))}));
}

template <reg_eff_options Options>
WARPHEAP_FN void* basic_reg_eff<Options>::aligned_malloc(std::uint64_t alignment, std::uint64_t bytes) const {
  if (alignment <= layout::granule) return malloc(bytes);
  if (bytes > layout::largest_bytes || alignment > layout::largest_alignment) return nullptr;
  // Places are multiples of the alignment, as addresses, and far enough from each other for the size.
  const auto units = static_cast<std::uint32_t>(divide_up(bytes, layout::granule));
  const auto step = static_cast<std::uint32_t>(align_up(bytes, alignment) / layout::granule);
  const auto before = reinterpret_cast<std::uint64_t>(data_) & (alignment - 1);
  const auto phase = static_cast<std::uint32_t>((before == 0 ? 0 : alignment - before) / layout::granule);
  const aligned_ring_request wanted{units, step, phase};
  return block_at(cold_call([list = ring(), wanted] { return list.take(wanted); }));
}

}  // namespace warpheap
