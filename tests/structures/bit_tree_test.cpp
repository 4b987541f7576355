// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// What the bit tree promises: members are neither handed out twice nor lost, nor hidden from who looks for them; runs
// are of neighbours; who takes a member sees what its adder wrote.

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <support/random.hpp>
#include <support/scale.hpp>
#include <support/schedules.hpp>
#include <vector>
#include <warpheap/structures.hpp>

#include "set_memory.hpp"

namespace warpheap::test::bit_tree_test {
namespace {

/// One warp, and the results are known.
struct steps_kernel {
  WARPHEAP_FN void operator()(bit_tree set, std::uint64_t members) const {
    const bool leads = is_leader(full_warp);
    require(is(set.take_run(full_warp, 5), 0, 0), "a run of nothing");
    if (leads) {
      alone(set);
      neighbours(set);
      inserts_and_erases(set);
    }
    sync(full_warp);
    if constexpr (warp_width >= 4) {
      highest(set);
      sync(full_warp);
      lowest(set, members);
    }
    sync(full_warp);
    // A run across many leaves, from within a leaf to within another.
    if (leads) set.add({60, 5000});
    sync(full_warp);
    require(is(set.take_run(full_warp, 3), 60, 3), "a part of a leaf");
    require(is(set.take_run(full_warp, 1), 63, 1), "up to the border");
    require(is(set.take_run(full_warp, 64), 64, 64), "a leaf");
    require(is(set.take_run(full_warp, 3001), 128, 3001), "many leaves");
    require(is(set.take_run(full_warp, 70), 3129, 70), "across one border");
    require(is(set.take_run(full_warp, ~std::uint64_t{0}), 3199, 1861), "the rest");
    require(is(set.take_run(full_warp, 1), 0, 0), "nothing is left");
    // Gaps end a run, at the border and past it.
    if (leads) {
      set.add({10, 54});
      set.add({65, 100});
      set.add({200, 56 + 64 + 7});
      set.add({200 + 128, 30});
    }
    sync(full_warp);
    require(is(set.take_run(full_warp, 1000), 10, 54), "the next leaf begins later");
    require(is(set.take_run(full_warp, 1000), 65, 100), "it ends within a leaf");
    require(is(set.take_run(full_warp, 1000), 200, 127), "it ends before a gap");
    require(is(set.take_run(full_warp, 1000), 328, 30), "behind the gap");
    require(is(set.take_run(full_warp, 1000), 0, 0), "that was all");
    // Each lane for itself, with a run across leaves.
    for (int lane = 0; lane < warp_width; ++lane) {
      if (lane == lane_index()) {
        set.add({100, 300});
        require(is(set.take_run(lane_bit(), 200), 100, 200), "a group of one");
        require(is(set.take_run(lane_bit(), 200), 300, 100), "a group of one, the rest");
      }
      sync(full_warp);
    }
  }

  WARPHEAP_FN static std::uint64_t high(const bit_tree& set, std::uint32_t most, std::uint32_t& at) {
    return set.take_high(lane_bit(), 1, most, at);
  }
  WARPHEAP_FN static void alone(const bit_tree& set) {
    std::uint32_t at = 0;
    require(high(set, 3, at) == 0 && !set.take_exactly({5, 1}), "nothing in an empty set");
    set.add({3, 4});
    set.add({130, 1});
    require(high(set, 2, at) == 4 && at == 2, "only the highest leaf");
    require(high(set, 3, at) == 0x70 && at == 0 && set.leaf_word(0) == 8, "the highest of a leaf");
    require(high(set, 3, at) == 8 && high(set, 1, at) == 0, "the last");
    set.add({50, 200});
    require(!set.take_exactly({49, 2}) && !set.take_exactly({249, 2}) && !set.take_exactly({40, 300}), "not members");
    require(set.take_exactly({100, 150}), "from within a leaf to within another");
    require(!set.take_exactly({99, 2}) && set.take_exactly({50, 50}), "what is left");
    set.add({0, 64});
    set.add({128, 64});
    require(!set.take_exactly({0, 192}), "a whole leaf lacks");
    require(set.leaf_word(0) == ~std::uint64_t{0} && set.leaf_word(1) == 0 && set.leaf_word(2) == ~std::uint64_t{0},
            "nothing was kept");
    require(set.take_exactly({0, 64}) && set.take_exactly({128, 64}) && high(set, 64, at) == 0, "all is taken");
    // More leaves than are taken at a time; the one that lacks a member comes after the first ones.
    set.add({10, 700});
    require(set.take_exactly({500, 1}) && !set.take_exactly({10, 700}), "the eighth of twelve leaves lacks one");
    require(set.take_exactly({10, 490}) && set.take_exactly({501, 209}), "and all the others are there");
    require(high(set, 64, at) == 0 && !set.take_exactly({10, 1}) && !set.take_exactly({709, 1}), "all is taken again");
  }

