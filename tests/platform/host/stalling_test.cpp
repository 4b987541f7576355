// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// A stalling schedule lets a lane stand still while others take thousands of steps, wherever it is; and who waits for
// one that stands still does not wait for ever.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <platform/host/launch_outcome.hpp>
#include <warpheap/platform.hpp>

namespace warpheap::stalling_test {
namespace {

using test::seeded;

// The most steps that others took between two of the caller's.
struct watch_the_others {
  void operator()(std::uint32_t* steps, std::uint32_t* most, std::uint32_t times) const {
    std::uint32_t before = 0;
    for (std::uint32_t i = 0; i < times; ++i) {
      const std::uint32_t now = atomic_view{*steps}.fetch_add(1, memory_order::relaxed, thread_scope::device);
      if (i != 0) atomic_view{*most}.fetch_max(now - before, memory_order::relaxed, thread_scope::device);
      before = now;
    }
  }
};

std::uint32_t longest_stall(schedule::policy order, std::uint64_t seed) {
  const scoped_schedule guard{seeded(seed, order)};
  const device_array<std::uint32_t> steps(1);
  const device_array<std::uint32_t> most(1);
  launch({4, 16}, watch_the_others{}, steps.data(), most.data(), 400u);
  return most.at(0);
}

TEST(stalling, a_lane_stands_still_for_thousands_of_steps) {
  std::uint32_t random = 0;
  std::uint32_t stalling = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    random = std::max(random, longest_stall(schedule::policy::random, seed));
    stalling = std::max(stalling, longest_stall(schedule::policy::stalling, seed));
  }
  EXPECT_GT(stalling, 4000u);
  EXPECT_LT(2 * random, stalling);
}

// Lanes hand a turn on, each to the next: when one stands still, all others wait for it.
struct pass_it_on {
  void operator()(std::uint32_t* turn, std::uint32_t rounds) const {
    const auto mine = static_cast<std::uint32_t>(grid_thread_index());
    const auto all = static_cast<std::uint32_t>(grid_threads());
    for (std::uint32_t round = 0; round < rounds; ++round) {
      backoff wait;
      while (atomic_view{*turn}.load(memory_order::acquire, thread_scope::device) != round * all + mine) wait.pause();
      atomic_view{*turn}.store(round * all + mine + 1, memory_order::release, thread_scope::device);
    }
  }
};

TEST(stalling, waits_for_one_that_stands_still_end) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const scoped_schedule guard{seeded(seed, schedule::policy::stalling, seed % 2 == 0)};
    const device_array<std::uint32_t> turn(1);
    launch({2, 24}, pass_it_on{}, turn.data(), 20u);
    EXPECT_EQ(turn.at(0), 2u * 24 * 20) << "seed " << seed;
  }
}

// Collectives meet, whoever of them stands still.
struct meet_often {
  void operator()(std::uint32_t* met, std::uint32_t times) const {
    for (std::uint32_t i = 0; i < times; ++i) {
      const lane_mask group = active_group();
      sync(group);
      if (is_leader(group)) {
        const auto size = static_cast<std::uint32_t>(group_size(group));
        atomic_view{*met}.fetch_add(size, memory_order::relaxed, thread_scope::device);
      }
      sync_block();
    }
  }
};

TEST(stalling, groups_and_blocks_meet) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const scoped_schedule guard{seeded(seed, schedule::policy::stalling, seed % 2 == 0)};
    const device_array<std::uint32_t> met(1);
    launch({3, 48}, meet_often{}, met.data(), 10u);
    EXPECT_EQ(met.at(0), 3u * 48 * 10) << "seed " << seed;
  }
}

}  // namespace
}  // namespace warpheap::stalling_test
