// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Groups of a bit tree: full ones are taken and come back as a whole, others member by member, and no member is lost or
// handed out twice while threads take parts of groups that another thread is about to take.

#include <gtest/gtest.h>

#include <cstdint>
#include <support/random.hpp>
#include <support/scale.hpp>
#include <support/schedules.hpp>
#include <vector>
#include <warpheap/structures.hpp>

#include "set_memory.hpp"

namespace warpheap::test::bit_tree_groups_test {
namespace {

constexpr std::uint64_t bits = bit_tree::leaf_bits;
constexpr std::uint64_t members = bit_tree_group::members;

/// One lane takes a run; whether it is there is known.
struct take_kernel {
  WARPHEAP_FN void operator()(bit_tree set, index_run run, bool there) const {
    require(set.take_exactly(run) == there, there ? "members were not found" : "members that are not there");
  }
};
struct take_neighbours_kernel {
  WARPHEAP_FN void operator()(bit_tree set, std::uint32_t least, std::uint32_t most, index_run expected) const {
    require(is(set.take_neighbours(least, most, 1, 0), expected.first, expected.count), "another run");
  }
};

class groups : public testing::Test {
 protected:
  static constexpr std::uint64_t count = 20;
  void add(std::uint64_t first, std::uint64_t size) const {
    launch({1, 1}, insert_kernel{}, memory_.tree(), index_run{first, size});
  }
  void take(std::uint64_t first, std::uint64_t size, bool there = true) const {
    launch({1, 1}, take_kernel{}, memory_.tree(), index_run{first, size}, there);
  }
  void expect_taken(std::uint32_t from, std::uint32_t to) const {
    const std::vector<bit_tree_group> all = memory_.groups();
    for (std::uint32_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i].is_taken(), i >= from && i < to) << i;
  }
  set_memory memory_{count * members, set_kind::with_groups};
};

TEST_F(groups, are_taken_as_a_whole_where_a_run_has_all_of_them) {
  add(0, count * members);
  memory_.expect_members(count * members);
  take(members - 3, 17 * members + 5);
  expect_taken(1, 18);
  memory_.expect_members(3 * members - 5);
  add(members - 3, 17 * members + 5);
  expect_taken(0, 0);
  memory_.expect_members(count * members);
  take(0, count * members);
  expect_taken(0, count);
  memory_.expect_members(0);
}

TEST_F(groups, come_back_if_a_run_is_not_there) {
  add(0, count * members);
  for (const std::uint64_t gap : {std::uint64_t{0}, 7 * members, 13 * members + 40 * bits + 7, count * members - 1}) {
    take(gap, 1);
    take(0, count * members, false);
    expect_taken(0, 0);
    memory_.expect_members(count * members - 1);
    add(gap, 1);
  }
  take(0, count * members);
}

TEST_F(groups, are_not_taken_as_a_whole_where_two_parts_share_them) {
  add(0, count * members);
  constexpr std::uint64_t part = 3 * members + 100;
  launch({1, 1}, take_neighbours_kernel{}, memory_.tree(), part, 4 * part, index_run{0, 4 * part});
  const std::vector<bit_tree_group> all = memory_.groups();
  for (const std::uint32_t each : {0u, 2u, 4u, 5u, 7u, 8u, 11u}) EXPECT_TRUE(all[each].is_taken()) << each;
  for (const std::uint32_t each : {3u, 6u, 9u, 12u}) EXPECT_FALSE(all[each].is_taken()) << each;
  for (std::uint64_t i = 0; i < 4; ++i) add((3 - i) * part, part);
  memory_.expect_members(count * members);
  take(0, count * members);
}

struct look_kernel {
  WARPHEAP_FN void operator()(bit_tree set, std::uint64_t leaves) const {
    for (std::uint32_t leaf = 0; leaf < leaves; ++leaf) require(set.leaf_word(leaf) == 0, "members of a taken group");
    std::uint32_t leaf = 0;
    require(!set.next_leaf(0, leaf), "a leaf of a taken group is shown");
    require(set.take_neighbours(1, 1, 1, 0).count == 0, "a member of an empty set");
    require(!set.try_take({5 * bits, 8}) && !set.take_exactly({5 * bits, 100}), "members of a taken group");
    std::uint32_t first = 0;
    require(!set.try_take_block(8, 3, 5, first) && !set.try_take_from(8, 3, leaf, first), "a block of a taken group");
  }
};

TEST_F(groups, are_out_of_sight_once_they_are_taken) {
  add(0, count * members);
  take(0, count * members);
  launch({1, 1}, look_kernel{}, memory_.tree(), count * members / bits);
  memory_.expect_members(0);
  add(0, count * members);
  memory_.expect_members(count * members);
}

struct first_leaf_kernel {
  WARPHEAP_FN void operator()(bit_tree set, std::uint32_t expected) const {
    std::uint32_t leaf = 0;
    require(set.next_leaf(0, leaf) && leaf == expected, "another leaf is the first one with members");
  }
};

TEST_F(groups, are_in_sight_once_they_are_back) {
  add(0, count * members);
  take(0, count * members);
  add(3 * members, 2 * members);  // a part of what was taken, group by group
  launch({1, 1}, first_leaf_kernel{}, memory_.tree(), 3 * members / bits);
  memory_.expect_members(2 * members);
}

/// Threads that take all of one group, and others that take a leaf of it; while the group is taken no leaf is shown.
struct one_group_kernel {
  bit_tree set;
  std::uint64_t* uses;  // plain, one for each leaf: its owner's
  int rounds;

