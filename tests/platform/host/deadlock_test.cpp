// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The watchdogs: a launch in which nothing can go on fails with a report that names the seed and where each lane
// stands, and the seed replays it to the letter.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <platform/host/launch_outcome.hpp>
#include <set>
#include <sstream>
#include <string>
#include <support/masks.hpp>
#include <thread>
#include <vector>
#include <warpheap/platform.hpp>

namespace warpheap::deadlock_test {
namespace {

using test::contains;
using test::failure_of;
using test::seeded;

// A lock that is not given back when a thread draws the wrong lot: the others wait for good.
struct keep_the_lock {
  static constexpr unsigned pause_line = __LINE__ + 5;
  void operator()(std::uint32_t* lock, std::uint32_t* turns) const {
    const atomic_view<std::uint32_t> view{*lock};
    {
      backoff wait;
      while (view.exchange(1, memory_order::acquire, thread_scope::device) != 0) wait.pause();
    }
    const std::uint32_t turn = atomic_view{*turns}.fetch_add(1, memory_order::relaxed, thread_scope::device);
    if (turn == 20) return;
    view.store(0, memory_order::release, thread_scope::device);
  }
};

std::string keep_the_lock_under(const schedule& plan) {
  const scoped_schedule guard{plan};
  device_array<std::uint32_t> cells(2);
  return failure_of([&] { launch(grid_shape{3, 20}, keep_the_lock{}, cells.data(), cells.data() + 1); });
}

TEST(deadlock, lanes_that_only_wait_are_reported_with_seed_and_place) {
  const std::string text = keep_the_lock_under(seeded(7, schedule::policy::random, true));
  EXPECT_TRUE(contains(text, "no progress: all lanes only waited for 4096 rounds"));
  EXPECT_TRUE(contains(text, "schedule: random, seed 7, fuzz on, 1 worker"));
  EXPECT_TRUE(contains(text, "replay: WARPHEAP_SCHEDULE=random WARPHEAP_SEED=7 WARPHEAP_FUZZ=1 WARPHEAP_WORKERS=1"));
  EXPECT_TRUE(contains(text, " waiting at "));
  EXPECT_TRUE(contains(text, "deadlock_test.cpp:" + std::to_string(keep_the_lock::pause_line)));
}

TEST(deadlock, the_seed_replays_it_to_the_letter) {
  std::set<std::string> reports;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    for (const bool fuzz : {false, true}) {
      const schedule plan = seeded(seed, schedule::policy::random, fuzz);
      const std::string text = keep_the_lock_under(plan);
      EXPECT_EQ(text, keep_the_lock_under(plan));
      reports.insert(text.substr(text.find("  block")));
    }
  }
  EXPECT_GE(reports.size(), 5u) << "different seeds should stop with different lanes gone";
}

// The line that tells how to replay is the environment under which the same program fails in the same way.
TEST(deadlock, the_replay_line_replays_it) {
  const std::string text = keep_the_lock_under(seeded(11, schedule::policy::random, true));
  std::istringstream line(text.substr(text.find("replay: ") + 8));
  std::vector<std::string> names;
  for (std::string setting; names.size() < 4 && line >> setting;) {
    const std::size_t equals = setting.find('=');
    names.push_back(setting.substr(0, equals));
    ::setenv(names.back().c_str(), setting.substr(equals + 1).c_str(), 1);
  }
  EXPECT_EQ(text, keep_the_lock_under(detail::schedule_from_environment()));
  for (const std::string& name : names) ::unsetenv(name.c_str());
}

TEST(deadlock, is_seen_when_several_workers_wait) {
  schedule plan;
  plan.workers = 3;
  for (int i = 0; i < 5; ++i) {
    const std::string text = keep_the_lock_under(plan);
    EXPECT_TRUE(contains(text, "no progress: all lanes only waited"));
    EXPECT_TRUE(contains(text, "3 workers"));
    EXPECT_TRUE(contains(text, "several workers interleave anew each time"));
  }
}

// All lanes parked, none waiting: no round need pass.
struct park_all {
  void operator()(std::uint32_t* flag) const {
    if (lane_index() < 2) {
      sync(lane_index() == 0 ? 3 : 6);
    } else if (lane_index() == 2) {
      sync(5);
    } else {
      backoff wait;  // this one ends
      while (atomic_view{*flag}.load(memory_order::acquire, thread_scope::device) < 10) {
        wait.pause();
        atomic_view{*flag}.fetch_add(1, memory_order::relaxed, thread_scope::device);
      }
    }
  }
};

TEST(deadlock, parked_lanes_are_reported_at_once) {
  if (warp_width < 4) GTEST_SKIP() << "three lanes that wait in a ring, and one more";
  for (const unsigned workers : {1u, 2u}) {
    schedule plan;
    plan.workers = workers;
    plan.stalled_rounds = ~0u;  // so it is not the other watchdog
    const scoped_schedule guard{plan};
    device_array<std::uint32_t> flag(1);
    const std::string text = failure_of([&] { launch(grid_shape{3, 8}, park_all{}, flag.data()); });
    EXPECT_TRUE(contains(text, "deadlock: no lane of block "));
    EXPECT_TRUE(contains(text, "lane 0 parked in sync(0x3) at "));
    EXPECT_TRUE(contains(text, "lane 1 parked in sync(0x6) at "));
    EXPECT_TRUE(contains(text, "exited"));
  }
}

// A wait for a block that has not started: a GPU gives no promise either.
struct wait_for_the_last_block {
  void operator()(std::uint32_t* flag) const {
    const atomic_view<std::uint32_t> view{*flag};
    if (block_index() == grid_blocks() - 1) view.store(1, memory_order::release, thread_scope::device);
    backoff wait;
    while (view.load(memory_order::acquire, thread_scope::device) == 0) wait.pause();
  }
};

TEST(deadlock, a_wait_for_a_block_that_has_not_started_is_reported) {
  schedule plan;
  plan.workers = 1;
  plan.resident_lanes = 64;
  const scoped_schedule guard{plan};
  device_array<std::uint32_t> flag(1);
  const std::string text = failure_of([&] { launch(grid_shape{5, 32}, wait_for_the_last_block{}, flag.data()); });
  EXPECT_TRUE(contains(text, "grid: 5 blocks of 32 threads, 3 not started"));
  flag.clear();
  launch(grid_shape{2, 32}, wait_for_the_last_block{}, flag.data());
}

// Long waits that end: other lanes move now and then, so nothing is stalled.
struct wait_long {
  void operator()(std::uint32_t* flag) const {
    const atomic_view<std::uint32_t> view{*flag};
    if (grid_thread_index() == 0) {
      for (int i = 0; i < 20000; ++i) fence(memory_order::relaxed, thread_scope::device);
      view.store(1, memory_order::release, thread_scope::device);
    } else {
      backoff wait;
      while (view.load(memory_order::acquire, thread_scope::device) == 0) wait.pause();
    }
  }
};

TEST(deadlock, a_long_wait_is_none) {
  for (const unsigned workers : {1u, 2u, 4u}) {
    schedule plan;
    plan.workers = workers;
    plan.stalled_rounds = 8;
    const scoped_schedule guard{plan};
    device_array<std::uint32_t> flag(1);
    for (int i = 0; i < 3; ++i) {
      flag.clear();
      launch(grid_shape{8, 8}, wait_long{}, flag.data());
    }
  }
}

// Blocks that pass a token around, so that most of the time all lanes but one wait, on whichever worker.
struct pass_token {
  void operator()(std::uint32_t* token, std::uint32_t rounds) const {
    const atomic_view<std::uint32_t> view{*token};
    const auto threads = static_cast<std::uint32_t>(grid_threads());
    for (std::uint32_t i = 0; i < rounds; ++i) {
      {
        backoff wait;
        while (view.load(memory_order::acquire, thread_scope::device) % threads != grid_thread_index()) wait.pause();
      }
      view.fetch_add(1, memory_order::release, thread_scope::device);
    }
  }
};

TEST(deadlock, workers_that_wait_for_each_other_are_not_stalled) {
  schedule plan;
  plan.workers = 4;  // more than there may be cores, so the system takes turns too
  plan.stalled_rounds = 2;
  const scoped_schedule guard{plan};
  device_array<std::uint32_t> token(1);
  launch(grid_shape{4, 1}, pass_token{}, token.data(), 300u);
  EXPECT_EQ(token.at(0), 1200u);
}

// A launch that moves for long, and then sets what a launch of another host thread waits for.
struct set_late {
  void operator()(std::uint32_t* words) const {
    atomic_view{words[0]}.store(1, memory_order::release, thread_scope::device);
    // not a wait: each look is a move
    while (atomic_view{words[1]}.load(memory_order::acquire, thread_scope::device) == 0) {
    }
    for (int i = 0; i < 200'000; ++i) fence(memory_order::relaxed, thread_scope::device);
    atomic_view{words[2]}.store(1, memory_order::release, thread_scope::device);
  }
};
struct wait_for_the_late {
  void operator()(std::uint32_t* words) const {
    atomic_view{words[1]}.store(1, memory_order::release, thread_scope::device);
    backoff wait;
    while (atomic_view{words[2]}.load(memory_order::acquire, thread_scope::device) == 0) wait.pause();
  }
};

void wait_until_set(std::uint32_t& word) {
  while (atomic_view{word}.load(memory_order::acquire, thread_scope::device) == 0) std::this_thread::yield();
}

TEST(deadlock, a_launch_of_another_thread_that_moves_is_progress) {
  schedule plan;
  plan.workers = 1;
  plan.stalled_rounds = 8;
  const scoped_schedule guard{plan};
  device_array<std::uint32_t> words(3);
  std::thread other([data = words.data()] { launch(grid_shape{1, 1}, set_late{}, data); });
  wait_until_set(words.data()[0]);
  EXPECT_NO_THROW(launch(grid_shape{2, 3}, wait_for_the_late{}, words.data()));
  other.join();
}

// Each says that it has come, waits for the other, and then for what never comes.
struct wait_for_each_other {
  void operator()(std::uint32_t* words, std::uint32_t mine) const {
    atomic_view{words[mine]}.store(1, memory_order::release, thread_scope::device);
    backoff wait;
    while (atomic_view{words[2]}.load(memory_order::acquire, thread_scope::device) == 0) wait.pause();
  }
};

TEST(deadlock, launches_that_wait_for_each_other_are_both_reported) {
  schedule plan;
  plan.workers = 1;
  const scoped_schedule guard{plan};
  device_array<std::uint32_t> words(3);
  std::string text[2];
  const auto wait = [&](std::uint32_t mine) {
    text[mine] = failure_of([&] { launch(grid_shape{2, 3}, wait_for_each_other{}, words.data(), mine); });
  };
  std::thread other([&] { wait(0); });
  wait_until_set(words.data()[0]);
  wait(1);
  other.join();
  for (const std::string& each : text) EXPECT_TRUE(contains(each, "no progress: all lanes only waited"));
}

// Nothing can switch away from this lane.
struct spin_without_a_point {
  void operator()(std::uint32_t* cell) const {
    if (grid_thread_index() != 33) return;
    std::uint32_t* volatile hidden = cell;
    while (*hidden == 0) {
    }
  }
};

TEST(deadlock_deathtest, a_lane_that_never_switches_ends_the_process) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        schedule plan = seeded(9);
        plan.lane_limit = std::chrono::seconds{1};
        const scoped_schedule guard{plan};
        device_array<std::uint32_t> cell(1);
        launch(grid_shape{2, 32}, spin_without_a_point{}, cell.data());
      },
      "a lane ran for 1 s without an atomic operation or a collective \\(block 1, thread 1 .*\n.*\n.*seed 9");
}

TEST(deadlock, the_next_launch_works) {
  for (int i = 0; i < 5; ++i) {
    keep_the_lock_under(seeded(3));
    const scoped_schedule guard{seeded(3)};
    device_array<std::uint32_t> token(1);
    launch(grid_shape{2, 33}, pass_token{}, token.data(), 2u);
    EXPECT_EQ(token.at(0), 132u);
  }
}

}  // namespace
}  // namespace warpheap::deadlock_test
