// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// With one worker a seed gives the same interleaving each time, and another seed another one.

#include <gtest/gtest.h>

#include <cstdint>
#include <platform/host/launch_outcome.hpp>
#include <set>
#include <support/masks.hpp>
#include <vector>
#include <warpheap/platform.hpp>

namespace warpheap::replay_test {
namespace {

using test::seeded;

constexpr std::uint32_t lanes = 4 * 48;
constexpr std::uint32_t events = 3;

// A log of who came when: a ticket for each event, with a collective, a gathering and a wait between them.
struct log_turns {
  void operator()(std::uint64_t* log, std::uint32_t* next, std::uint32_t* flag) const {
    const auto note = [&](std::uint64_t what) {
      const std::uint32_t ticket = atomic_view{*next}.fetch_add(1, memory_order::relaxed, thread_scope::device);
      log[ticket] = what << 32 | grid_thread_index();
    };
    note(1);
    const lane_mask group = active_group();
    note(group);
    sync(group);
    {
      backoff wait;
      while (atomic_view{*flag}.load(memory_order::acquire, thread_scope::device) < grid_thread_index() % 5) {
        wait.pause();
        if (lane_index() == 3) atomic_view{*flag}.fetch_add(1, memory_order::release, thread_scope::device);
      }
    }
    note(multiprocessor_index());
    atomic_view{*flag}.fetch_add(1, memory_order::release, thread_scope::device);
  }
};

std::vector<std::uint64_t> log_under(const schedule& plan) {
  const scoped_schedule guard{plan};
  device_array<std::uint64_t> log(events * lanes);
  device_array<std::uint32_t> cells(2);
  launch(grid_shape{4, 48}, log_turns{}, log.data(), cells.data(), cells.data() + 1);
  return log.to_host();
}

TEST(replay, a_seed_gives_one_interleaving) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    for (const bool fuzz : {false, true}) {
      for (const auto order : {schedule::policy::round_robin, schedule::policy::random, schedule::policy::stalling}) {
        const schedule plan = seeded(seed, order, fuzz);
        const std::vector<std::uint64_t> first = log_under(plan);
        EXPECT_EQ(first, log_under(plan)) << "seed " << seed;
        log_under(seeded(seed + 100));  // whatever ran in between
        EXPECT_EQ(first, log_under(plan)) << "seed " << seed;
      }
    }
  }
}

TEST(replay, other_seeds_give_other_interleavings) {
  std::set<std::vector<std::uint64_t>> random;
  std::set<std::vector<std::uint64_t>> fuzzed;
  std::set<std::vector<std::uint64_t>> in_turn;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    random.insert(log_under(seeded(seed)));
    fuzzed.insert(log_under(seeded(seed, schedule::policy::round_robin, true)));
    in_turn.insert(log_under(seeded(seed, schedule::policy::round_robin)));
  }
  EXPECT_EQ(random.size(), 20u);
  EXPECT_EQ(fuzzed.size(), 20u);
  EXPECT_EQ(in_turn.size(), 1u) << "round-robin without fuzz has no use for a seed";
}

// With one worker, lanes of different blocks take turns: each block sees the other one's events among its own.
TEST(replay, blocks_are_interleaved_by_one_worker) {
  for (const auto order : {schedule::policy::round_robin, schedule::policy::random}) {
    const std::vector<std::uint64_t> log = log_under(seeded(1, order));
    int changes = 0;
    for (std::size_t i = 1; i < log.size(); ++i) {
      if ((log[i] & 0xffffffffu) / 48 != (log[i - 1] & 0xffffffffu) / 48) ++changes;
    }
    EXPECT_GT(changes, 10);
  }
}

}  // namespace
}  // namespace warpheap::replay_test
