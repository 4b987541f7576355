// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

#include "forecast.hpp"

#include <gtest/gtest.h>

namespace warpheap::bench::forecast_test {
namespace {

constexpr std::uint64_t no_limit = ~std::uint64_t{0};

TEST(Forecast, KnowsNothingBeforeTheFirstRun) { EXPECT_EQ(forecast{no_limit}.of(1024), 0); }

TEST(Forecast, WorkAtLeastDoublesWithTheThreads) {
  forecast times{no_limit};
  times.learn(1, 5);
  EXPECT_DOUBLE_EQ(times.of(4), 20);
  times.learn(2, 5);
  EXPECT_DOUBLE_EQ(times.of(8), 20);
}

TEST(Forecast, GrowsAsItDidBetweenTheLastTwoRuns) {
  forecast times{no_limit};
  times.learn(64, 10);
  times.learn(256, 90);  // three times for each doubling
  EXPECT_NEAR(times.of(1024), 810, 1e-9);
}

TEST(Forecast, OneJumpIsNotTakenForARule) {
  forecast times{no_limit};
  times.learn(1, 1);
  times.learn(2, 1000);
  EXPECT_DOUBLE_EQ(times.of(4), 4000);
}

TEST(Forecast, AFullMachineTakesTwiceAsLongForTwiceAsMany) {
  forecast times{1024};
  times.learn(256, 10);
  times.learn(512, 40);
  EXPECT_DOUBLE_EQ(times.of(1024), 160);
  EXPECT_DOUBLE_EQ(times.of(4096), 640);
}

TEST(RowShare, RowsThatDoubleGetWhatTheyNeed) {
  EXPECT_DOUBLE_EQ(share_of_row(1).once, 1);
  EXPECT_DOUBLE_EQ(share_of_row(1).all, 1);
  EXPECT_DOUBLE_EQ(share_of_row(2).all, 1.0 / 3);
  EXPECT_DOUBLE_EQ(share_of_row(3).all, 1.0 / 7);
  EXPECT_DOUBLE_EQ(share_of_row(3).once, 0.5);
}

}  // namespace
}  // namespace warpheap::bench::forecast_test
