// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>

// Bits of a word of a bitmap that stand for neighbours, or are counted.

namespace warpheap::detail {

/// A word with the `count` bits from `first` on; `count` from 1 to 64, and no bit beyond the word.
WARPHEAP_FN constexpr std::uint64_t bit_range(std::uint32_t first, std::uint64_t count) {
  return (~std::uint64_t{0} >> (64 - count)) << first;
}

/// Number of set bits of `word` from bit 0 on without a gap.
WARPHEAP_FN inline std::uint32_t trailing_ones(std::uint64_t word) {
  return ~word == 0 ? 64 : static_cast<std::uint32_t>(lowest_bit(~word));
}

/// Index of the set bit of `marks` that has `rank` set bits below it; 64 if `marks` has too few.
WARPHEAP_FN inline std::uint32_t nth_mark(std::uint64_t marks, int rank) {
  return rank < popcount(marks) ? static_cast<std::uint32_t>(nth_set_bit(marks, rank)) : 64;
}

}  // namespace warpheap::detail