  WARPHEAP_FN static void neighbours(const bit_tree& set) {
    require(is(set.take_neighbours(1, 1, 1, 0), 0, 0), "no neighbours in an empty set");
    set.add({3, 10});
    require(is(set.take_neighbours(4, 4, 4, 0), 4, 4), "the lowest that are aligned");
    require(is(set.take_neighbours(4, 8, 4, 0), 8, 4), "what there is, in whole multiples");
    set.add({60, 200});
    require(is(set.take_neighbours(3, 100, 64, 4 + 128), 60, 99), "aligned in the owner's numbers");
    require(is(set.take_neighbours(102, 200, 1, 0), 0, 0), "one neighbour too few");
    require(is(set.take_neighbours(50, 1000, 1, 7), 159, 100), "across leaves");
    require(set.take_exactly({3, 1}) && set.take_exactly({12, 1}) && set.take_exactly({259, 1}), "what is left");
  }
  WARPHEAP_FN static void inserts_and_erases(const bit_tree& set) {
    set.insert(70);
    set.insert(70);
    set.insert(64);
    require(!set.erase(71), "it was no member");
    require(set.leaf_word(1) == 0x41, "two members, one of them inserted twice");
    require(set.erase(64) && !set.erase(64) && set.erase(70), "each is a member once");
    std::uint32_t at = 0;
    require(high(set, 1, at) == 0, "members that are none any more");
  }

