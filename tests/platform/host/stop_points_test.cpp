// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Stop points: the lane that a test names is held where it says, all others go on, and a launch that waits for a held
// lane for ever says so.

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <platform/host/launch_outcome.hpp>
#include <platform/host/planted.hpp>
#include <string>
#include <support/held_lane.hpp>
#include <vector>
#include <warpheap/platform.hpp>
#include <warpheap/platform/exploration.hpp>

namespace warpheap::test::stop_points_test {
namespace {

// A lane notes that it has come, and then, past the stop point, that it has gone on.
struct progress {
  std::uint32_t* came;
  std::uint32_t* went;

  void pass() const {
    const std::uint64_t me = grid_thread_index();
    atomic_view{came[me]}.store(1, memory_order::relaxed, thread_scope::device);
    stop_point("test.progress.came");
    atomic_view{went[me]}.store(1, memory_order::relaxed, thread_scope::device);
  }
  std::uint64_t gone(std::uint64_t threads) const {
    std::uint64_t count = 0;
    for (std::uint64_t i = 0; i < threads; ++i) {
      count += atomic_view{went[i]}.load(memory_order::relaxed, thread_scope::device);
    }
    return count;
  }
};

// All pass but the held one. The last lane of the grid then sees that this one has not, and releases it.
struct pass_by_the_held {
  progress of;
  held_lane* held;
  std::uint64_t* not_gone;

  void operator()() const {
    const std::uint64_t last = grid_threads() - 1;
    if (grid_thread_index() != last) return of.pass();
    held->await();
    for (backoff wait; of.gone(last) != last - 1;) wait.pause();
    for (std::uint64_t i = 0; i < last; ++i) {
      if (atomic_view{of.went[i]}.load(memory_order::relaxed, thread_scope::device) == 0) *not_gone = i;
    }
    held->release();
  }
};

std::vector<schedule> all_kinds() {
  std::vector<schedule> plans;
  for (const auto order : {schedule::policy::round_robin, schedule::policy::random, schedule::policy::stalling}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      plans.push_back(seeded(seed, order, seed == 2));
      plans.back().workers = seed == 3 ? 3 : 1;
    }
  }
  return plans;
}

TEST(stop_points, others_go_on_while_a_lane_is_held) {
  for (const schedule& plan : all_kinds()) {
    const scoped_schedule guard{plan};
    for (const grid_shape shape : {grid_shape{1, 8}, grid_shape{3, 40}}) {
      const std::uint64_t threads = shape.blocks * shape.threads;
      const device_array<std::uint32_t> came(threads);
      const device_array<std::uint32_t> went(threads);
      std::uint64_t not_gone = threads;
      held_lane held{"test.progress.came", {.thread = 5}};
      launch(shape, pass_by_the_held{{came.data(), went.data()}, &held, &not_gone});
      EXPECT_EQ(not_gone, 5u);
      EXPECT_EQ(went.at(5), 1u);
    }
  }
}

// Lanes draw numbers in the order in which they come; the last lane of the grid tells which of them stays.
TEST(stop_points, the_nth_lane_that_comes_is_held) {
  for (std::uint64_t nth = 0; nth < 4; ++nth) {
    const scoped_schedule guard{seeded(nth + 1)};
    const device_array<std::uint64_t> next(1);
    const device_array<std::uint64_t> went(8);
    held_lane held{"test.order.drawn", {.passes = nth}};
    std::uint64_t stays = 8;
    launch(grid_shape{8, 1}, [next = next.data(), went = went.data(), held = &held, stays = &stays] {
      if (grid_thread_index() != 7) {
        const std::uint64_t number = atomic_view{*next}.fetch_add(1, memory_order::relaxed, thread_scope::device);
        stop_point("test.order.drawn");
        atomic_view{went[number]}.store(1, memory_order::relaxed, thread_scope::device);
        atomic_view{went[7]}.fetch_add(1, memory_order::relaxed, thread_scope::device);
        return;
      }
      held->await();
      for (backoff wait; atomic_view{went[7]}.load(memory_order::relaxed, thread_scope::device) != 6;) wait.pause();
      for (std::uint64_t i = 0; i < 7; ++i) {
        if (atomic_view{went[i]}.load(memory_order::relaxed, thread_scope::device) == 0) *stays = i;
      }
      held->release();
    });
    EXPECT_EQ(stays, nth);
    EXPECT_EQ(went.at(7), 7u) << "all have gone on in the end";
  }
}

// Two holds at one place keep two lanes.
TEST(stop_points, a_lane_has_one_hold) {
  const scoped_schedule guard{seeded(1)};
  const device_array<std::uint32_t> came(4);
  const device_array<std::uint32_t> went(4);
  held_lane first{"test.progress.came"};
  held_lane second{"test.progress.came"};
  std::uint64_t gone = 0;
  launch(grid_shape{4, 1}, [of = progress{came.data(), went.data()}, first = &first, second = &second, gone = &gone] {
    if (grid_thread_index() != 3) return of.pass();
    first->await();
    second->await();
    for (backoff wait; of.gone(3) != 1;) wait.pause();
    *gone = of.gone(3);
    first->release();
    second->release();
  });
  EXPECT_EQ(gone, 1u);
  EXPECT_EQ(went.at(0) + went.at(1) + went.at(2), 3u);
}

// Lanes of a warp meet, except the held one.
TEST(stop_points, groups_of_its_warp_meet_without_the_held_lane) {
  if (warp_width < 4) GTEST_SKIP() << "a group beside the held lane";
  for (const schedule& plan : all_kinds()) {
    const scoped_schedule guard{plan};
    held_lane held{"test.meeting.apart", {.thread = 1}};
    std::uint32_t votes = 0;
    launch(grid_shape{1, 4}, [held = &held, &votes] {
      if (lane_index() == 1) return stop_point("test.meeting.apart");
      held->await();
      const lane_mask others = ballot(0b1101, true);
      const int gathered = group_size(active_group());
      sync(0b1101);
      if (is_leader(0b1101)) {
        votes = gathered >= 1 && gathered <= 3 ? static_cast<std::uint32_t>(others) : 0;
        held->release();
      }
    });
    EXPECT_EQ(votes, 0b1101u);
  }
}

// A lane waits for what only the held lane does.
struct wait_for_the_held {
  std::uint32_t* flag;

