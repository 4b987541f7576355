// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Each order of frees frees each block once, and is the order that its name says.

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "measure/free_order.hpp"

namespace warpheap::bench::free_order_test {
namespace {

std::vector<std::uint64_t> freed(free_order order, std::uint64_t count, std::uint64_t salt = 1) {
  const freed_block which{order, count, salt};
  std::vector<std::uint64_t> blocks;
  for (std::uint64_t i = 0; i < count; ++i) blocks.push_back(which(i));
  return blocks;
}

TEST(freed_blocks, are_all_blocks_once) {
  for (const free_order order :
       {free_order::as_allocated, free_order::reversed, free_order::shuffled, free_order::other_block}) {
    for (const std::uint64_t count :
         {1, 2, 3, 4, 5, 7, 8, 9, 33, 255, 256, 257, 511, 512, 513, 1000, 1024, 1025, 100'000}) {
      for (const std::uint64_t salt : {1, 2, 3}) {
        std::vector<bool> seen(count);
        for (const std::uint64_t block : freed(order, count, salt)) {
          ASSERT_LT(block, count);
          ASSERT_FALSE(seen[block]) << "block " << block << " of " << count << " is freed twice";
          seen[block] = true;
        }
      }
    }
  }
}

TEST(freed_blocks, are_in_order) {
  EXPECT_EQ(freed(free_order::as_allocated, 4), (std::vector<std::uint64_t>{0, 1, 2, 3}));
  EXPECT_EQ(freed(free_order::reversed, 4), (std::vector<std::uint64_t>{3, 2, 1, 0}));
}

TEST(freed_blocks, are_in_no_order) {
  for (const std::uint64_t count : {1000, 65'536, 100'000}) {
    const std::vector<std::uint64_t> blocks = freed(free_order::shuffled, count);
    std::uint64_t in_place = 0;
    std::uint64_t neighbours = 0;
    std::uint64_t same_quarter = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      in_place += blocks[i] == i;
      const std::uint64_t next = blocks[(i + 1) % count];
      neighbours += next == blocks[i] + 1 || next + 1 == blocks[i];
      same_quarter += next * 4 / count == blocks[i] * 4 / count;
    }
    // Of a random order one each, two each, and a quarter.
    EXPECT_LT(in_place, 20u) << count;
    EXPECT_LT(neighbours, 20u) << count;
    EXPECT_NEAR(static_cast<double>(same_quarter) / static_cast<double>(count), 0.25, 0.06) << count;
  }
}

TEST(freed_blocks, are_shuffled_otherwise_in_each_round) {
  EXPECT_EQ(freed(free_order::shuffled, 1000, 1), freed(free_order::shuffled, 1000, 1));
  EXPECT_NE(freed(free_order::shuffled, 1000, 1), freed(free_order::shuffled, 1000, 2));
}

TEST(freed_blocks, are_of_the_same_place_in_another_block) {
  constexpr std::uint64_t threads = freed_block::block_threads;
  for (const std::uint64_t count : {freed_block::least_for_other_block, 2 * threads + 1, 3 * threads - 1, 100'000ul}) {
    const std::vector<std::uint64_t> blocks = freed(free_order::other_block, count);
    for (std::uint64_t i = 0; i < count; ++i) {
      ASSERT_EQ(blocks[i] % threads, i % threads);
      ASSERT_NE(blocks[i] / threads, i / threads) << "thread " << i << " of " << count;
    }
  }
}

}  // namespace
}  // namespace warpheap::bench::free_order_test
