// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <warpheap/platform/bits.hpp>
#include <warpheap/platform/check.hpp>

namespace warpheap::target {

template <class Word>
int popcount(Word word) {
  return std::popcount(word);
}
template <class Word>
int count_trailing_zeros(Word word) {
  return std::countr_zero(word);
}
template <class Word>
int count_leading_zeros(Word word) {
  return std::countl_zero(word);
}
inline int lowest_bit(std::uint32_t word) { return std::countr_zero(word); }
inline int highest_bit(std::uint32_t word) { return 31 - std::countl_zero(word); }
inline void split(std::uint64_t word, std::uint32_t& low, std::uint32_t& high) {
  low = static_cast<std::uint32_t>(word);
  high = static_cast<std::uint32_t>(word >> 32);
}
// For a bit that is not there the instructions of a GPU give 31 and these would give 32, so what goes well here would
// fail there.
inline int nth_set_bit(std::uint32_t word, int rank) {
  require(rank >= 0 && rank < popcount(word), "nth_set_bit: the word has no set bit of this rank");
  while (rank-- > 0) word &= word - 1;
  return std::countr_zero(word);
}
inline std::uint32_t rotate_left(std::uint32_t word, std::uint32_t count) {
  return std::rotl(word, static_cast<int>(count));
}

}  // namespace warpheap::target
