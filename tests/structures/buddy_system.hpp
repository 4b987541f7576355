// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What both buddy systems promise, the buddy tree and the paper's states: blocks are aligned to their size, nobody gets
// a page of another's, nothing is refused that is there, nothing is lost, and what is free is whole again when all came
// back.

#include <gtest/gtest.h>

#include <cstdint>
#include <support/random.hpp>
#include <support/scale.hpp>
#include <support/schedules.hpp>
#include <vector>
#include <warpheap/structures.hpp>

namespace warpheap::test {

struct add_kernel {
  template <class Tree>
  WARPHEAP_FN void operator()(Tree tree, std::uint32_t first, std::uint32_t count) const {
    tree.add(first, count);
  }
};

struct count_kernel {
  template <class Tree>
  WARPHEAP_FN void operator()(Tree tree, std::uint32_t end, std::uint64_t* sum) const {
    *sum = tree.free_pages(end);
  }
};

/// Device memory of a system whose pages lie in [first, end), and a plain word for each page.
template <class Tree>
class pages {
 public:
  pages(std::uint32_t first, std::uint32_t end)
      : end_(end),
        first_span_(first / Tree::span_pages),
        upper_(1),
        spans_(divide_up(end, Tree::span_pages) - first_span_),
        owners_(end) {}

  Tree tree() const { return {upper_.data(), spans_.data(), first_span_}; }
  /// For each page, who has it.
  std::uint32_t* owners() const { return owners_.data(); }

  void add(std::uint32_t first, std::uint32_t count) const { launch({1, 1}, add_kernel{}, tree(), first, count); }
  std::uint64_t free() const {
    const device_array<std::uint64_t> sum(1);
    launch({1, 1}, count_kernel{}, tree(), end_, sum.data());
    return sum.at(0);
  }

