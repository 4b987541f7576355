// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

#include "buddy_system.hpp"

namespace warpheap::test {

INSTANTIATE_TYPED_TEST_SUITE_P(buddy_tree, buddy_system, buddy_tree);

namespace {

struct take_one_kernel {
  WARPHEAP_FN void operator()(buddy_tree tree, std::uint32_t* owners) const {
    const std::uint32_t page = tree.take(active_group(), 0);
    require(page != buddy_tree::none, "a page was refused that is there");
    own(owners, page, 0);
  }
};

/// Takes all blocks of an order that there are.
struct count_blocks_kernel {
  WARPHEAP_FN void operator()(buddy_tree tree, std::uint32_t order, std::uint32_t* count) const {
    while (tree.take(order) != buddy_tree::none) ++*count;
  }
};

std::uint32_t take_all(const pages<buddy_tree>& of, std::uint32_t order) {
  const device_array<std::uint32_t> count(1);
  launch({1, 1}, count_blocks_kernel{}, of.tree(), order, count.data());
  return count.at(0);
}

}  // namespace

// Many come at once to units that are all whole, and need no more than one of the largest, and few of the next.
TEST(buddy_tree_turns, units_that_nobody_needs_stay_whole) {
  constexpr std::uint32_t largest = 1u << 18;
  constexpr std::uint32_t end = 2 * largest;
  for_each_schedule([](std::uint64_t) {
    const pages<buddy_tree> all(0, end);
    all.add(0, end);
    launch({32, 2 * warp_width}, take_one_kernel{}, all.tree(), all.owners());  // 64 warps, however wide
    EXPECT_EQ(all.free(), end - 64 * warp_width);
    EXPECT_EQ(take_all(all, 18), 1u) << "both of the largest units were broken for pages of one";
    // Eight may break at a time, and who found nothing just before may break one more when it is its turn: of 6,000
    // schedules the worst left 36 of 64 whole; without turns 3.
    EXPECT_GE(take_all(all, 12), 24u) << "more units were broken than are needed";
  });
}

}  // namespace warpheap::test
