// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The bars that the host executor keeps in a release build: it is what makes thousands of seeds affordable.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <platform/host/launch_outcome.hpp>
#include <support/masks.hpp>
#include <vector>
#include <warpheap/platform.hpp>

namespace warpheap::executor_speed_test {
namespace {

// The least of some runs, in microseconds: what the work takes when the test has the cores to itself. Short runs, and
// many: other work on the machine disturbs each long one.
template <class Body>
double measure(const char* what, double per_run, Body body, int runs = 5) {
  std::vector<double> times;
  for (int i = 0; i < runs; ++i) {
    launch_timer timer;
    timer.start();
    body();
    times.push_back(timer.stop() / per_run);
  }
  std::sort(times.begin(), times.end());
  std::printf("%s: median %.3f us, least %.3f us, most %.3f us\n", what, times[times.size() / 2], times.front(),
              times.back());
  return times.front();
}

struct vote_often {
  void operator()(int times) const {
    for (int i = 0; i < times; ++i) ballot(test::full_warp, true);
  }
};

TEST(executor_speed, a_ballot_takes_two_microseconds_on_one_core) {
  const scoped_schedule guard{test::seeded(1, schedule::policy::round_robin)};
  constexpr int times = 2000;
  constexpr int runs = 100;
  EXPECT_LE(measure("32-lane ballot", times, [] { launch(grid_shape{1, warp_width}, vote_often{}, times); }, runs), 2);
}

struct add_and_vote {
  void operator()(std::uint32_t* cell) const {
    for (int i = 0; i < 10; ++i) atomic_view{*cell}.fetch_add(1, memory_order::relaxed, thread_scope::device);
    ballot(test::full_warp, true);
  }
};

TEST(executor_speed, many_lanes_take_a_second_on_two_cores) {
  schedule plan;
  plan.workers = 2;
  for (const auto order : {schedule::policy::round_robin, schedule::policy::random}) {
    plan.order = order;
    const scoped_schedule guard{plan};
    device_array<std::uint32_t> cell(1);
    const char* const what = order == schedule::policy::random ? "65,536 lanes, random" : "65,536 lanes, round-robin";
    EXPECT_LE(measure(what, 1, [&] { launch(grid_shape{256, 256}, add_and_vote{}, cell.data()); }), 1e6);
    EXPECT_EQ(cell.at(0), 5u * 65536 * 10);
  }
}

// No bars, but figures that docs/design/host_executor.md quotes.
struct switch_often {
  void operator()(std::uint32_t* cell, int times) const {
    for (int i = 0; i < times; ++i) atomic_view{*cell}.fetch_add(1, memory_order::relaxed, thread_scope::device);
  }
};
struct do_nothing {
  void operator()() const {}
};

TEST(executor_speed, figures) {
  const scoped_schedule guard{test::seeded(1, schedule::policy::round_robin)};
  device_array<std::uint32_t> cell(1);
  constexpr int times = 50000;
  const double turn = measure("one atomic operation, with the switch to another lane", times * 32.0,
                              [&] { launch(grid_shape{1, 32}, switch_often{}, cell.data(), times); });
  const double small = measure("a launch of 32 lanes", 1000, [] {
    for (int i = 0; i < 1000; ++i) launch(grid_shape{1, 32}, do_nothing{});
  });
  const double lane = measure("one lane of a large launch", 65536, [] { launch(grid_shape{256, 256}, do_nothing{}); });
  EXPECT_GT(std::min({turn, small, lane}), 0);
}

}  // namespace
}  // namespace warpheap::executor_speed_test
