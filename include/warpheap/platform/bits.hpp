// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/annotation.hpp>
#include <warpheap/platform/standard.hpp>

#if defined(WARPHEAP_BACKEND_CUDA)
#include <warpheap/platform/cuda/bits.hpp>
#else
#include <warpheap/platform/host/bits.hpp>
#endif

namespace warpheap {

/// Number of set bits.
WARPHEAP_FN inline int popcount(std::uint32_t word) { return target::popcount(word); }
/// Number of set bits.
WARPHEAP_FN inline int popcount(std::uint64_t word) { return target::popcount(word); }
/// Index of the lowest set bit. `word` must not be 0.
WARPHEAP_FN inline int lowest_bit(std::uint32_t word) { return target::lowest_bit(word); }
/// Index of the lowest set bit. `word` must not be 0.
WARPHEAP_FN inline int lowest_bit(std::uint64_t word) { return target::count_trailing_zeros(word); }
/// Index of the highest set bit, the floor of the binary logarithm. `word` must not be 0.
WARPHEAP_FN inline int highest_bit(std::uint32_t word) { return target::highest_bit(word); }
/// Index of the highest set bit, the floor of the binary logarithm. `word` must not be 0.
WARPHEAP_FN inline int highest_bit(std::uint64_t word) { return 63 - target::count_leading_zeros(word); }

/// The two halves of a word.
struct word_halves {
  std::uint32_t low;   ///< bits 0 to 31
  std::uint32_t high;  ///< bits 32 to 63
};
/// The halves of `word`. A GPU has them in registers of their own; asked for by shifts and masks, nvcc computes with
/// all 64 bits where 32 would do.
WARPHEAP_FN inline word_halves split(std::uint64_t word) {
  word_halves halves{};
  target::split(word, halves.low, halves.high);
  return halves;
}

/// `word` with its bits moved up by `count`, from 0 to 31, and those that leave it at the top come in at the bottom.
WARPHEAP_FN inline std::uint32_t rotate_left(std::uint32_t word, std::uint32_t count) {
  return target::rotate_left(word, count);
}

/// A word whose `count` lowest bits are set; `count` from 0 to 32.
WARPHEAP_FN constexpr std::uint32_t low_bits(int count) {
  return count >= 32 ? ~std::uint32_t{0} : (std::uint32_t{1} << count) - 1;
}

/// Index of the set bit that has exactly `rank` set bits below it. `word` must have more than `rank` set bits.
WARPHEAP_FN inline int nth_set_bit(std::uint32_t word, int rank) { return target::nth_set_bit(word, rank); }
/// Index of the set bit that has exactly `rank` set bits below it. `word` must have more than `rank` set bits.
WARPHEAP_FN inline int nth_set_bit(std::uint64_t word, int rank) {
  const auto low = static_cast<std::uint32_t>(word);
  const int in_low = popcount(low);
  if (rank < in_low) return nth_set_bit(low, rank);
  return 32 + nth_set_bit(static_cast<std::uint32_t>(word >> 32), rank - in_low);
}
/// The `count` lowest set bits of `word`, which must have more set bits than that.
WARPHEAP_FN inline std::uint32_t lowest_set_bits(std::uint32_t word, int count) {
  return word & low_bits(nth_set_bit(word, count));
}

/// True for 1, 2, 4, 8, …; false for 0.
WARPHEAP_FN constexpr bool is_power_of_two(std::uint64_t value) { return value != 0 && (value & (value - 1)) == 0; }

/// `value` rounded up to a multiple of `alignment`, a power of two. The caller keeps the sum below 2^64.
WARPHEAP_FN constexpr std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}

/// `value` rounded down to a multiple of `alignment`, a power of two.
WARPHEAP_FN constexpr std::uint64_t align_down(std::uint64_t value, std::uint64_t alignment) {
  return value & ~(alignment - 1);
}

/// `dividend / divisor`, rounded up.
WARPHEAP_FN constexpr std::uint64_t divide_up(std::uint64_t dividend, std::uint64_t divisor) {
  return dividend / divisor + (dividend % divisor != 0);
}

/// The smallest power of two that is not below `value`; 1 for 0. `value` must not exceed 2^63.
WARPHEAP_FN inline std::uint64_t next_power_of_two(std::uint64_t value) {
  return value <= 1 ? 1 : std::uint64_t{1} << (highest_bit(value - 1) + 1);
}

}  // namespace warpheap
