// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// What warp_slab promises beyond the conformance suite: the sizes of its blocks, and what of a slab they fill.

#include <gtest/gtest.h>

#include <cstdint>
#include <warpheap/heap.hpp>

namespace warpheap::test {
namespace {

using classes = slab_classes;

TEST(warp_slab, a_class_is_the_smallest_that_fits) {
  for (std::uint64_t bytes = 1; bytes <= classes::largest_bytes; ++bytes) {
    const std::uint32_t c = classes::of(bytes);
    ASSERT_LT(c, classes::count);
    ASSERT_GE(classes::bytes(c), bytes);
    ASSERT_TRUE(c == 0 || classes::bytes(c - 1) < bytes);
  }
}

TEST(warp_slab, at_most_a_fifth_is_rounding) {
  for (std::uint64_t bytes = 65; bytes <= classes::largest_bytes; ++bytes) {
    ASSERT_LT((classes::bytes(classes::of(bytes)) - bytes) * 5, classes::bytes(classes::of(bytes)));
  }
}

TEST(warp_slab, a_slab_is_full_of_blocks) {
  for (std::uint32_t c = 0; c < classes::count; ++c) {
    const std::uint64_t slab = classes::units(c) * classes::unit_bytes;
    const std::uint32_t block = classes::bytes(c);
    EXPECT_EQ(classes::blocks(c), slab / block);
    EXPECT_EQ(classes::words(c), (classes::blocks(c) + 31) / 32);
    EXPECT_LE(classes::words(c), classes::most_words);
    EXPECT_TRUE(classes::blocks(c) >= 32 || classes::units(c) == classes::most_units);
    for (std::uint32_t offset = 0; offset < classes::blocks(c) * block; ++offset) {
      ASSERT_EQ(classes::block_at(c, offset), offset / block);
    }
  }
}

TEST(warp_slab, hints_say_whose_they_are) {
  for (std::uint32_t c = 0; c < classes::count; ++c) {
    for (const std::uint32_t place : {0u, 77u, (1u << 25) - 1}) {
      const slab_hints hints = slab_hints::make(c, place, 0x80000001);
      const slab_hints fewer{hints.without(0x80000000)};
      EXPECT_TRUE(fewer.is_of(c) && !fewer.is_of(c + 1));
      EXPECT_EQ(fewer.place(), place);
      EXPECT_EQ(fewer.words(), 1u);
      EXPECT_EQ(fewer.with(0x80000000), hints.value);
    }
  }
}

}  // namespace
}  // namespace warpheap::test