 private:
  std::uint32_t end_;
  std::uint32_t first_span_;
  device_array<typename Tree::state> upper_;
  device_array<typename Tree::span> spans_;
  device_array<std::uint32_t> owners_;
};

template <class Tree>
class buddy_system : public ::testing::Test {};
TYPED_TEST_SUITE_P(buddy_system);

/// Plain writes, so that ThreadSanitizer sees pages that change hands without order.
WARPHEAP_FN inline void own(std::uint32_t* owners, std::uint32_t page, std::uint32_t order) {
  require((page & ((1u << order) - 1)) == 0, "a block is not aligned to its size");
  // The ends and a few between tell as much as all, and large blocks are large.
  const std::uint32_t step = order > 8 ? 1u << (order - 8) : 1;
  for (std::uint32_t i = 0; i < 1u << order; i += step) {
    require(owners[page + i] == 0, "a page has two owners");
    owners[page + i] = static_cast<std::uint32_t>(grid_thread_index()) + 1;
  }
}
WARPHEAP_FN inline void disown(std::uint32_t* owners, std::uint32_t page, std::uint32_t order) {
  const std::uint32_t step = order > 8 ? 1u << (order - 8) : 1;
  for (std::uint32_t i = 0; i < 1u << order; i += step) {
    require(owners[page + i] == static_cast<std::uint32_t>(grid_thread_index()) + 1, "a page lost its owner");
    owners[page + i] = 0;
  }
}

/// One lane, and the results are known.
struct steps_kernel {
  template <class Tree>
  WARPHEAP_FN void operator()(Tree tree) const {
    require(tree.take(0) == buddy_tree::none, "a block of nothing");
    tree.add(4096, 4096);
    const std::uint32_t whole = tree.take(12);
    require(whole == 4096 && tree.take(0) == buddy_tree::none, "one block of the largest order");
    tree.give(whole, 12);
    require(tree.take(13) == buddy_tree::none, "a block larger than all");
    const std::uint32_t page = tree.take(0);
    require(page != buddy_tree::none && tree.take(12) == buddy_tree::none, "a page is missing in the whole");
    const std::uint32_t half = tree.take(11);
    require(half % 2048 == 0 && (half < 6144) != (page < 6144), "the other half is whole");
    const std::uint32_t pair = tree.take(1);
    require(pair / 4 == page / 4 && pair % 2 == 0, "broken blocks are used first");
    tree.give(page, 0);
    tree.give(half, 11);
    require(tree.take(12) == buddy_tree::none, "two pages are missing in the whole");
    tree.give(pair, 1);
    require(tree.take(12) == 4096, "all came back and is whole");
    tree.give(4096, 12);
    // More pages in front, which make a larger block with those.
    tree.add(0, 4096);
    require(tree.take(13) == 0, "what was added has merged");
    tree.give(0, 13);
  }
};

TYPED_TEST_P(buddy_system, breaks_and_merges_as_it_says) {
  const pages<TypeParam> all(0, 8192);
  launch({1, 1}, steps_kernel{}, all.tree());
  EXPECT_EQ(all.free(), 8192u);
}

/// The largest blocks that a range of pages has, as arithmetic tells: each order's number.
inline std::vector<std::uint32_t> blocks_of(std::uint32_t first, std::uint32_t end) {
  std::vector<std::uint32_t> count(buddy_tree::largest_order + 1);
  while (first != end) {
    std::uint32_t order = 0;
    while (order < buddy_tree::largest_order && first % (2u << order) == 0 && first + (2u << order) <= end) ++order;
    ++count[order];
    first += 1u << order;
  }
  return count;
}

/// Each thread takes blocks of `order` until no block is free.
struct fill_buddy_kernel {
  template <class Tree>
  WARPHEAP_FN void operator()(Tree tree, std::uint32_t* owners, std::uint32_t order, std::uint32_t* blocks,
                              std::uint32_t* count, bool together) const {
    for (std::uint32_t page = 0; page != buddy_tree::none;) {
      page = together ? tree.take(active_group(), order) : tree.take(order);
      if (page == buddy_tree::none) continue;
      own(owners, page, order);
      blocks[atomic_view{*count}.fetch_add(1, memory_order::relaxed, thread_scope::device)] = page;
    }
  }
};

/// Gives back what another launch took, block i by a thread that is not its owner.
struct empty_kernel {
  template <class Tree>
  WARPHEAP_FN void operator()(Tree tree, std::uint32_t* owners, std::uint32_t order, const std::uint32_t* blocks,
                              std::uint32_t count, bool together) const {
    for (std::uint64_t i = grid_thread_index(); i < count; i += grid_threads()) {
      for (std::uint32_t page = blocks[i]; page < blocks[i] + (1u << order); ++page) owners[page] = 0;
      if (together) {
        tree.give(active_group(), blocks[i], order);
      } else {
        tree.give(blocks[i], order);
      }
    }
  }
};

/// Fills pages with blocks of `order` and gives them back; returns how many there were.
template <class Tree>
std::uint32_t fill_and_empty(const pages<Tree>& all, std::uint32_t most, std::uint32_t order, grid_shape grid) {
  const device_array<std::uint32_t> blocks(most + grid.blocks * grid.threads);
  const device_array<std::uint32_t> count(1);
  const bool together = order % 2 == 0;
  launch(grid, fill_buddy_kernel{}, all.tree(), all.owners(), order, blocks.data(), count.data(), together);
  const std::uint32_t had = count.at(0);
  launch(grid, empty_kernel{}, all.tree(), all.owners(), order, blocks.data(), had, together);
  return had;
}

TYPED_TEST_P(buddy_system, serves_all_of_any_range_and_is_whole_afterwards) {
  struct range {
    std::uint32_t first, end;
  };
  const grid_shape grid = grid_shape::covering(scaled(128, 1 << 14), 64);
  const auto body = [&](std::uint64_t) {
    for (const range each : {range{0, 4096}, range{0, 1}, range{5, 777}, range{4090, 4100}, range{63, 6000}}) {
      const pages<TypeParam> all(each.first, each.end);
      all.add(each.first, each.end - each.first);
      const std::vector<std::uint32_t> expected = blocks_of(each.first, each.end);
      const std::uint32_t most = each.end - each.first;
      std::uint32_t fit = 0;
      for (std::uint32_t order = buddy_tree::largest_order + 1; order-- != 0;) {
        fit = 2 * fit + expected[order];
        if (fit == 0 || (order % 3 != 0 && fit > 64)) continue;
        ASSERT_EQ(fill_and_empty(all, most, order, grid), fit)
            << "blocks of order " << order << " in [" << each.first << ", " << each.end << ")";
      }
      ASSERT_EQ(all.free(), most);
    }
  };
  for_each_schedule(body, 2);
}

/// Threads hold a few blocks of random orders and take or give one at random. There is room for all of them.
struct churn_kernel {
  static constexpr int slots = 4;
  bool ample;