  /// A leaf for each lane.
  WARPHEAP_FN static void highest(const bit_tree& set) {
    if (is_leader(full_warp)) {
      set.add(70, 0xf0f0);
      set.add(69, ~std::uint64_t{0});
      set.add(67, 1);
      set.add(3, 6);
    }
    sync(full_warp);
    const int lane = lane_index();
    std::uint32_t at = 0;
    std::uint64_t mask = set.take_high(full_warp, 2, 7, at);
    const std::uint64_t seven = lane == 0 ? 0xf0e0 : lane == 1 ? std::uint64_t{127} << 57 : 0;
    require(mask == seven && (mask == 0 || at == 70 - static_cast<std::uint32_t>(lane)), "the highest of two leaves");
    mask = set.take_high(full_warp, warp_width, 64, at);
    const std::uint64_t all = lane == 0 ? 0x10 : lane == 1 ? low_57 : lane == 3 ? 1 : 0;
    require(mask == all && (mask == 0 || at == 70 - static_cast<std::uint32_t>(lane)), "all of the leaves below");
    mask = set.take_high(full_warp, warp_width, 64, at);
    require(mask == (lane == 0 ? 6 : 0) && (lane != 0 || at == 3), "further below, and no leaf before the first");
    require(set.take_high(full_warp, warp_width, 64, at) == 0, "nothing is left");
  }
  WARPHEAP_FN static void lowest(const bit_tree& set, std::uint64_t members) {
    const auto last = static_cast<std::uint32_t>((members - 1) / bit_tree::leaf_bits);
    if (is_leader(full_warp)) {
      set.add(2, 0xf0f0);
      set.add(3, ~std::uint64_t{0});
      set.add(last, 1);
    }
    sync(full_warp);
    const int lane = lane_index();
    std::uint32_t at = 0;
    std::uint64_t mask = set.take_low(full_warp, 2, 7, at);
    const std::uint64_t seven = lane == 0 ? 0xf0e0 : lane == 1 ? std::uint64_t{127} << 57 : 0;
    require(mask == seven && (mask == 0 || at == 2 + static_cast<std::uint32_t>(lane)), "the highest of two leaves");
    mask = set.take_low(full_warp, warp_width, 64, at);
    require(mask == (lane == 0 ? 0x10 : lane == 1 ? low_57 : 0), "the rest of them");
    mask = set.take_low(full_warp, warp_width, 64, at);
    require(mask == (lane == 0 ? 1 : 0) && (lane != 0 || at == last), "the last leaf, and none behind it");
    require(set.take_low(full_warp, warp_width, 64, at) == 0, "nothing is left");
  }
  static constexpr std::uint64_t low_57 = (std::uint64_t{1} << 57) - 1;
};

/// One lane takes long runs beside a gap, wherever that is, and gives them back.
struct long_runs_kernel {
  static constexpr std::uint64_t leaves = 70;  // more than a word of the level above tells of
  static constexpr std::uint64_t members = leaves * bit_tree::leaf_bits;
  WARPHEAP_FN void operator()(bit_tree set) const {
    constexpr std::uint32_t half = members / 2;
    set.add({0, members});
    for (std::uint32_t gap = 0; gap < members; gap += 37) {
      require(set.take_exactly({gap, 1}), "a member");
      const index_run run = set.take_neighbours(half, members, 1, 0);
      const std::uint64_t first = gap >= half ? 0 : gap + 1;
      require(is(run, first, half), "all members on one side of the gap");
      set.add(run);
      set.add({gap, 1});
    }
    require(is(set.take_neighbours(members, members, 1, 0), 0, members), "all members");
    std::uint32_t leaf = 0;
    require(!set.next_leaf(0, leaf), "nothing is left");
    set.add({0, members});
    require(set.take_exactly({0, members}), "all members again");
  }
};

TEST(bit_tree, long_runs_end_at_a_gap) {
  for (const set_kind kind : set_kinds) {
    const set_memory memory{long_runs_kernel::members, kind};
    for_each_schedule([&](std::uint64_t) { launch({1, 1}, long_runs_kernel{}, memory.tree()); });
  }
}

TEST(bit_tree, finds_what_is_there) {
  for_each_schedule([](std::uint64_t) {
    constexpr std::uint64_t members = 5060;
    const set_memory memory{members};
    launch({1, warp_width}, steps_kernel{}, memory.tree(), members);
    memory.expect_members(0);
  });
}

struct add_kernel {
  WARPHEAP_FN void operator()(bit_tree set, const std::uint64_t* members, std::uint64_t count) const {
    for (std::uint64_t i = grid_thread_index(); i < count; i += grid_threads()) set.add({members[i], 1});
  }
};

struct list_leaves_kernel {
  WARPHEAP_FN void operator()(bit_tree set, std::uint32_t* found, std::uint64_t room) const {
    std::uint64_t count = 0;
    std::uint32_t at = 0;
    for (std::uint32_t from = 0; set.next_leaf(from, at); from = at + 1) {
      require(at >= from && count < room && set.leaf_word(at) != 0, "a leaf without members, or twice");
      found[count++] = at;
    }
    for (std::uint32_t from = 0; from < 200; ++from) {  // from each leaf on, not only from found ones
      const bool any_left = set.next_leaf(from, at);
      std::uint64_t i = 0;
      while (i < count && found[i] < from) ++i;
      require(any_left == (i < count) && (!any_left || at == found[i]), "another leaf");
    }
  }
};

TEST(bit_tree, next_leaf_misses_none) {
  random_stream random{1, 0};
  // Dense to so sparse that words of each level are zero.
  for (const std::uint64_t below : {3000, 300'000, 3'000'000, 20'000'000}) {
    std::set<std::uint64_t> chosen{below - 1};
    std::set<std::uint32_t> expected;
    while (chosen.size() < 40) chosen.insert(random.below(below));
    for (const std::uint64_t member : chosen) expected.insert(static_cast<std::uint32_t>(member / bit_tree::leaf_bits));
    const set_memory memory{below};
    const device_array<std::uint64_t> members{std::vector<std::uint64_t>(chosen.begin(), chosen.end())};
    const device_array<std::uint32_t> found{expected.size()};
    launch({1, 32}, add_kernel{}, memory.tree(), members.data(), members.size());
    launch({1, 1}, list_leaves_kernel{}, memory.tree(), found.data(), found.size());
    EXPECT_EQ(found.to_host(), std::vector<std::uint32_t>(expected.begin(), expected.end()));
  }
}

/// A lane that adds a member and takes one at once must get one: there are always as many as have added and not taken
/// yet.
struct never_empty_kernel {
  bit_tree set;
  std::uint32_t* notes;  // plain; a member's holder counts
  std::uint64_t spread;
  std::uint64_t seed;
  int rounds;

  WARPHEAP_FN void operator()() const {
    random_stream random{seed, grid_thread_index()};
    std::uint64_t mine = grid_thread_index() * spread;
    for (int round = 0; round < rounds; ++round) {
      ++notes[mine];
      switch (random.below(4)) {
        case 0: mine = lowest(mine); break;
        case 1: mine = highest(lane_bit(), mine); break;
        case 2: mine = highest(active_group(), mine); break;
        default: mine = together(mine);
      }
    }
  }

  WARPHEAP_FN std::uint64_t lowest(std::uint64_t mine) const {
    set.add({mine, 1});
    const index_run run = set.take_run(lane_bit(), 1);
    require(run.count == 1, "empty beside our member, or more than one");
    return run.first;
  }

  WARPHEAP_FN std::uint64_t highest(lane_mask group, std::uint64_t mine) const {
    set.add({mine, 1});
    sync(group);
    for (;;) {
      std::uint32_t at = 0;
      const auto lanes = static_cast<std::uint32_t>(group_size(group));
      const bool from_above = shuffle(group, mine % 2, leader(group)) == 0;
      const std::uint64_t mask = from_above ? set.take_high(group, lanes, 1, at) : set.take_low(group, lanes, 1, at);
      const lane_mask rest = ballot(group, mask == 0);
      require(rest != group && popcount(mask) < 2, "empty beside our members, or too many");
      if (mask != 0) return std::uint64_t{at} * bit_tree::leaf_bits + static_cast<std::uint64_t>(lowest_bit(mask));
      group = rest;
    }
  }

  WARPHEAP_FN std::uint64_t together(std::uint64_t mine) const {
    lane_mask group = active_group();
    set.add({mine, 1});
    sync(group);
    for (;;) {
      const auto size = static_cast<std::uint64_t>(group_size(group));
      const index_run run = set.take_run(group, size);
      sync(group);  // who took a member is another lane than who uses it
      require(run.count != 0 && run.count <= size, "empty beside our members, or too many");
      const auto rank = static_cast<std::uint64_t>(group_rank(group));
      const lane_mask rest = ballot(group, rank >= run.count);
      if (rank < run.count) return run.first + rank;
      group = rest;
    }
  }
};

TEST(bit_tree, is_never_empty_beside_a_member) {
  const int rounds = 8;
  for_each_schedule([&](std::uint64_t seed) {
    // Neighbours, a leaf each, and a word of the second level each.
    for (const std::uint64_t spread : {1, 23, 64, 4096}) {
      for (const std::uint64_t threads : {scaled(2, 2), scaled(96, 1 << 10)}) {
        const grid_shape grid = grid_shape::covering(threads, threads < 48 ? 1 : 48);
        const std::uint64_t members = grid.blocks * grid.threads * spread;
        const set_memory memory{members};
        const device_array<std::uint32_t> notes(members);
        launch(grid, never_empty_kernel{memory.tree(), notes.data(), spread, seed, rounds});
        memory.expect_members(0);
        std::uint64_t noted = 0;
        for (const std::uint32_t each : notes.to_host()) noted += each;
        EXPECT_EQ(noted, grid.blocks * grid.threads * rounds);
      }
    }
  });
}

/// A lane that inserts a member finds it, though others hide and show the words above it meanwhile.
struct insert_and_erase_kernel {
  bit_tree set;
  std::uint32_t spread;
  int rounds;

  WARPHEAP_FN void operator()() const {
    const auto mine = static_cast<std::uint32_t>(grid_thread_index()) * spread;
    for (int round = 0; round < rounds; ++round) {
      set.insert(mine);
      for (backoff wait;; wait.pause()) {
        const bit_tree::quiescence_snapshot before = set.begin_snapshot();
        std::uint32_t leaf = 0;
        if (set.next_leaf(mine / bit_tree::leaf_bits, leaf) && leaf == mine / bit_tree::leaf_bits) break;
        require(!set.was_quiescent(before), "a member out of sight, and nobody is at work");
      }
      require((set.leaf_word(mine / bit_tree::leaf_bits) >> mine % bit_tree::leaf_bits & 1) != 0, "not a member");
      set.erase(mine);
    }
  }
};

TEST(bit_tree, an_inserted_member_is_in_sight) {
  for_each_schedule([](std::uint64_t) {
    for (const std::uint32_t spread : {1, 23, 64, 4096}) {
      const grid_shape grid = grid_shape::covering(scaled(96, 1 << 10), 48);
      const set_memory memory{grid.blocks * grid.threads * spread};
      launch(grid, insert_and_erase_kernel{memory.tree(), spread, 8});
      memory.expect_members(0);
    }
  });
}

/// Takes in all ways, and gives back.
struct churn_kernel {
  bit_tree set;
  std::uint64_t* owners;  // plain: a member is one thread's or in the set
  std::uint64_t members;
  std::uint64_t seed;
  int rounds;

  WARPHEAP_FN void claim(std::uint64_t member) const {
    require(member < members && owners[member] == 0, "handed out twice, or never added");
    owners[member] = 1 + grid_thread_index();
  }
  WARPHEAP_FN void disclaim(std::uint64_t member) const {
    require(owners[member] == 1 + grid_thread_index(), "a member that is ours was handed out");
    owners[member] = 0;
  }

  WARPHEAP_FN void operator()() const {
    random_stream random{seed, grid_thread_index()};
    for (int round = 0; round < rounds; ++round) {
      switch (random.below(5)) {
        case 0: take_at_an_end(active_group(), random); break;
        case 1: take_exactly(random); break;
        case 2: take_neighbours(random); break;
        case 3: take_block(random); break;
        default: take_run(random);
      }
    }
  }

  WARPHEAP_FN void take_run(random_stream& random) const {
    const lane_mask group = active_group();
    const std::uint64_t most = shuffle(group, 1 + random.size(400), leader(group));
    const index_run run = set.take_run(group, most);
    sync(group);  // who took a member is another lane than who uses it
    require(run.count <= most, "a run that is too long");
    const auto rank = static_cast<std::uint64_t>(group_rank(group));
    const auto size = static_cast<std::uint64_t>(group_size(group));
    for (std::uint64_t i = rank; i < run.count; i += size) claim(run.first + i);
    sync(group);
    for (std::uint64_t i = rank; i < run.count; i += size) disclaim(run.first + i);
    sync(group);
    // Gives it back in two parts, for gaps in between.
    if (is_leader(group)) {
      const std::uint64_t part = run.count / 3;
      set.add({run.first + part, run.count - part});
      set.add({run.first, part});
    }
  }

  WARPHEAP_FN void take_at_an_end(lane_mask group, random_stream& random) const {
    const auto most = shuffle(group, static_cast<std::uint32_t>(1 + random.below(40)), leader(group));
    const auto leaves = shuffle(group, static_cast<std::uint32_t>(1 + random.below(6)), leader(group));
    std::uint32_t at = 0;
    const bool high = shuffle(group, random.below(2), leader(group)) != 0;
    const std::uint64_t mask = high ? set.take_high(group, leaves, most, at) : set.take_low(group, leaves, most, at);
    require(mask == 0 || group_rank(group) < static_cast<int>(leaves), "a leaf too many");
    require(popcount(mask) <= static_cast<int>(most), "more than was asked for");
    const std::uint64_t first = std::uint64_t{at} * bit_tree::leaf_bits;
    for (std::uint64_t i = 0; i < bit_tree::leaf_bits; ++i) {
      if ((mask >> i & 1) != 0) claim(first + i);
    }
    backoff wait;
    wait.pause();
    for (std::uint64_t i = 0; i < bit_tree::leaf_bits; ++i) {
      if ((mask >> i & 1) != 0) disclaim(first + i);
    }
    if (mask != 0) set.add(at, mask);
  }

  WARPHEAP_FN void take_exactly(random_stream& random) const {
    const std::uint64_t count = random.size(members < 400 ? members / 2 : 200);
    const index_run run{random.below(members - count), count};
    if (set.take_exactly(run)) hold(run);
  }

  /// One thread of all, since two would spoil each other's search.
  WARPHEAP_FN void take_neighbours(random_stream& random) const {
    const auto least = static_cast<std::uint32_t>(random.size(70));
    const auto most = static_cast<std::uint32_t>(random.size(400));
    const std::uint32_t alignment = 1u << random.below(8);
    const auto phase = static_cast<std::uint32_t>(random.below(300));
    if (grid_thread_index() != 0) return;
    const index_run run = set.take_neighbours(least, most < least ? least : most, alignment, phase);
    require(run.count % least == 0 && run.count <= (most < least ? least : most), "another number than was asked for");
    require(run.count == 0 || (run.first + phase) % alignment == 0, "not aligned");
    hold(run);
  }

  WARPHEAP_FN void take_block(random_stream& random) const {
    const std::uint32_t size = 1u << random.below(7);
    const auto mine = static_cast<std::uint32_t>(random.below(1000));
    const auto window = static_cast<std::uint32_t>(random.size(70));
    std::uint32_t first = 0;
    if (!set.try_take_block(size, mine, window, first)) return;
    require(first % size == 0, "not aligned");
    hold({first, size});
  }

  WARPHEAP_FN void hold(index_run run) const {
    for (std::uint64_t i = run.first; i < run.first + run.count; ++i) claim(i);
    backoff wait;
    wait.pause();
    for (std::uint64_t i = run.first; i < run.first + run.count; ++i) disclaim(i);
    set.add(run);
  }
};

/// All members are found, as one run.
struct drain_kernel {
  WARPHEAP_FN void operator()(bit_tree set, std::uint64_t members) const {
    const index_run run = set.take_run(full_warp, members + 1);
    require(run.first == 0 && run.count == members, "not all members are found again");
    require(set.take_run(full_warp, 1).count == 0, "a member too many");
  }
};

TEST(bit_tree, members_are_neither_lost_nor_handed_out_twice) {
  for_each_schedule([](std::uint64_t seed) {
    // Few for all threads, and enough for most.
    for (const std::uint64_t members : {scaled(300, 1000), scaled(5000, 100'000)}) {
      const grid_shape grid = grid_shape::covering(scaled(256, 1 << 12), 64);
      const set_memory memory{members};
      const device_array<std::uint64_t> owners(members);
      launch({1, 1}, insert_kernel{}, memory.tree(), index_run{0, members});
      launch(grid, churn_kernel{memory.tree(), owners.data(), members, seed, 6});
      memory.expect_members(members);
      launch({1, warp_width}, drain_kernel{}, memory.tree(), members);
      memory.expect_members(0);
    }
  });
}

}  // namespace
}  // namespace warpheap::test::bit_tree_test