  WARPHEAP_FN void operator()() const {
    const bool takes_all = grid_thread_index() < 2;
    const index_run run = takes_all ? index_run{0, members} : index_run{grid_thread_index() * bits, bits};
    for (int round = 0; round < rounds; ++round) {
      if (!(takes_all ? set.take_exactly(run) : set.try_take(run))) continue;
      for (std::uint64_t leaf = run.first / bits; leaf < (run.first + run.count) / bits; ++leaf) ++uses[leaf];
      for (int look = 0; look < 3; ++look) {
        std::uint32_t leaf = 0;
        require(!takes_all || !set.next_leaf(0, leaf), "a leaf of a taken group is shown");
        backoff{}.pause();
      }
      set.add(run);
    }
  }
};

TEST(groups_of_many, show_no_leaf_while_they_are_taken) {
  for_each_schedule([](std::uint64_t) {
    const set_memory memory{members, set_kind::with_groups};
    const device_array<std::uint64_t> uses(members / bits);
    launch({1, 1}, insert_kernel{}, memory.tree(), index_run{0, members});
    launch({4, 1}, one_group_kernel{memory.tree(), uses.data(), 100});
    memory.expect_members(members);
  });
}

/// Threads that take blocks of a leaf or less, and one that takes long runs; what each has is its own.
struct mixed_kernel {
  bit_tree set;
  std::uint64_t* owners;  // plain: a member is one thread's or in the set
  std::uint64_t all;
  std::uint64_t seed;
  int rounds;

