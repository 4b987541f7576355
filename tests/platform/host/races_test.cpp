// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The instrument is tested: ThreadSanitizer reports planted races, between lanes of one warp and between blocks, and
// finds nothing in correct code, which all builds run.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <platform/host/launch_outcome.hpp>
#include <platform/host/planted.hpp>
#include <support/masks.hpp>
#include <support/schedules.hpp>
#include <warpheap/platform.hpp>

namespace warpheap::races_test {
namespace {

using test::expect_clean;
using test::expect_race;
using test::full_warp;
using test::run_under;
using test::shared_words;

constexpr thread_scope scope = thread_scope::device;
using word = std::uint32_t;

// Two lanes of the warp write one word.
struct race_in_warp {
  void operator()(shared_words* shared) const {
    if (lane_index() < 2) shared->data = 1;
  }
};
TEST(race_deathtest, between_lanes_of_a_warp) {
  if (warp_width == 1) GTEST_SKIP() << "a warp of one has no two lanes";
  expect_race({1, 32}, race_in_warp{});
}

struct race_in_block {
  void operator()(shared_words* shared) const {
    if (lane_index() == 0) shared->data = 1;
  }
};
TEST(race_deathtest, between_warps_of_a_block) { expect_race({1, 64}, race_in_block{}); }

struct race_between_blocks {
  void operator()(shared_words* shared) const {
    if (thread_index() == 0) ++shared->data;
  }
};
TEST(race_deathtest, between_blocks) { expect_race({2, 32}, race_between_blocks{}); }

// The blocks are never under way together, but nothing orders them.
struct race_between_first_and_last {
  void operator()(shared_words* shared) const {
    if (thread_index() == 0 && (block_index() == 0 || block_index() == grid_blocks() - 1)) shared->data = 1;
  }
};
TEST(race_deathtest, between_blocks_that_run_one_after_the_other) {
  expect_race({12, 16}, race_between_first_and_last{});
}

// Locks that do not: one without release, one without acquire.
template <memory_order taking, memory_order giving>
struct count_under_weak_lock {
  void operator()(shared_words* shared) const {
    const atomic_view<word> lock{shared->flag};
    {
      backoff wait;
      while (lock.exchange(1, taking, scope) != 0) wait.pause();
    }
    ++shared->data;
    lock.exchange(0, giving, scope);
  }
};
TEST(race_deathtest, under_a_lock_that_does_not_release) {
  expect_race({2, 4}, count_under_weak_lock<memory_order::acquire, memory_order::relaxed>{});
}
TEST(race_deathtest, under_a_lock_that_does_not_acquire) {
  expect_race({2, 4}, count_under_weak_lock<memory_order::relaxed, memory_order::release>{});
}

// Votes and shuffles carry values and no order.
struct publish_by_ballot {
  void operator()(shared_words* shared) const {
    if (is_leader(full_warp)) shared->data = 5;
    ballot(full_warp, true);
    shared->more[lane_index()] = shared->data;
  }
};
TEST(race_deathtest, a_ballot_does_not_publish) {
  if (warp_width == 1) GTEST_SKIP() << "a warp of one has nobody to publish to";
  expect_race({1, 32}, publish_by_ballot{});
}

struct publish_by_shuffle {
  void operator()(shared_words* shared) const {
    if (is_leader(full_warp)) shared->data = 5;
    shuffle(full_warp, 1, 0);
    shared->more[lane_index()] = shared->data;
  }
};
TEST(race_deathtest, a_shuffle_does_not_publish) {
  if (warp_width == 1) GTEST_SKIP() << "a warp of one has nobody to publish to";
  expect_race({1, 32}, publish_by_shuffle{});
}

// Two groups that sync, each for itself, many times over: that orders nothing between them.
struct sync_apart {
  void operator()(shared_words* shared) const {
    const lane_mask group = test::side_of(full_warp & 0x0f0f0f0fu & 0x55555555u);
    for (int i = 0; i < 20; ++i) sync(group);
    if (is_leader(group)) shared->data = 1;
    for (int i = 0; i < 20; ++i) sync(group);
  }
};
TEST(race_deathtest, groups_that_sync_apart_are_not_ordered) {
  if (warp_width == 1) GTEST_SKIP() << "a warp of one has no two groups";
  expect_race({1, 32}, sync_apart{});
}

// The barrier of a block orders nothing between blocks.
struct barriers_apart {
  void operator()(shared_words* shared) const {
    for (int i = 0; i < 4; ++i) sync_block();
    if (thread_index() == 0) shared->data = 1;
    for (int i = 0; i < 4; ++i) sync_block();
  }
};
TEST(race_deathtest, barriers_of_two_blocks_do_not_order_them) { expect_race({2, 32}, barriers_apart{}); }

// Correct code.
TEST(clean_deathtest, a_lock_orders_what_it_guards) {
  expect_clean({6, 48}, count_under_weak_lock<memory_order::acquire, memory_order::release>{});
}

struct publish_by_flag {
  void operator()(shared_words* shared) const {
    const atomic_view<word> ready{shared->flag};
    if (grid_thread_index() == grid_threads() - 1) {
      shared->data = 7;
      ready.store(1, memory_order::release, scope);
      return;
    }
    backoff wait;
    while (ready.load(memory_order::acquire, scope) == 0) wait.pause();
    if (shared->data != 7) check_failed("the reader was too early");
  }
};
TEST(clean_deathtest, a_released_flag_publishes) { expect_clean({2, 64}, publish_by_flag{}); }

struct publish_by_fences {
  void operator()(shared_words* shared) const {
    const atomic_view<word> ready{shared->flag};
    if (grid_thread_index() == grid_threads() - 1) {
      shared->data = 7;
      fence(memory_order::release, scope);
      ready.store(1, memory_order::relaxed, scope);
      return;
    }
    {
      backoff wait;
      while (ready.load(memory_order::relaxed, scope) == 0) wait.pause();
    }
    fence(memory_order::acquire, scope);
    if (shared->data != 7) check_failed("the reader was too early");
  }
};
TEST(clean_deathtest, fences_publish) { expect_clean({2, 32}, publish_by_fences{}); }

struct publish_by_sync {
  void operator()(shared_words* shared) const {
    word* const mine = &shared->more[thread_index()];
    for (word i = 1; i <= 20; ++i) {
      *mine = i;
      sync(full_warp);
      const word first = thread_index() / warp_width * warp_width;
      if (shared->more[first + (thread_index() + i) % warp_width] != i) check_failed("a write was not visible");
      sync(full_warp);
    }
  }
};
TEST(clean_deathtest, a_sync_publishes) { expect_clean({1, 64}, publish_by_sync{}); }

struct publish_by_barrier {
  void operator()(shared_words* shared) const {
    if (block_index() != 0) return;
    for (word i = 1; i <= 10; ++i) {
      shared->more[thread_index()] = i;
      sync_block();
      if (shared->more[(thread_index() + i) % 64] != i) check_failed("a write was not visible");
      sync_block();
    }
  }
};
TEST(clean_deathtest, a_block_barrier_publishes) { expect_clean({3, 64}, publish_by_barrier{}); }

// The lanes of one launch write, those of the next read, the host in between; blocks use the same storage in turn.
struct write_own {
  void operator()(word* words, word value) const { words[grid_thread_index()] = value; }
};
struct read_others {
  void operator()(word& sum, const word* words, word value) const {
    atomic_view{sum}.fetch_add(words[grid_threads() - 1 - grid_thread_index()], memory_order::relaxed, scope);
    sync_block();
    if (sum != value * block_threads()) check_failed("a launch did not see what the one before wrote");
  }
};
[[noreturn]] void launch_after_launch() {
  for (const schedule& plan : test::test_schedules(1)) {
    const scoped_schedule guard{plan};
    device_array<word> words(24 * 100);
    for (word value = 1; value < 5; ++value) {
      launch(grid_shape{24, 100}, write_own{}, words.data(), value);
      if (words.at(17) != value) std::abort();
      launch_with_shared<word>(grid_shape{24, 100}, read_others{}, words.data(), value);
    }
  }
  std::exit(0);
}
TEST(clean_deathtest, launches_are_ordered) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(launch_after_launch(), testing::ExitedWithCode(0), "^$");
}

// What lanes wrote before their launch failed may be read, and the memory used anew.
struct write_and_fail {
  void operator()(word* words) const {
    words[grid_thread_index()] = 1;
    sync(full_warp);
    word local = 0;
    atomic_view{local}.fetch_add(1, memory_order::relaxed, scope);
    require(grid_thread_index() != 70, "planted");
    sync_block();
  }
};
[[noreturn]] void read_after_failure() {
  for (const schedule& plan : test::test_schedules(1)) {
    const scoped_schedule guard{plan};
    for (int i = 0; i < 3; ++i) {
      device_array<word> words(4 * 64);
      test::failure_of([&] { launch(grid_shape{4, 64}, write_and_fail{}, words.data()); });
      words.to_host();
      launch(grid_shape{4, 64}, write_own{}, words.data(), word{3});
    }
  }
  std::exit(0);
}
TEST(clean_deathtest, a_failed_launch_leaves_nothing_behind) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(read_after_failure(), testing::ExitedWithCode(0), "^$");
}

struct meet_often {
  void operator()(shared_words* shared) const {
    word local[8] = {};
    for (word i = 0; i < 4; ++i) {
      local[i] = atomic_view{shared->data}.fetch_add(1, memory_order::relaxed, scope);
      sync(full_warp);
    }
    if (reduce(full_warp, local[0], maximum{}) < local[0]) check_failed("the largest is not the largest");
    sync_block();
  }
};
TEST(clean_deathtest, many_lanes_and_large_blocks) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto child = [] {
    run_under(current_schedule(), {1024, 64}, meet_often{});
    run_under(current_schedule(), {4, 1024}, meet_often{});
    std::exit(0);
  };
  EXPECT_EXIT(child(), testing::ExitedWithCode(0), "^$");
}

}  // namespace
}  // namespace warpheap::races_test
