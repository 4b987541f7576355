// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The explorer itself: it finds what is wrong, its schedules replay, and it says what it cannot explore.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <exploration/host/litmus.hpp>
#include <stdexcept>
#include <string>
#include <vector>
#include <warpheap/platform.hpp>
#include <warpheap/platform/exploration.hpp>

namespace warpheap::test::explorer_findings_test {
namespace {

using words_t = std::vector<word>;

TEST(explorer_findings, finds_a_lost_update) {
  const exploration result = explore_words(
      2, [](word* w, unsigned) { write(w[0], read(w[0]) + 1); },
      [](const words_t& words) { return words[0] == 2 ? "" : "the counter is " + std::to_string(words[0]); });
  EXPECT_NE(result.failure.find("the counter is 1"), std::string::npos) << result.failure;
  EXPECT_NE(result.failure.find("WARPHEAP_EXPLORE_REPLAY=" + result.schedule + " "), std::string::npos);
  EXPECT_FALSE(result.complete);
}

// A lock of one word. With `takes` false whoever comes second walks in.
struct lock_kernel {
  bool takes;
  void operator()(word* w, unsigned) const {
    {
      backoff wait;
      while (takes ? !swap_if(w[0], 0, 1) : read(w[0]) != 0) wait.pause();
    }
    if (!takes) write(w[0], 1);
    require(add(w[1], 1) == 0, "two lanes hold the lock");
    add(w[2], 1);
    add(w[1], ~word{0});
    write(w[0], 0);
  }
};

TEST(explorer_findings, a_right_lock_is_right) {
  for (unsigned lanes = 2; lanes <= 3; ++lanes) {
    const exploration result = explore_words(
        lanes, lock_kernel{true}, [lanes](const words_t& words) { return words[2] == lanes ? "" : "a lane was lost"; });
    expect_clean(result);
    EXPECT_GE(result.executions, lanes == 2 ? 2u : 6u);
  }
}

TEST(explorer_findings, a_wrong_lock_is_found) {
  const exploration result = explore_words(2, lock_kernel{false}, [](const words_t&) { return ""; });
  EXPECT_NE(result.failure.find("two lanes hold the lock"), std::string::npos) << result.failure;
}

// Two locks in opposite orders.
struct two_locks {
  void operator()(word* w, unsigned lane) const {
    for (unsigned i = 0; i < 2; ++i) {
      backoff wait;
      while (!swap_if(w[(lane + i) % 2], 0, 1)) wait.pause();
    }
    write(w[0], 0);
    write(w[1], 0);
  }
};

TEST(explorer_findings, finds_a_deadlock_and_replays_it) {
  const auto look = [](const words_t&) { return ""; };
  const exploration result = explore_words(2, two_locks{}, look);
  EXPECT_NE(result.failure.find("deadlock: all lanes wait"), std::string::npos) << result.failure;
  EXPECT_NE(result.failure.find("explorer_findings_test.cpp:"), std::string::npos) << result.failure;
  exploration_options options;
  options.replay = result.schedule;
  const exploration again = explore_words(2, two_locks{}, look, options);
  EXPECT_EQ(again.executions, 1u);
  EXPECT_EQ(again.schedule, result.schedule);
  EXPECT_EQ(again.failure.substr(again.failure.find("  schedule")),
            result.failure.substr(result.failure.find("  schedule")));
}

TEST(explorer_findings, the_environment_replays) {
  const auto kernel = [](word* w, unsigned) { write(w[0], read(w[0]) + 1); };
  const auto look = [](const words_t& words) { return words[0] == 2 ? "" : "lost"; };
  const exploration result = explore_words(2, kernel, look);
  ::setenv("WARPHEAP_EXPLORE_REPLAY", result.schedule.c_str(), 1);
  const exploration again = explore_words(2, kernel, look);
  ::setenv("WARPHEAP_EXPLORE_REPLAY", "0*3,1*3", 1);
  const exploration good = explore_words(2, kernel, look);
  ::setenv("WARPHEAP_EXPLORE_REPLAY", "0*4,1*2", 1);
  const exploration misfit = explore_words(2, kernel, look);
  ::unsetenv("WARPHEAP_EXPLORE_REPLAY");
  EXPECT_EQ(again.executions, 1u);
  EXPECT_EQ(again.schedule, result.schedule);
  EXPECT_NE(again.failure.find("lost"), std::string::npos);
  EXPECT_EQ(good.failure, "");
  EXPECT_FALSE(good.complete) << "one schedule is not all";
  EXPECT_NE(misfit.failure.find("does not fit the kernel: at step 3 lane 0"), std::string::npos) << misfit.failure;
}

TEST(explorer_findings, refuses_what_is_no_schedule) {
  for (const char* text : {"x", "0*", "0,", ",0", "0*3;1", "8", "0*99999999999999999999", "-1", " 0"}) {
    exploration_options options;
    options.replay = text;
    EXPECT_THROW(explore_words(
                     1, [](word*, unsigned) {}, [](const words_t&) { return ""; }, options),
                 std::invalid_argument)
        << text;
  }
}

// A wait for what a lane did between the look and the pause ends; a wait for what never comes is a deadlock.
TEST(explorer_findings, no_wait_misses_a_change) {
  expect_clean(explore_words(
      3,
      [](word* w, unsigned lane) {
        if (lane == 0) {
          await(w[0], 2);
        } else {
          add(w[0], 1);
        }
      },
      [](const words_t&) { return ""; }));
  const exploration never = explore_words(
      2, [](word* w, unsigned lane) { lane == 0 ? await(w[0], 2) : void(add(w[0], 1)); },
      [](const words_t&) { return ""; });
  EXPECT_NE(never.failure.find("deadlock"), std::string::npos);
}

// A wait that looks at one word before an inner wait and decides after it.
TEST(explorer_findings, a_wait_in_a_wait_is_followed) {
  expect_clean(explore_words(
      2,
      [](word* w, unsigned lane) {
        if (lane == 0) {
          write(w[0], 1);
          write(w[1], 1);
        } else {
          for (backoff outer;; outer.pause()) {
            const word seen = read(w[0]);
            await(w[1], 1);
            if (seen == 1) break;
          }
        }
      },
      [](const words_t&) { return ""; }));
}

// A wait that gives up after a few looks is no deadlock.
TEST(explorer_findings, a_wait_that_gives_up_ends) {
  exploration_options options;
  options.idle_turns = 4;
  expect_clean(explore_words(
      2,
      [](word* w, unsigned lane) {
        backoff wait;
        for (int i = 0; i < 4 && read(w[lane]) == 0; ++i) wait.pause();
      },
      [](const words_t&) { return ""; }, options));
}

TEST(explorer_findings, an_endless_kernel_is_reported) {
  exploration_options options;
  options.most_steps = 100;
  const exploration result = explore_words(
      1,
      [](word* w, unsigned) {
        while (read(w[0]) == 0) add(w[1], 1);
      },
      [](const words_t&) { return ""; }, options);
  EXPECT_NE(result.failure.find("no end: more than 100 steps"), std::string::npos) << result.failure;
}

// Two lanes that keep each other busy: cut, counted, and not called complete.
TEST(explorer_findings, a_lane_that_waits_too_often_is_cut) {
  exploration_options options;
  options.most_waits = 3;
  const exploration result = explore_words(
      2,
      [](word* w, unsigned) {
        for (backoff wait;; wait.pause()) {
          if (add(w[0], 1) == 0) return;
          add(w[0], ~word{0});
        }
      },
      [](const words_t&) { return ""; }, options);
  EXPECT_GT(result.cut, 0u);
  EXPECT_FALSE(result.complete);
}

TEST(explorer_findings, stops_at_the_bound_of_executions) {
  exploration_options options;
  options.most_executions = 5;
  const exploration result =
      explore_words(4, [](word* w, unsigned lane) { write(w[0], lane); }, [](const words_t&) { return ""; }, options);
  EXPECT_EQ(result.executions, 5u);
  EXPECT_FALSE(result.complete);
}

// Lanes of a warp that meet: what comes before the meeting does not race with what comes after it.
TEST(explorer_findings, knows_what_a_meeting_orders) {
  if (warp_width < 3) GTEST_SKIP() << "needs lanes that share a warp";
  const exploration result = explore_warp(
      3,
      [](word* w, unsigned lane) {
        add(w[lane], 1);
        const lane_mask all = 7;
        const word sum = reduce(all, word{1}, plus{});
        w[4 + lane] = sum + read(w[(lane + 1) % 3]);
      },
      [](const words_t& words) { return words[4] == 4 && words[5] == 4 && words[6] == 4 ? "" : "a meeting was lost"; });
  expect_clean(result);
  EXPECT_EQ(result.executions, 1u);
}

TEST(explorer_findings, lanes_race_before_a_block_barrier_and_not_across_it) {
  const exploration result = explore_warp(
      2,
      [](word* w, unsigned lane) {
        write(w[0], lane);
        sync_block();
        w[1 + lane] = read(w[0]);
      },
      [](const words_t& words) { return words[1] == words[2] ? "" : "torn"; });
  expect_clean(result);
  EXPECT_EQ(result.executions, 2u);
}

TEST(explorer_findings, active_group_is_the_caller) {
  if (warp_width < 2) GTEST_SKIP() << "needs lanes that share a warp";
  expect_clean(explore_warp(
      2, [](word* w, unsigned lane) { w[lane] = active_group(); },
      [](const words_t& words) { return words[0] == 1 && words[1] == 2 ? "" : "not alone"; }));
}

// A collective that cannot complete fails in some schedule or all; the report says so.
TEST(explorer_findings, a_collective_that_cannot_complete_is_reported) {
  if (warp_width < 2) GTEST_SKIP() << "needs lanes that share a warp";
  const exploration result = explore_warp(
      2,
      [](word* w, unsigned lane) {
        if (lane == 1 && read(w[0]) == 1) return;
        write(w[0], 1);
        sync(3);
      },
      [](const words_t&) { return ""; });
  EXPECT_NE(result.failure.find("exited"), std::string::npos) << result.failure;
}

// A mistake that needs two switches between lanes that could go on.
struct needs_two_switches {
  void operator()(word* w, unsigned lane) const {
    if (lane == 0) {
      write(w[0], 1);
      write(w[0], 0);
    } else if (read(w[1]) == 0 && read(w[0]) == 1) {
      write(w[1], 1);
      w[2] = read(w[0]) == 0 ? 1 : 0;
    }
  }
};

TEST(explorer_findings, a_bound_on_switches_bounds_what_is_found) {
  const auto look = [](const words_t& words) { return words[2] == 0 ? "" : "found"; };
  exploration_options options;
  std::uint64_t executions = 0;
  for (std::uint32_t switches = 0; switches <= 2; ++switches) {
    options.preemptions = switches;
    const exploration result = explore_words(2, needs_two_switches{}, look, options);
    EXPECT_EQ(result.failure.empty(), switches < 2) << result.failure;
    if (switches == 1) {
      EXPECT_GT(result.executions, executions);
    }
    if (switches == 0) {
      EXPECT_EQ(result.executions, 2u) << "each lane first";
    }
    executions = result.executions;
  }
  EXPECT_FALSE(explore_words(2, needs_two_switches{}, look).failure.empty());
}

struct scenario_of_many_lanes {
  unsigned lanes;
  unsigned launches;
  void run() {
    for (unsigned i = 0; i < launches; ++i) launch(grid_shape{lanes, 1}, kernel{});
  }
  struct kernel {
    void operator()() const {}
  };
  std::string check() { return ""; }
};

TEST(explorer_findings, refuses_what_it_cannot_explore) {
  EXPECT_THROW(explore({}, [] { return scenario_of_many_lanes{9, 1}; }), std::logic_error);
  EXPECT_THROW(explore({}, [] { return scenario_of_many_lanes{2, 2}; }), std::logic_error);
  EXPECT_THROW(explore({}, [] { return scenario_of_many_lanes{2, 0}; }), std::logic_error);
  EXPECT_EQ(explore({}, [] { return scenario_of_many_lanes{8, 1}; }).executions, 1u);
}

struct unsteady {
  unsigned steps;
  word object = 0;
  struct kernel {
    word* object;
    unsigned steps;
    void operator()() const {
      for (unsigned i = 0; i < steps; ++i) add(*object, 1);
    }
  };
  void run() { launch(grid_shape{2, 1}, kernel{&object, steps}); }
  std::string check() { return ""; }
};

TEST(explorer_findings, a_scenario_that_does_not_repeat_itself_is_reported) {
  unsigned runs = 0;
  const exploration result = explore({}, [&] { return unsteady{runs++ == 0 ? 3u : 1u}; });
  EXPECT_NE(result.failure.find("does not repeat itself"), std::string::npos) << result.failure;
}

TEST(explorer_findings, an_ordinary_launch_after_it_is_ordinary) {
  explore_words(2, two_locks{}, [](const words_t&) { return ""; });
  words_scenario<two_locks, std::string (*)(const words_t&)> later{grid_shape{2, 1}, {}, nullptr};
  const scoped_schedule guard{schedule{.workers = 1}};
  launch(grid_shape{1, 1}, decltype(later)::entry{two_locks{}, later.words.data()});
}

}  // namespace
}  // namespace warpheap::test::explorer_findings_test
