// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

#include "buddy_system.hpp"

namespace warpheap::test::buddy_tree_test {

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

/// Of random words the lowest bits, and the blocks that are picked, as loops over the bits tell.
struct pick_kernel {
  WARPHEAP_FN void operator()(std::uint64_t seed) const {
    random_stream random{seed, grid_thread_index()};
    for (int i = 0; i < 200; ++i) {
      std::uint64_t word = random.below(~std::uint64_t{0}) | random.below(~std::uint64_t{0});
      if (i % 2 == 0) word &= random.below(~std::uint64_t{0}) << random.below(64);
      if (i == 0) word = ~std::uint64_t{0};
      for (std::uint32_t count = 1; count < static_cast<std::uint32_t>(popcount(word)); ++count) {
        require(detail::lowest_set(word, count) == lowest(word, count), "not the lowest bits");
      }
      const auto order = static_cast<std::uint32_t>(random.below(6));
      const auto most = 1 + static_cast<std::uint32_t>(random.below(40));
      check_pick(word, order, most);
    }
  }

  WARPHEAP_FN static std::uint64_t lowest(std::uint64_t word, std::uint32_t count) {
    std::uint64_t picked = 0;
    for (; count != 0; --count) picked |= (word & ~picked) & (~(word & ~picked) + 1);
    return picked;
  }

  // As many as there are, free ones; and none whose buddy is free if one is left whose buddy is not.
  WARPHEAP_FN static void check_pick(std::uint64_t word, std::uint32_t order, std::uint32_t most) {
    const std::uint64_t starts = detail::block_starts(word, order);
    const std::uint64_t pairs = detail::block_bits(detail::block_starts(word, order + 1), order + 1);
    const std::uint64_t picked = detail::pick_blocks(word, order, most);
    const auto there = static_cast<std::uint32_t>(popcount(starts));
    require((picked & ~starts) == 0, "what is picked is not free");
    require(static_cast<std::uint32_t>(popcount(picked)) == (there < most ? there : most), "too few or too many");
    require((picked & pairs) == 0 || (starts & ~pairs & ~picked) == 0, "a pair was broken before a single one");
  }
};

/// Takes the three blocks of `order` that there are and gives back those from `behind` on; then takes a page.
struct use_up_front_kernel {
  WARPHEAP_FN void operator()(buddy_tree tree, std::uint32_t order, std::uint32_t behind) const {
    for (int i = 0; i < 3; ++i) require(tree.take(order) != buddy_tree::none, "there are three");
    for (std::uint32_t i = 0; i < 2; ++i) tree.give(behind + (i << order), order);
    require(tree.take(0) >= behind, "taken already");
  }
};

std::uint32_t take_all(const pages<buddy_tree>& of, std::uint32_t order) {
  const device_array<std::uint32_t> count(1);
  launch({1, 1}, count_blocks_kernel{}, of.tree(), order, count.data());
  return count.at(0);
}

}  // namespace

TEST(buddy_tree_words, picks_blocks_whose_buddies_are_not_free_first) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) launch({1, 8}, pick_kernel{}, seed);
}

// The top rank has a word for each 2^24 pages. Before such a border all is taken, and past it a unit is broken.
TEST(buddy_tree_words, what_is_broken_behind_a_border_of_the_top_rank_is_found) {
  constexpr std::uint32_t border = 1u << 24;
  constexpr std::uint32_t unit = 1u << 12;
  for_each_schedule(
      [](std::uint64_t) {
        const pages<buddy_tree> all(border - unit, border + 2 * unit);
        all.add(border - unit, 3 * unit);
        launch({1, 1}, use_up_front_kernel{}, all.tree(), 12u, border);
        // Fewer than there are units of 64 pages, since each may break one.
        launch({32, 1}, take_one_kernel{}, all.tree(), all.owners());
        EXPECT_EQ(all.free(), 2 * unit - 1 - 32);
        EXPECT_EQ(take_all(all, 12), 1u) << "a unit was broken although another is";
      },
      2);
}

// Many come at once to units that are all whole, and need no more than one of the largest, and few of the next. One
// worker: how many units break depends on the schedule, and with two the system decides over it.
TEST(buddy_tree_turns, units_that_nobody_needs_stay_whole) {
  constexpr std::uint32_t largest = 1u << 18;
  constexpr std::uint32_t end = 2 * largest;
  for_each_seed(schedule::policy::random, 3, [](std::uint64_t) {
    const pages<buddy_tree> all(0, end);
    all.add(0, end);
    launch({32, 2 * warp_width}, take_one_kernel{}, all.tree(), all.owners());  // 64 warps, however wide
    EXPECT_EQ(all.free(), end - 64 * warp_width);
    EXPECT_EQ(take_all(all, 18), 1u) << "both of the largest units were broken for pages of one";
    // Eight may break at a time, and who found nothing just before may break one more when it is its turn: of 2,400
    // schedules the worst left 34 of 64 whole; without turns 3.
    EXPECT_GE(take_all(all, 12), 24u) << "more units were broken than are needed";
  });
}

}  // namespace warpheap::test::buddy_tree_test
