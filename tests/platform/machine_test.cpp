// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// What the platform tells of the machine: its description, its processors, its clocks.

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <vector>
#include <warpheap/platform.hpp>

namespace warpheap::machine_test {
namespace {

TEST(machine, describes_itself) {
  ASSERT_TRUE(machine_available());
  const machine_description machine = describe_machine();
  EXPECT_FALSE(machine.name.empty());
  EXPECT_GE(machine.multiprocessors, 1u);
  EXPECT_GE(machine.memory_bytes, std::uint64_t{256} << 20);
  EXPECT_EQ(machine.capability == 0, this_backend == backend::host);
}

struct look_at_machine {
  WARPHEAP_FN void operator()(std::uint32_t* processors, std::uint64_t* cycles) const {
    const std::uint64_t start = cycle_count();
    processors[grid_thread_index()] = multiprocessor_index();
    cycles[grid_thread_index()] = cycle_count() - start;
  }
};

TEST(machine, blocks_run_on_its_processors) {
  constexpr std::uint32_t blocks = 64;
  device_array<std::uint32_t> processors(blocks * 32);
  device_array<std::uint64_t> cycles(blocks * 32);
  launch(grid_shape{blocks, 32}, look_at_machine{}, processors.data(), cycles.data());
  const std::vector<std::uint32_t> found = processors.to_host();
  EXPECT_GE(std::set<std::uint32_t>(found.begin(), found.end()).size(), 2u);
  for (const std::uint64_t each : cycles.to_host()) EXPECT_LT(each, std::uint64_t{1} << 40);
}

#if defined(WARPHEAP_BACKEND_HOST)

TEST(machine, a_fuzzed_lane_changes_processors) {
  schedule plan;
  plan.workers = 1;
  plan.fuzz = true;
  const scoped_schedule guard{plan};
  device_array<std::uint32_t> processors(32);
  device_array<std::uint64_t> cycles(32);
  launch(grid_shape{1, 32}, look_at_machine{}, processors.data(), cycles.data());
  const std::vector<std::uint32_t> found = processors.to_host();
  EXPECT_GE(std::set<std::uint32_t>(found.begin(), found.end()).size(), 2u)
      << "one block, so one processor without fuzz";
  for (const std::uint32_t each : found) EXPECT_LT(each, describe_machine().multiprocessors);
}

#endif

struct burn_time {
  WARPHEAP_FN void operator()(std::uint32_t* cell, int times) const {
    for (int i = 0; i < times; ++i) atomic_view{*cell}.fetch_add(1, memory_order::relaxed, thread_scope::device);
  }
};

TEST(machine, timer_measures_launches) {
  device_array<std::uint32_t> cell(1);
  launch_timer timer;
  launch(grid_shape{1, 32}, burn_time{}, cell.data(), 1);  // the first launch sets things up
  timer.start();
  launch(grid_shape{1, 32}, burn_time{}, cell.data(), 10);
  const double little = timer.stop();
  timer.start();
  launch(grid_shape{4, 256}, burn_time{}, cell.data(), 2000);
  const double much = timer.stop();
  EXPECT_GT(little, 0);
  EXPECT_GT(much, little);
  EXPECT_LT(much, 60e6);
}

TEST(machine, marks_measure_stretches_of_launches) {
  device_array<std::uint32_t> cell(1);
  launch_marks marks;
  EXPECT_TRUE(marks.take().empty());
  for (int round = 0; round < 2; ++round) {
    launch(grid_shape{1, 32}, burn_time{}, cell.data(), 1);  // the first launch sets things up
    marks.mark();
    launch(grid_shape{1, 32}, burn_time{}, cell.data(), 10);
    marks.mark();
    launch(grid_shape{4, 256}, burn_time{}, cell.data(), 2000);
    marks.mark();
    const std::vector<double> stretches = marks.take();
    ASSERT_EQ(stretches.size(), 2u) << "marks of an earlier round";
    EXPECT_GT(stretches[0], 0);
    EXPECT_GT(stretches[1], stretches[0]);
    EXPECT_LT(stretches[1], 60e6);
  }
}

}  // namespace
}  // namespace warpheap::machine_test
