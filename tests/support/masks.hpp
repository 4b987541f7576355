// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <support/random.hpp>
#include <vector>
#include <warpheap/platform.hpp>

namespace warpheap::test {

/// All lanes of a warp.
inline constexpr lane_mask full_warp = low_bits(warp_width);

/// Masks of every kind: full, each single lane's neighbourhood, halves, ends, stripes, and random ones. None is empty.
inline std::vector<lane_mask> mask_zoo(std::uint64_t seed) {
  std::vector<lane_mask> masks{full_warp,   1,           0x80000000u, 0x80000001u, 0x0000ffffu, 0xffff0000u,
                               0x55555555u, 0xaaaaaaaau, 0x7fffffffu, 0xfffffffeu, 0x00ff0100u};
  random_stream random{seed, 0};
  for (int i = 0; i < 12; ++i) masks.push_back(static_cast<lane_mask>(random.below(std::uint64_t{1} << 32)));
  for (lane_mask& mask : masks) {
    mask &= full_warp;
    if (mask == 0) mask = 1;
  }
  return masks;
}

/// The lane's part of a partition of its warp by `mask`: the lanes of `mask`, or the others.
WARPHEAP_FN inline lane_mask side_of(lane_mask mask) { return (mask & lane_bit()) != 0 ? mask : full_warp & ~mask; }

}  // namespace warpheap::test
