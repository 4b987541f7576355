// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Collectives that break their contract fail the launch at once, and the report says who waits for whom.

#include <gtest/gtest.h>

#include <cstdint>
#include <platform/host/launch_outcome.hpp>
#include <string>
#include <support/masks.hpp>
#include <warpheap/platform.hpp>

namespace warpheap::misuse_test {
namespace {

using test::contains;
using test::failure_of;
using test::full_warp;

// Each mistake under several schedules, since the order in which lanes come to it varies.
template <class Kernel>
void expect_failure(Kernel kernel, const std::string& part, std::uint32_t threads = warp_width) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const auto order = seed == 0 ? schedule::policy::round_robin : schedule::policy::random;
    const scoped_schedule guard{test::seeded(seed, order, seed % 2 == 0)};
    const std::string text = failure_of([&] { launch(grid_shape{2, threads}, kernel); });
    EXPECT_TRUE(contains(text, part)) << "seed " << seed;
    EXPECT_TRUE(contains(text, "misuse_test.cpp:")) << "seed " << seed;
    EXPECT_TRUE(contains(text, "WARPHEAP_SEED=" + std::to_string(seed)));
  }
}

class misuse : public testing::Test {
 protected:
  void SetUp() override {
    if (warp_width < 4) GTEST_SKIP() << "these mistakes need at least four lanes";
  }
};

struct leave_out_oneself {
  void operator()() const {
    if (lane_index() == 2) ballot(1, true);
  }
};
TEST_F(misuse, a_group_without_its_caller) {
  expect_failure(leave_out_oneself{}, "ballot(0x1) at ");
  expect_failure(leave_out_oneself{}, ": the group lacks the caller");
}

struct name_lanes_beyond_the_block {
  void operator()() const { sync(7); }
};
TEST_F(misuse, a_group_that_names_lanes_beyond_the_block) {
  expect_failure(name_lanes_beyond_the_block{}, ": the group names lane 2, which the warp does not have", 2);
}

struct exit_early {
  void operator()(bool late) const {
    if (lane_index() == 1) {
      // Late: when lane 0 is parked already.
      for (int i = 0; i < (late ? 50 : 0); ++i) fence(memory_order::relaxed, thread_scope::block);
      return;
    }
    if (lane_index() == 0) {
      for (int i = 0; i < (late ? 0 : 50); ++i) fence(memory_order::relaxed, thread_scope::block);
      shuffle(3, 1, 0);
    }
  }
};
TEST_F(misuse, a_lane_that_exits_while_a_group_names_it) {
  const scoped_schedule guard{test::seeded(1, schedule::policy::round_robin)};
  const std::string late = failure_of([] { launch(grid_shape{1, 4}, exit_early{}, true); });
  EXPECT_TRUE(contains(late, "a lane exited (block 0, thread 1 (warp 0, lane 1)) while shuffle(0x3) at "));
  EXPECT_TRUE(contains(late, "(block 0, thread 0 (warp 0, lane 0)) waits for it"));
  EXPECT_TRUE(contains(late, "lane 0 parked in shuffle(0x3) at "));
  const std::string early = failure_of([] { launch(grid_shape{1, 4}, exit_early{}, false); });
  EXPECT_TRUE(contains(early, "shuffle(0x3) at "));
  EXPECT_TRUE(contains(early, ": the group names lane 1, which exited"));
}

struct assume_all_are_here {
  void operator()() const {
    if (lane_index() % 2 == 0) return;
    sync(full_warp);
  }
};
TEST_F(misuse, a_full_mask_in_a_branch) { expect_failure(assume_all_are_here{}, "exited"); }

struct disagree_on_the_operation {
  void operator()() const {
    if (lane_index() < 2) {
      ballot(full_warp, true);
    } else {
      sync(full_warp);
    }
  }
};
TEST_F(misuse, lanes_that_disagree_on_the_operation) {
  expect_failure(disagree_on_the_operation{}, "wait for each other: lanes of a group must call the same operation");
}

struct disagree_on_the_group {
  void operator()() const {
    if (lane_index() > 2) return;
    sync(lane_index() == 0 ? 3 : 7);
  }
};
TEST_F(misuse, lanes_that_disagree_on_the_group) {
  expect_failure(disagree_on_the_group{}, " and sync(0x");
  expect_failure(disagree_on_the_group{}, "wait for each other");
}

struct meet_across_the_barrier {
  void operator()() const {
    if (lane_index() == 0) {
      sync(3);
      sync_block();
    } else {
      sync_block();
      if (lane_index() == 1) sync(3);
    }
  }
};
TEST_F(misuse, a_group_and_the_block_barrier_that_wait_for_each_other) {
  expect_failure(meet_across_the_barrier{}, "sync(0x3) at ");
  expect_failure(meet_across_the_barrier{}, "waits for a lane at the block barrier at ");
}

// Three lanes that wait in a ring: no two name each other, so only the deadlock tells.
struct wait_in_a_ring {
  void operator()() const {
    const int me = lane_index();
    if (me < 3) sync((1u << me) | (1u << (me + 1) % 3));
  }
};
TEST_F(misuse, a_ring_of_groups_is_a_deadlock) {
  expect_failure(wait_in_a_ring{}, "deadlock: no lane of block ");
  expect_failure(wait_in_a_ring{}, "lane 2 parked in sync(0x5) at ");
}

}  // namespace
}  // namespace warpheap::misuse_test
