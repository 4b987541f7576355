// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Sets of integers and the buddy system under every schedule of two threads, or of three with few switches. The oracle
// is one: there is a member, or a block, for each thread that takes, so at no moment is there none, and nobody may be
// refused.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <exploration/host/private_member.hpp>
#include <exploration/host/snapshot.hpp>
#include <string>
#include <warpheap/platform.hpp>
#include <warpheap/platform/exploration.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::test::structures_exploration_test {
namespace {

constexpr std::uint32_t leaves = 4;

class set_memory {
 public:
  set_memory() : memory_(sizeof(bit_tree::levels) + leaves * sizeof(std::uint64_t)) {}
  template <class Body>
  void set_up(Body body) {
    in_one_lane([tree = tree(), body] { body(tree); });
    memory_.freeze();
  }
  bit_tree tree() const {
    auto* const words = memory_.data() + sizeof(bit_tree::levels);
    return {reinterpret_cast<bit_tree::levels*>(memory_.data()), words, sizeof(std::uint64_t)};
  }
  const snapshot& memory() const { return memory_; }
  std::uint64_t members() const {
    std::uint64_t count = 0;
    for (std::uint32_t i = 0; i < leaves; ++i) {
      const std::uint64_t word = tree().leaf_word(i);
      for (std::uint64_t rest = word; rest != 0; rest &= rest - 1) ++count;
    }
    return count;
  }

 private:
  snapshot memory_;
};

// Of two members each lane takes one and gives it back.
struct take_and_add {
  bit_tree tree;
  bool high;
  void operator()(std::uint64_t* out, unsigned lane) const {
    std::uint32_t leaf = 0;
    const std::uint64_t got = high ? tree.take_high(lane_bit(), 1, 1, leaf) : tree.take_low(lane_bit(), 1, 1, leaf);
    out[lane] = got;
    require(got != 0, "refused with a member for each");
    tree.add(leaf, got);
  }
};

TEST(explored_bit_tree, take_against_add_at_the_last_member) {
  for (const bool apart : {false, true}) {
    set_memory memory;
    memory.set_up([apart](const bit_tree& tree) {
      tree.add(0, 1);
      tree.add(apart ? 1 : 0, 2);
    });
    expect_all_clean(explore_snapshot(
        memory.memory(), 2, take_and_add{memory.tree(), apart},
        [&](const results&) -> std::string { return memory.members() == 2 ? "" : "a member was lost or made"; },
        all_schedules()));
  }
}

// One member: who takes it gives it back; the other takes it or rightly finds none. Afterwards it is found.
struct take_if_there {
  bit_tree tree;
  void operator()(std::uint64_t* out, unsigned lane) const {
    const index_run got = tree.take_run(lane_bit(), 1);
    out[lane] = got.count;
    if (got.count != 0) tree.add(got);
  }
};

TEST(explored_bit_tree, the_last_member_is_found_again) {
  set_memory memory;
  memory.set_up([](const bit_tree& tree) { tree.add(2, 4); });
  const auto look = [&](const results& out) -> std::string {
    if (out[0] + out[1] == 0) return "none took the member";
    results last(1);
    in_one_lane([tree = memory.tree(), to = last.data()] { *to = tree.take_run(lane_bit(), 1).count; });
    return last[0] == 1 ? "" : "the member is not found";
  };
  expect_all_clean(explore_snapshot(memory.memory(), 2, take_if_there{memory.tree()}, look, all_schedules()));
}

WARPHEAP_TEST_PRIVATE(blocks_from_leaf, bit_tree::blocks_from_leaf)

// Three neighbours. Lane 0 takes a run of blocks from their leaf; between its read of the leaf and its claim, lane 1
// can take the member in the middle, or the first one. Then lane 0 claims members that do not follow its run, and must
// put them back.
struct run_against_member {
  static constexpr std::uint32_t members = 3;
  bit_tree tree;
  std::uint32_t contended;
  void operator()(std::uint64_t* out, unsigned lane) const {
    if (lane == 1) {
      out[1] = tree.take_exactly({contended, 1});
    } else {
      out[0] = blocks_from_leaf(tree, 0u, any_blocks{1, members}).count;
    }
  }
  // Converts to the parameter, whose type is private.
  struct any_blocks {
    std::uint32_t size, most;
    template <class Wanted>
    operator Wanted() const {
      return {size, most};
    }
  };
};

TEST(explored_bit_tree, a_broken_run_is_put_back) {
  for (const std::uint32_t contended : {0u, 1u}) {
    set_memory memory;
    memory.set_up([](const bit_tree& tree) { tree.add({0, run_against_member::members}); });
    expect_all_clean(explore_snapshot(
        memory.memory(), 2, run_against_member{memory.tree(), contended},
        [&](const results& out) -> std::string {
          const std::uint64_t left = memory.members();
          if (left + out[0] + out[1] != run_against_member::members) return "a member was lost or made";
          std::uint64_t found = 0;
          in_one_lane([tree = memory.tree(), to = &found] {
            std::uint64_t got = 0;
            while ((got = tree.take_run(lane_bit(), run_against_member::members).count) != 0) *to += got;
          });
          return found == left ? "" : "a member is not found";
        },
        all_schedules()));
  }
}

class buddy_memory {
 public:
  buddy_memory() : memory_(spans_at + sizeof(buddy_tree::span)) {}
  template <class Body>
  void set_up(Body body) {
    in_one_lane([tree = tree(), body] { body(tree); });
    memory_.freeze();
  }
  buddy_tree tree() const {
    return {reinterpret_cast<buddy_tree::state*>(memory_.data()),
            reinterpret_cast<buddy_tree::span*>(memory_.data() + spans_at), 0};
  }
  const snapshot& memory() const { return memory_; }

