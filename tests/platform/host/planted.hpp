// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <platform/host/launch_outcome.hpp>
#include <warpheap/platform.hpp>

/// @file
/// Kernels with planted mistakes, run in child processes: exit status and messages tell what the sanitizer of the build
/// thinks of them.
namespace warpheap::test {

#if defined(__SANITIZE_THREAD__)
inline constexpr bool thread_sanitizer = true;
#else
inline constexpr bool thread_sanitizer = false;
#endif
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool address_sanitizer = true;
#else
inline constexpr bool address_sanitizer = false;
#endif

// Words that kernels share, each in a cache line of its own.
struct shared_words {
  std::uint32_t flag;
  alignas(64) std::uint32_t data;
  alignas(64) std::uint32_t more[512];
};

template <class Kernel>
void run_under(schedule plan, grid_shape shape, Kernel kernel) {
  plan.resident_lanes = 64;  // so that a few small blocks are not all under way at once
  const scoped_schedule guard{plan};
  device_array<shared_words> words(1);
  launch(shape, kernel, words.data());
  words.at(0);  // the host may read what the lanes wrote
}

// Runs the kernel in a child under round-robin, a random and a fuzzed schedule, and on two workers.
template <class Kernel>
[[noreturn]] void run_child(grid_shape shape, Kernel kernel) {
  run_under(seeded(1, schedule::policy::round_robin), shape, kernel);
  run_under(seeded(2), shape, kernel);
  run_under(seeded(3, schedule::policy::random, true), shape, kernel);
  schedule two = seeded(1, schedule::policy::round_robin);
  two.workers = 2;
  run_under(two, shape, kernel);
  std::exit(0);
}

// Each schedule alone must show the race.
template <class Kernel>
void expect_race(grid_shape shape, Kernel kernel) {
  if (!thread_sanitizer) GTEST_SKIP() << "needs a build with WARPHEAP_SANITIZE=thread";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto reported = testing::ExitedWithCode(66);
  const char* const words = "WARNING: ThreadSanitizer: data race";
  const auto child = [&](const schedule& plan) {
    run_under(plan, shape, kernel);
    std::exit(0);
  };
  EXPECT_EXIT(child(seeded(1, schedule::policy::round_robin)), reported, words);
  EXPECT_EXIT(child(seeded(2)), reported, words);
  EXPECT_EXIT(child(seeded(3, schedule::policy::random, true)), reported, words);
}

template <class Kernel>
void expect_clean(grid_shape shape, Kernel kernel) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(run_child(shape, kernel), testing::ExitedWithCode(0), "^$");
}

template <class Kernel>
void expect_bad_access(grid_shape shape, Kernel kernel, const char* words) {
  if (!address_sanitizer) GTEST_SKIP() << "needs a build with WARPHEAP_SANITIZE=address";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(run_child(shape, kernel), testing::ExitedWithCode(1), words);
}

}  // namespace warpheap::test
