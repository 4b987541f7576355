// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>
#include <warpheap/platform.hpp>

namespace warpheap::test {

/// How a message names a schedule.
inline std::string describe(const schedule& plan) {
  if constexpr (this_backend == backend::cuda) return "seed " + std::to_string(plan.seed);
  return std::string{detail::name_of(plan.order)} + " schedule, seed " + std::to_string(plan.seed) +
         (plan.fuzz ? ", fuzzed, " : ", ") + std::to_string(plan.workers) + " workers";
}

/// How many seeds a test tries: `normal`, or what `WARPHEAP_TEST_SEEDS` says.
inline std::uint64_t seeds_to_try(std::uint64_t normal) {
  const char* const text = std::getenv("WARPHEAP_TEST_SEEDS");
  return text == nullptr ? normal : std::strtoull(text, nullptr, 10);
}

#if defined(__SANITIZE_THREAD__)
inline constexpr bool looks_at_orders = true;
#else
inline constexpr bool looks_at_orders = false;
#endif

/// The schedules that a test runs under whose outcome must not depend on them. On the host round-robin, and for each of
/// `seeds` seeds a random and a fuzzed one, all with one worker, and one with as many as there are cores; on a GPU one
/// for each seed. Under ThreadSanitizer, which looks at the order of accesses and not at results, only the fuzzed ones
/// and the one with many workers. `WARPHEAP_TEST_SEEDS` sets the number of seeds. `WARPHEAP_SEED` replays: it leaves
/// only the schedule that the environment describes.
inline std::vector<schedule> test_schedules(std::uint64_t seeds = 3) {
  if (std::getenv("WARPHEAP_SEED") != nullptr) return {current_schedule()};
  seeds = seeds_to_try(seeds);
  std::vector<schedule> plans;
  schedule plan = current_schedule();
  if constexpr (this_backend == backend::host) {
    plan.workers = 1;
    if (!looks_at_orders) plans.push_back(plan);
    plan.order = schedule::policy::random;
  }
  for (plan.seed = 1; plan.seed <= seeds; ++plan.seed) {
    plan.fuzz = false;
    if (!looks_at_orders) plans.push_back(plan);
    if constexpr (this_backend == backend::cuda) continue;
    plan.fuzz = true;
    plans.push_back(plan);
  }
  if constexpr (this_backend == backend::host) {
    plan.workers = 0;
    plans.push_back(plan);
  }
  return plans;
}

/// Calls `body(seed)` under each of `test_schedules`, until it fails; the message then names the schedule.
template <class Body>
void for_each_schedule(Body body, std::uint64_t seeds = 3) {
  for (const schedule& plan : test_schedules(seeds)) {
    SCOPED_TRACE(describe(plan));
    const scoped_schedule guard{plan};
    body(plan.seed);
    if (::testing::Test::HasFailure()) return;
  }
}

/// The schedule of a test that limits what a run comes to in the mean: lanes in turn on one worker of the host. With
/// several workers the system decides which lanes run side by side, and how long one of them is kept from running.
inline schedule in_turn_on_one_worker() {
  schedule plan = current_schedule();
  plan.order = schedule::policy::round_robin;
  plan.fuzz = false;
  plan.workers = 1;
  return plan;
}

/// Calls `body(seed)` in one order, with one worker, for each seed from 1 to `normal` (`seeds_to_try`), until it fails;
/// the message then names the schedule.
template <class Body>
void for_each_seed(schedule::policy order, std::uint64_t normal, Body body) {
  schedule plan = current_schedule();
  plan.order = order;
  plan.workers = 1;
  const std::uint64_t seeds = seeds_to_try(normal);
  for (plan.seed = 1; plan.seed <= seeds; ++plan.seed) {
    SCOPED_TRACE(describe(plan));
    const scoped_schedule guard{plan};
    body(plan.seed);
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace warpheap::test