 private:
  static constexpr std::size_t spans_at = align_up(sizeof(buddy_tree::state), 128);
  snapshot memory_;
};

// Each lane takes a block and gives it back; there is one for each.
struct take_and_give {
  buddy_tree tree;
  std::uint32_t order;
  std::uint32_t order_of_last;
  void operator()(std::uint64_t* out, unsigned lane) const {
    const std::uint32_t mine = lane == 0 ? order_of_last : order;
    const std::uint32_t page = tree.take(mine);
    out[lane] = page;
    require(page != buddy_tree::none, "refused with a block for each");
    tree.give(page, mine);
  }
};

std::string expect_whole(const buddy_memory& memory, std::uint32_t order) {
  std::uint64_t page = 0;
  in_one_lane([tree = memory.tree(), order, to = &page] { *to = tree.take(order); });
  return page != buddy_tree::none ? "" : "what was given back is not whole again";
}

// A unit of 64 pages that is broken for a page while another lane looks for one.
TEST(explored_buddy_tree, a_unit_is_broken_while_another_lane_searches) {
  buddy_memory memory;
  memory.set_up([](const buddy_tree& tree) { tree.add(0, 64); });
  expect_all_clean(explore_snapshot(
      memory.memory(), 2, take_and_give{memory.tree(), 0, 0}, [&](const results&) { return expect_whole(memory, 6); },
      few_switches(2)));
}

// Two halves of a unit: who gives back the second merges them, and another lane wants one.
TEST(explored_buddy_tree, halves_merge_while_another_lane_searches) {
  buddy_memory memory;
  memory.set_up([](const buddy_tree& tree) { tree.add(0, 64); });
  expect_all_clean(explore_snapshot(
      memory.memory(), 2, take_and_give{memory.tree(), 5, 5}, [&](const results&) { return expect_whole(memory, 6); },
      few_switches(2)));
}

WARPHEAP_TEST_PRIVATE(begin_snapshot, buddy_tree::begin_snapshot)
WARPHEAP_TEST_PRIVATE(split, buddy_tree::split)
WARPHEAP_TEST_PRIVATE(walk, buddy_tree::walk)
WARPHEAP_TEST_PRIVATE(was_quiescent, buddy_tree::was_quiescent)

// Of the two halves of a unit lane 1 has one. It gives that back, which merges them, and takes one again, which breaks
// the unit; so there is a half for another thread at any time, but it moves, twice. Lane 0 makes one pass as `take`
// does. If that meets nothing, it must know that it may have missed something.
struct pass_while_blocks_move {
  buddy_tree tree;
  void operator()(std::uint64_t*, unsigned lane) const {
    constexpr std::uint32_t order = 5;
    if (lane == 1) {
      tree.give(0, order);
      require(tree.take(order) != buddy_tree::none, "refused with a block for each");
      return;
    }
    const auto before = begin_snapshot(tree);
    std::uint32_t needs = 0;
    bool waits = false;
    auto found = split(tree, 0u, order, 1u, needs, waits);
    if (found.starts == 0 && !waits) found = walk(tree, 0u, order, 1u);
    if (found.starts == 0 && !waits)
      require(!was_quiescent(tree, before), "a pass missed a block and calls itself quiescent");
  }
};

TEST(explored_buddy_tree, a_pass_knows_that_blocks_moved) {
  buddy_memory memory;
  std::uint64_t held = 1;
  memory.set_up([to = &held](const buddy_tree& tree) {
    tree.add(0, 64);
    *to = tree.take(5);
  });
  ASSERT_EQ(held, 0u);
  expect_all_clean(explore_snapshot(
      memory.memory(), 2, pass_while_blocks_move{memory.tree()}, [](const results&) { return std::string{}; },
      all_schedules()));
}

}  // namespace
}  // namespace warpheap::test::structures_exploration_test