  template <class Tree>
  WARPHEAP_FN void operator()(Tree tree, std::uint32_t* owners, std::uint64_t seed, std::uint32_t orders,
                              int steps) const {
    std::uint32_t page[slots];
    std::uint32_t order[slots];
    for (std::uint32_t& each : page) each = buddy_tree::none;
    random_stream random{seed, grid_thread_index()};
    for (int step = 0; step < steps + slots; ++step) {
      const std::uint64_t slot = step < steps ? random.below(slots) : static_cast<std::uint64_t>(step - steps);
      const bool together = random.below(2) == 0;
      if (page[slot] != buddy_tree::none) {
        disown(owners, page[slot], order[slot]);
        if (together) {
          tree.give(active_group(), page[slot], order[slot]);
        } else {
          tree.give(page[slot], order[slot]);
        }
        page[slot] = buddy_tree::none;
      } else if (step < steps) {
        order[slot] = static_cast<std::uint32_t>(random.below(orders));
        if (together) {
          page[slot] = tree.take(match(active_group(), order[slot]), order[slot]);
        } else {
          page[slot] = tree.take(order[slot]);
        }
        require(!ample || page[slot] != buddy_tree::none, "refused with room for all");
        if (page[slot] != buddy_tree::none) own(owners, page[slot], order[slot]);
      }
    }
  }
};

template <class Tree>
void churn(bool ample, std::uint32_t orders, std::uint32_t count) {
  for_each_schedule(
      [&](std::uint64_t seed) {
        const pages<Tree> all(64, 64 + count);
        all.add(64, count);
        launch(grid_shape::covering(scaled(256, 1 << 13), 64), churn_kernel{ample}, all.tree(), all.owners(), seed,
               orders, static_cast<int>(scaled(24, ample ? 64 : 24)));
        ASSERT_EQ(all.free(), count);
        const std::vector<std::uint32_t> expected = blocks_of(64, 64 + count);
        for (std::uint32_t order = buddy_tree::largest_order + 1; order-- != 0;) {
          if (expected[order] == 0) continue;
          ASSERT_EQ(fill_and_empty(all, count, order, {1, 1}), expected[order]) << "it is not whole again";
          break;
        }
      },
      6);
}

// Blocks of one page and room for one for each slot: no fragmentation can excuse a refusal.
TYPED_TEST_P(buddy_system, refuses_no_page_while_there_is_one) {
  churn<TypeParam>(true, 1, static_cast<std::uint32_t>(divide_up(scaled(256, 1 << 13), 64)) * 64 * churn_kernel::slots);
}
TYPED_TEST_P(buddy_system, churns_when_it_is_mostly_full) {
  churn<TypeParam>(false, 9, this_backend == backend::host ? 1500 : 60'000);
}
TYPED_TEST_P(buddy_system, churns_when_next_to_nothing_is_there) { churn<TypeParam>(false, 2, 70); }
TYPED_TEST_P(buddy_system, churns_with_large_blocks) { churn<TypeParam>(false, 14, 40'000); }

/// Each thread has at most two blocks, and the system has as many as all threads can have. So at each moment a block is
/// free for the thread that takes one. A search may have passed that block when it came back, and others may take the
/// blocks ahead of the search.
struct just_enough_kernel {
  template <class Tree>
  WARPHEAP_FN void operator()(Tree tree, std::uint32_t* owners, std::uint32_t order, std::uint64_t seed,
                              int times) const {
    random_stream random{seed, grid_thread_index()};
    std::uint32_t held = buddy_tree::none;
    for (int i = 0; i < times; ++i) {
      const std::uint32_t page = tree.take(order);
      require(page != buddy_tree::none, "refused with a block for each");
      own(owners, page, order);
      // Which of both goes back is random, so that the blocks that are free move about.
      std::uint32_t back = page;
      if (held == buddy_tree::none || random.below(2) == 0) {
        back = held;
        held = page;
      }
      if (back == buddy_tree::none) continue;
      disown(owners, back, order);
      tree.give(back, order);
    }
    if (held == buddy_tree::none) return;
    disown(owners, held, order);
    tree.give(held, order);
  }
};

TYPED_TEST_P(buddy_system, refuses_nobody_while_words_break_and_merge) {
  for_each_schedule(
      [](std::uint64_t seed) {
        for (const std::uint32_t order : {0u, 3u, 4u, 5u, 6u, 8u}) {
          const std::uint32_t threads = 48;
          const std::uint32_t count = 2 * threads << order;
          const pages<TypeParam> all(0, count);
          all.add(0, count);
          launch({3, threads / 3}, just_enough_kernel{}, all.tree(), all.owners(), order, seed, 16);
          ASSERT_EQ(all.free(), count);
        }
      },
      8);
}

/// A block in each of some words, and a page, so that no word is ever empty or whole.
struct scatter_kernel {
  template <class Tree>
  WARPHEAP_FN void operator()(Tree tree, std::uint32_t words) const {
    for (std::uint32_t i = 0; i < words; ++i) tree.add(64 * i, 33);
  }
};

/// Each thread has a block, takes another one, and gives the first back after a while. With two blocks for each there
/// is one for who takes; but those that a search has passed come back, and those that it is about to meet are taken.
struct exchange_kernel {
  template <class Tree>
  WARPHEAP_FN void operator()(Tree tree, std::uint64_t seed, int times) const {
    random_stream random{seed, grid_thread_index()};
    std::uint32_t held = tree.take(5);
    require(held != buddy_tree::none, "refused with two blocks for each");
    for (int i = 0; i < times; ++i) {
      const std::uint32_t page = tree.take(5);
      require(page != buddy_tree::none, "refused with two blocks for each");
      for (std::uint64_t pauses = random.below(4) * 3; pauses != 0; --pauses) {
        atomic_view{held}.load(memory_order::relaxed, thread_scope::device);  // others come
      }
      tree.give(held, 5);
      held = page;
    }
    tree.give(held, 5);
  }
};

TYPED_TEST_P(buddy_system, finds_blocks_that_move_behind_a_search) {
  for_each_schedule(
      [](std::uint64_t seed) {
        for (const std::uint32_t threads : {2u, 3u, 4u}) {
          const pages<TypeParam> all(0, 1024);
          launch({1, 1}, scatter_kernel{}, all.tree(), 2 * threads);
          launch({1, threads}, exchange_kernel{}, all.tree(), seed, 200);
          ASSERT_EQ(all.free(), 66 * threads);
        }
      },
      20);
}

/// Takes all there is, so that it is known that there is no more, and gives it back.
struct refill_kernel {
  template <class Tree>
  WARPHEAP_FN void operator()(Tree tree, std::uint32_t order) const {
    const std::uint32_t whole = tree.take(order);
    require(whole != buddy_tree::none && tree.take(0) == buddy_tree::none, "one block is all there is");
    tree.give(whole, order);
  }
};

/// Each thread takes a page, and there are as many pages as threads.
struct one_each_kernel {
  template <class Tree>
  WARPHEAP_FN void operator()(Tree tree, std::uint32_t* blocks) const {
    const std::uint32_t page = tree.take(0);
    require(page != buddy_tree::none, "refused with a page for each");
    blocks[grid_thread_index()] = page;
  }
};

// What was found empty before is found again by all who come at once, while a few of them break it.
TYPED_TEST_P(buddy_system, serves_all_who_meet_a_pool_that_was_empty) {
  for_each_schedule(
      [](std::uint64_t) {
        for (const std::uint32_t order : {2u, 4u, this_backend == backend::host ? 7u : 14u}) {
          const grid_shape grid = grid_shape::covering(1u << order, 64u < 1u << order ? 64 : 1u << order);
          const pages<TypeParam> all(0, 1u << order);
          const device_array<std::uint32_t> blocks(1u << order);
          all.add(0, 1u << order);
          for (int round = 0; round < 4; ++round) {
            launch({1, 1}, refill_kernel{}, all.tree(), order);
            launch(grid, one_each_kernel{}, all.tree(), blocks.data());
            launch(grid, empty_kernel{}, all.tree(), all.owners(), 0u, blocks.data(), 1u << order, round % 2 == 0);
          }
          ASSERT_EQ(all.free(), 1u << order);
        }
      },
      8);
}

/// Each thread asks for what is not there, and takes what is. That somebody asks in vain is no reason for another to go
/// on.
struct in_vain_kernel {
  template <class Tree>
  WARPHEAP_FN void operator()(Tree tree, int times) const {
    for (int i = 0; i < times; ++i) {
      require(tree.take(3) == buddy_tree::none, "a block of eight pages of seven");
      const std::uint32_t page = tree.take(0);
      if (page != buddy_tree::none) tree.give(page, 0);
    }
  }
};

TYPED_TEST_P(buddy_system, refuses_many_who_ask_in_vain) {
  for_each_schedule(
      [](std::uint64_t) {
        const pages<TypeParam> all(0, 7);
        all.add(0, 7);
        launch(grid_shape::covering(scaled(256, 1 << 13), 64), in_vain_kernel{}, all.tree(),
               static_cast<int>(scaled(4, 16)));
        ASSERT_EQ(all.free(), 7u);
      },
      4);
}

/// One lane: takes all units of 64 pages; then gives back one after the other, and each time takes a page of the only
/// one there is.
struct far_away_kernel {
  template <class Tree>
  WARPHEAP_FN void operator()(Tree tree, std::uint32_t* units, std::uint32_t count) const {
    for (std::uint32_t i = 0; i < count; ++i) {
      units[i] = tree.take(6);
      require(units[i] != buddy_tree::none, "refused with a unit for each");
    }
    require(tree.take(0) == buddy_tree::none, "a page of nothing");
    for (std::uint32_t i = 0; i < count; ++i) {
      tree.give(units[i], 6);
      const std::uint32_t page = tree.take(0);
      require(page / 64 == units[i] / 64, "the only unit there is was not found");
      tree.give(page, 0);
      require(tree.take(6) == units[i], "the unit is whole again");
    }
    for (std::uint32_t i = 0; i < count; ++i) tree.give(units[i], 6);
  }
};

// A unit in each of many parts of the pages, in more of them than a search looks at together.
TYPED_TEST_P(buddy_system, finds_the_only_unit_wherever_it_is) {
  constexpr std::uint32_t parts = 20;
  constexpr std::uint32_t part = 1u << 18;
  const pages<TypeParam> all(0, parts * part);
  for (std::uint32_t i = 0; i < parts; ++i) all.add(i * part + 128, 64);
  const device_array<std::uint32_t> units(parts);
  launch({1, 1}, far_away_kernel{}, all.tree(), units.data(), parts);
  ASSERT_EQ(all.free(), parts * 64u);
}

/// A lane of a group takes a page that another thread wrote to before it gave it back.
struct hand_over_kernel {
  template <class Tree>
  WARPHEAP_FN void operator()(Tree tree, std::uint32_t* owners, int times) const {
    for (int i = 0; i < times; ++i) {
      const lane_mask group = active_group();
      const std::uint32_t page = tree.take(group, 0);
      const lane_mask served = ballot(group, page != buddy_tree::none);
      if (page == buddy_tree::none) {
        backoff{}.pause();
        continue;
      }
      own(owners, page, 0);
      disown(owners, page, 0);
      tree.give(served, page, 0);
    }
  }
};

TYPED_TEST_P(buddy_system, groups_hand_pages_over) {
  for_each_schedule([](std::uint64_t) {
    const std::uint32_t count = 2 * static_cast<std::uint32_t>(warp_width);
    const pages<TypeParam> all(0, count);
    all.add(0, count);
    launch(grid_shape::covering(scaled(256, 1 << 12), 64), hand_over_kernel{}, all.tree(), all.owners(), 12);
    EXPECT_EQ(all.free(), count);
  });
}

/// Pages come while others take and give: what is added is found and merges with what is there.
struct grow_beside_kernel {
  template <class Tree>
  WARPHEAP_FN void operator()(Tree tree, std::uint32_t* owners, std::uint32_t each, std::uint64_t seed) const {
    const auto warp = static_cast<std::uint32_t>(grid_thread_index() / warp_width);
    if (lane_index() == 0) return tree.add(warp * each, each);
    churn_kernel{false}(tree, owners, seed, 7, 16);
  }
};

TYPED_TEST_P(buddy_system, grows_beside_its_users) {
  for_each_schedule([](std::uint64_t seed) {
    constexpr std::uint32_t warps = 64 / warp_width * 2;
    const std::uint32_t each = 8192 / warps;
    const pages<TypeParam> all(0, 8192);
    launch({2, 64}, grow_beside_kernel{}, all.tree(), all.owners(), each, seed);
    ASSERT_EQ(all.free(), 8192u);
    ASSERT_EQ(fill_and_empty(all, 8192, 13, {1, 1}), 1u) << "it is not whole";
  });
}

REGISTER_TYPED_TEST_SUITE_P(buddy_system, breaks_and_merges_as_it_says, serves_all_of_any_range_and_is_whole_afterwards,
                            refuses_no_page_while_there_is_one, churns_when_it_is_mostly_full,
                            churns_when_next_to_nothing_is_there, churns_with_large_blocks,
                            refuses_nobody_while_words_break_and_merge, finds_blocks_that_move_behind_a_search,
                            serves_all_who_meet_a_pool_that_was_empty, refuses_many_who_ask_in_vain,
                            finds_the_only_unit_wherever_it_is, groups_hand_pages_over, grows_beside_its_users);

}  // namespace warpheap::test