  WARPHEAP_FN void operator()() const {
    random_stream random{seed, grid_thread_index()};
    for (int round = 0; round < rounds; ++round) {
      if (grid_thread_index() == 0) {
        take_long(random);
      } else {
        take_short(random);
      }
    }
  }
  // Runs of one or several parts, which come back part by part.
  WARPHEAP_FN void take_long(random_stream& random) const {
    const auto least = static_cast<std::uint32_t>(random.size(all / 2));
    const auto most = least * static_cast<std::uint32_t>(1 + random.below(3));
    const index_run run = set.take_neighbours(least, most, 1, 0);
    require(run.count % least == 0 && run.count <= most, "another number than was asked for");
    own(run);
    backoff{}.pause();
    disown(run);
    for (std::uint64_t i = run.count; i != 0; i -= least) set.add({run.first + i - least, least});
  }
  WARPHEAP_FN void take_short(random_stream& random) const {
    const std::uint32_t size = 1u << random.below(7);
    const auto mine = static_cast<std::uint32_t>(random.below(100'000));
    auto leaf = static_cast<std::uint32_t>(random.below(all / bits));
    std::uint32_t first = 0;
    bool got = false;
    switch (random.below(3)) {
      case 0: got = set.try_take_block(size, mine, static_cast<std::uint32_t>(1 + all / bits), first); break;
      case 1: got = set.try_take_from(size, mine, leaf, first); break;
      default: first = leaf * bits + mine % (bits / size) * size; got = set.try_take({first, size});
    }
    if (!got) return;
    own({first, size});
    backoff{}.pause();
    disown({first, size});
    set.add({first, size});
  }
  WARPHEAP_FN void own(index_run run) const {
    for (std::uint64_t i = run.first; i < run.first + run.count; ++i) {
      require(i < all && owners[i] == 0, "handed out twice, or never added");
      owners[i] = 1 + grid_thread_index();
    }
  }
  WARPHEAP_FN void disown(index_run run) const {
    for (std::uint64_t i = run.first; i < run.first + run.count; ++i) {
      require(owners[i] == 1 + grid_thread_index(), "a member of one thread was handed out to another");
      owners[i] = 0;
    }
  }
};

TEST(groups_of_many, are_neither_lost_nor_handed_out_twice) {
  for_each_schedule([](std::uint64_t seed) {
    for (const std::uint64_t all : {members, 2 * members + 3 * bits + 7, 6 * members}) {
      const set_memory memory{all, set_kind::with_groups};
      const device_array<std::uint64_t> owners(all);
      launch({1, 1}, insert_kernel{}, memory.tree(), index_run{0, all});
      // Few threads, so that the groups are full now and then.
      for (const std::uint64_t threads : {scaled(3, 3), scaled(8, 512)}) {
        launch(grid_shape::covering(threads, 4), mixed_kernel{memory.tree(), owners.data(), all, seed, 12});
        memory.expect_members(all);
      }
      launch({1, 1}, take_kernel{}, memory.tree(), index_run{0, all}, true);
      memory.expect_members(0);
    }
  });
}

/// A warp takes blocks by a search that has to find one, while another thread takes and returns one of two groups as a
/// whole, by turns: the other group is always there.
struct search_kernel {
  bit_tree set;
  std::uint32_t* done;
  std::uint64_t* uses;  // plain, one for each leaf: its owner's
  std::uint32_t most;
  int rounds;

  WARPHEAP_FN void operator()() const {
    using enum memory_order;
    using enum thread_scope;
    if (block_index() == 0) {
      while (shuffle(full_warp, atomic_view{*done}.load(acquire, device), leader(full_warp)) == 0) {
        const index_run run = set.take_blocks(full_warp, 8, most);
        require(run.count != 0, "no block, though one is there at any moment");
        sync(full_warp);
        if (is_leader(full_warp)) use_and_add(run);
        sync(full_warp);
        backoff{}.pause();
      }
    } else if (thread_index() == 0) {
      for (int round = 0; round < rounds; ++round) {
        const index_run group{members * (static_cast<std::uint64_t>(round) % 2), members};
        for (backoff wait; !set.take_exactly(group);) wait.pause();
        use_and_add(group);
      }
      atomic_view{*done}.store(1, release, device);
    }
  }
  WARPHEAP_FN void use_and_add(index_run run) const {
    for (std::uint64_t leaf = divide_up(run.first, bits); leaf < (run.first + run.count) / bits; ++leaf) ++uses[leaf];
    backoff{}.pause();
    set.add(run);
  }
};

TEST(groups_of_many, hide_nothing_from_a_search) {
  for_each_schedule([](std::uint64_t) {
    for (const std::uint32_t most : {1u, 300u, 900u}) {
      const set_memory memory{2 * members, set_kind::with_groups};
      const device_array<std::uint32_t> done(1);
      const device_array<std::uint64_t> uses(2 * members / bits);
      launch({1, 1}, insert_kernel{}, memory.tree(), index_run{0, 2 * members});
      launch({2, warp_width}, search_kernel{memory.tree(), done.data(), uses.data(), most, 40});
      memory.expect_members(2 * members);
    }
  });
}

/// More threads ask for members than there are: the count of their group falls below zero for a while.
struct short_kernel {
  WARPHEAP_FN void operator()(bit_tree set, int rounds) const {
    for (int round = 0; round < rounds; ++round) {
      if (set.try_take({0, 4})) {
        require(set.leaf_word(0) == bits_beside, "other members than those beside the taken ones");
        backoff{}.pause();
        set.add({0, 4});
      } else {
        require((set.leaf_word(0) & bits_beside) != 0, "members that nobody took are out of sight");
      }
    }
  }
  static constexpr std::uint64_t bits_beside = 0xf0;
};

TEST(groups_of_many, may_be_asked_for_more_than_they_have) {
  for_each_schedule([](std::uint64_t) {
    const set_memory memory{members, set_kind::with_groups};
    launch({1, 1}, insert_kernel{}, memory.tree(), index_run{0, 8});
    launch({8, 4}, short_kernel{}, memory.tree(), 50);
    memory.expect_members(8);
  });
}

}  // namespace
}  // namespace warpheap::test::bit_tree_groups_test
