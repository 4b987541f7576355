// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The schedule in force: defaults, environment, and the guard that sets it for a while.

#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>
#include <warpheap/platform.hpp>

namespace warpheap::schedule_test {
namespace {

// Sets variables of the environment, and unsets all that the schedule knows when the test ends.
class schedule_environment : public testing::Test {
 protected:
  void SetUp() override { TearDown(); }
  void TearDown() override {
    for (const char* name : {"WARPHEAP_SCHEDULE", "WARPHEAP_SEED", "WARPHEAP_FUZZ", "WARPHEAP_WORKERS"})
      ::unsetenv(name);
  }
  static void set(const char* name, const char* value) { ::setenv(name, value, 1); }
};

TEST_F(schedule_environment, is_round_robin_unless_told) {
  const schedule found = detail::schedule_from_environment();
  EXPECT_EQ(found.order, schedule::policy::round_robin);
  EXPECT_EQ(found.seed, 1u);
  EXPECT_FALSE(found.fuzz);
  EXPECT_EQ(found.workers, 0u);
}

TEST_F(schedule_environment, reads_all_variables) {
  set("WARPHEAP_SCHEDULE", "random");
  set("WARPHEAP_SEED", "0x10");
  set("WARPHEAP_FUZZ", "1");
  set("WARPHEAP_WORKERS", "3");
  const schedule found = detail::schedule_from_environment();
  EXPECT_EQ(found.order, schedule::policy::random);
  EXPECT_EQ(found.seed, 16u);
  EXPECT_TRUE(found.fuzz);
  EXPECT_EQ(found.workers, 3u);
}

TEST_F(schedule_environment, knows_each_policy_by_its_name) {
  using enum schedule::policy;
  for (const schedule::policy each : {round_robin, random, stalling}) {
    set("WARPHEAP_SCHEDULE", detail::name_of(each));
    EXPECT_EQ(detail::schedule_from_environment().order, each);
  }
}

TEST_F(schedule_environment, a_wrong_value_names_the_right_ones) {
  const auto complaint = [](const char* name, const char* value) -> std::string {
    set(name, value);
    try {
      detail::schedule_from_environment();
    } catch (const std::invalid_argument& refused) {
      ::unsetenv(name);
      return refused.what();
    }
    ::unsetenv(name);
    return "";
  };
  EXPECT_EQ(complaint("WARPHEAP_SCHEDULE", "fair"),
            "WARPHEAP_SCHEDULE: use round_robin, random or stalling, not 'fair'");
  EXPECT_EQ(complaint("WARPHEAP_SEED", "seven"), "WARPHEAP_SEED: use a whole number from 0 on, not 'seven'");
  EXPECT_EQ(complaint("WARPHEAP_SEED", "-1"), "WARPHEAP_SEED: use a whole number from 0 on, not '-1'");
  EXPECT_EQ(complaint("WARPHEAP_SEED", "99999999999999999999"),
            "WARPHEAP_SEED: the largest is 18446744073709551615, not '99999999999999999999'");
  EXPECT_EQ(complaint("WARPHEAP_WORKERS", "2x"), "WARPHEAP_WORKERS: use a whole number from 0 on, not '2x'");
  EXPECT_EQ(complaint("WARPHEAP_WORKERS", ""), "WARPHEAP_WORKERS: use a whole number from 0 on, not ''");
  EXPECT_EQ(complaint("WARPHEAP_FUZZ", "2"), "WARPHEAP_FUZZ: the largest is 1, not '2'");
}

TEST(scoped_schedule, is_in_force_until_it_ends) {
  const schedule before = current_schedule();
  schedule next = before;
  next.seed = before.seed + 5;
  {
    const scoped_schedule guard{next};
    EXPECT_EQ(current_schedule().seed, next.seed);
    ++next.seed;
    const scoped_schedule inner{next};
    EXPECT_EQ(current_schedule().seed, next.seed);
  }
  EXPECT_EQ(current_schedule().seed, before.seed);
}

}  // namespace
}  // namespace warpheap::schedule_test
