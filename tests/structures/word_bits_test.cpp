// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Bits of a bitmap's word that stand for neighbours are found as by counting one by one.

#include <gtest/gtest.h>

#include <cstdint>
#include <warpheap/structures.hpp>

namespace warpheap::test::word_bits {
namespace {

TEST(word_bits, a_range_has_its_bits_and_no_others) {
  for (std::uint32_t first = 0; first < 64; ++first) {
    for (std::uint32_t count = 1; first + count <= 64; ++count) {
      std::uint64_t expected = 0;
      for (std::uint32_t i = 0; i < count; ++i) expected |= std::uint64_t{1} << (first + i);
      EXPECT_EQ(detail::bit_range(first, count), expected) << count << " from " << first;
    }
  }
}

TEST(word_bits, trailing_ones_end_at_the_first_gap) {
  EXPECT_EQ(detail::trailing_ones(0), 0u);
  EXPECT_EQ(detail::trailing_ones(~std::uint64_t{0}), 64u);
  for (std::uint32_t count = 1; count < 64; ++count) {
    const std::uint64_t ones = detail::bit_range(0, count);
    EXPECT_EQ(detail::trailing_ones(ones), count);
    EXPECT_EQ(detail::trailing_ones(~(std::uint64_t{1} << count)), count) << "with bits above the gap";
  }
}

TEST(word_bits, a_mark_is_found_by_its_rank_or_not_at_all) {
  for (const std::uint64_t marks : {std::uint64_t{0}, std::uint64_t{1} << 63, ~std::uint64_t{0},
                                    std::uint64_t{0x8000'0001'8000'0001}, std::uint64_t{0x00f0'0000'0000'0f00}}) {
    int rank = 0;
    for (std::uint32_t place = 0; place < 64; ++place) {
      if ((marks >> place & 1) == 0) continue;
      EXPECT_EQ(detail::nth_mark(marks, rank), place) << "marks " << marks;
      ++rank;
    }
    EXPECT_EQ(detail::nth_mark(marks, rank), 64u) << "marks " << marks << " have no rank " << rank;
  }
}

}  // namespace
}  // namespace warpheap::test::word_bits