  void operator()() const {
    const atomic_view view{*flag};
    if (grid_thread_index() == 0) {
      stop_point("test.flag.unset");
      view.store(1, memory_order::release, thread_scope::device);
    } else {
      for (backoff wait; view.load(memory_order::acquire, thread_scope::device) == 0;) wait.pause();
    }
  }
};

TEST(stop_points, a_launch_that_waits_for_a_held_lane_names_the_stop_point) {
  for (const schedule& plan : all_kinds()) {
    const scoped_schedule guard{plan};
    const device_array<std::uint32_t> flag(1);
    held_lane held{"test.flag.unset"};
    const std::string text = failure_of([&] { launch(grid_shape{3, 2}, wait_for_the_held{flag.data()}); });
    EXPECT_TRUE(contains(text, "no progress"));
    EXPECT_TRUE(contains(text, "nobody releases the lane that a test holds at the stop point 'test.flag.unset'"));
    EXPECT_TRUE(contains(text, " held at the stop point 'test.flag.unset' at "));
  }
}

TEST(stop_points, a_hold_ends_when_others_only_wait) {
  for (const schedule& plan : all_kinds()) {
    const scoped_schedule guard{plan};
    const device_array<std::uint32_t> flag(1);
    held_lane held{"test.flag.unset", {.until_others_wait = true}};
    launch(grid_shape{3, 2}, wait_for_the_held{flag.data()});
    EXPECT_EQ(flag.at(0), 1u);
  }
}

// Lanes that work are not lanes that wait, however long they take.
TEST(stop_points, a_hold_does_not_end_while_others_work) {
  for (const schedule& plan : all_kinds()) {
    const scoped_schedule guard{plan};
    const device_array<std::uint32_t> flag(1);
    const device_array<std::uint32_t> early(1);
    held_lane held{"test.flag.unset", {.thread = 0, .until_others_wait = true}};
    launch(grid_shape{2, 1}, [flag = flag.data(), early = early.data(), held = &held] {
      if (grid_thread_index() == 0) return wait_for_the_held{flag}();
      held->await();
      for (int i = 0; i < 2000; ++i) {
        early[0] += atomic_view{*flag}.load(memory_order::acquire, thread_scope::device);
      }
    });
    EXPECT_EQ(early.at(0), 0u);
    EXPECT_EQ(flag.at(0), 1u);
  }
}

TEST(stop_points, a_hold_ends_after_its_turns) {
  constexpr std::uint32_t most = 1'000'000;
  for (const schedule& plan : all_kinds()) {
    if (plan.workers != 1) continue;  // which of two threads is faster nobody knows
    const scoped_schedule guard{plan};
    const device_array<std::uint32_t> flag(1);
    held_lane held{"test.flag.unset", {.turns = 100}};
    std::uint32_t looks = 0;
    launch(grid_shape{2, 1}, [flag = flag.data(), held = &held, looks = &looks] {
      if (grid_thread_index() == 0) return wait_for_the_held{flag}();
      held->await();
      while (*looks < most && atomic_view{*flag}.load(memory_order::acquire, thread_scope::device) == 0) ++*looks;
      held->release();
    });
    EXPECT_LT(looks, most) << "the lane waited for its release";
    EXPECT_GE(looks, 100u);
  }
}

// The watchdog takes a held lane for one that waits, and a released lane for one that works.
TEST(stop_points, a_released_lane_works_again) {
  schedule plan = seeded(1);
  plan.stalled_rounds = 16;
  const scoped_schedule guard{plan};
  const device_array<std::uint32_t> flag(1);
  held_lane held{"test.work.begun"};
  launch(grid_shape{2, 1}, [flag = flag.data(), held = &held] {
    const atomic_view view{*flag};
    if (grid_thread_index() == 0) {
      stop_point("test.work.begun");
      for (int i = 0; i < 5000; ++i) view.fetch_add(2, memory_order::relaxed, thread_scope::device);
      view.fetch_add(1, memory_order::release, thread_scope::device);
    } else {
      held->await();
      held->release();
      for (backoff wait; (view.load(memory_order::acquire, thread_scope::device) & 1) == 0;) wait.pause();
    }
  });
  EXPECT_EQ(flag.at(0), 10'001u);
}

struct reach_nothing {
  void operator()(bool reaches) const {
    if (reaches) stop_point("test.nothing.reached");
  }
};

TEST(stop_points, a_hold_to_which_no_lane_comes_fails_its_test) {
  EXPECT_NONFATAL_FAILURE(
      {
        const held_lane held{"test.nothing.reached"};
        launch(grid_shape{2, 2}, reach_nothing{}, false);
      },
      "no lane was held at the stop point 'test.nothing.reached'");
  const held_lane held{"test.nothing.reached", {.until_others_wait = true}};
  launch(grid_shape{2, 2}, reach_nothing{}, true);
}

TEST(stop_points, who_awaits_a_lane_that_does_not_come_is_told_where) {
  EXPECT_NONFATAL_FAILURE(
      {
        const scoped_schedule plan{seeded(1)};
        const held_lane held{"test.nothing.reached"};
        const std::string failure = failure_of([&] { launch(grid_shape{1, 2}, [held = &held] { held->await(); }); });
        EXPECT_TRUE(contains(failure, "no lane came to be held at the stop point 'test.nothing.reached'"));
      },
      "no lane was held");
}

TEST(stop_points, an_exploration_refuses_to_hold_a_lane) {
  struct scenario {
    void run() { launch(grid_shape{1, 1}, reach_nothing{}, true); }
    std::string check() { return ""; }
  };
  const held_lane held{"test.nothing.reached"};
  EXPECT_TRUE(contains(explore({}, [] { return scenario{}; }).failure, "a lane cannot be held in an exploration"));
}

// Neither the arrival nor the release orders what lanes do: ThreadSanitizer sees the races of the code that is held.
[[noreturn]] void race_over_a_hold(const schedule& plan, bool after) {
  held_lane held{"test.race.between"};
  run_under(plan, {2, 1}, [held = &held, after](shared_words* shared) {
    if (grid_thread_index() == 0) {
      if (!after) shared->data = 1;
      stop_point("test.race.between");
      if (after) shared->data = 1;
    } else {
      held->await();
      shared->data = 2;
      held->release();
    }
  });
  std::exit(0);
}

TEST(stop_points_deathtest, a_hold_does_not_publish) {
  if (!thread_sanitizer) GTEST_SKIP() << "needs a build with WARPHEAP_SANITIZE=thread";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const bool after : {false, true}) {
    EXPECT_EXIT(race_over_a_hold(seeded(1), after), testing::ExitedWithCode(66), "data race");
  }
}

TEST(stop_points, a_hold_replays) {
  const scoped_schedule guard{seeded(3, schedule::policy::random, true)};
  std::string texts[2];
  for (std::string& text : texts) {
    const device_array<std::uint32_t> flag(1);
    const held_lane held{"test.flag.unset"};
    text = failure_of([&] { launch(grid_shape{2, 20}, wait_for_the_held{flag.data()}); });
  }
  EXPECT_EQ(texts[0], texts[1]);
}

// The host itself passes stop points, as a thread that runs no lane.
TEST(stop_points, a_thread_of_the_host_goes_on) {
  EXPECT_NONFATAL_FAILURE(
      {
        const held_lane held{"test.flag.unset"};
        static std::uint32_t seen = 0;
        wait_for_the_held{&seen}();
        EXPECT_EQ(seen, 1u);
      },
      "no lane was held");
}

}  // namespace
}  // namespace warpheap::test::stop_points_test
