// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The bulk semaphore while a request is held between its two atomics: its units are subtracted, and its debt is not
// entered.

#include <gtest/gtest.h>

#include <cstdint>
#include <support/few_lanes.hpp>
#include <warpheap/platform.hpp>
#include <warpheap/sync.hpp>

namespace warpheap::test::held_requests_test {
namespace {

using outcome = bulk_semaphore::outcome;
using production = bulk_semaphore::production;

// One unit, and nothing to make more of. A request for two, which must fail, is held after it subtracted them. A
// request for one waits until the unit is seen again.
TEST(held_requests, a_request_does_not_fail_for_the_units_of_one_that_fails) {
  constexpr std::uint64_t batch = 2;
  const auto makes_nothing = [] { return production::parent_empty; };
  for_few_lanes(2, [&](few_lanes lanes) {
    const device_array<bulk_semaphore> semaphore(1);
    outcome before{};
    launch(grid_shape{1, 1}, [=, units = semaphore.data(), before = &before] {
      units->initialise(1);
      *before = units->wait(2, batch, makes_nothing);
    });
    ASSERT_EQ(before, outcome::failed);
    ASSERT_TRUE(semaphore.data()->count().parent_empty);
    held_lane large{"bulk_semaphore.enter.taken", {.thread = 0, .until_others_wait = true}};
    outcome ends[2] = {};
    lanes.run([=, units = semaphore.data(), large = &large, ends = &ends[0]](unsigned lane) {
      if (lane == 1) large->await();
      ends[lane] = units->wait(lane == 0 ? 2 : 1, batch, makes_nothing);
      if (lane == 1) large->release();
    });
    EXPECT_EQ(ends[0], outcome::failed);
    EXPECT_EQ(ends[1], outcome::granted) << "there was a unit for it";
    EXPECT_EQ(semaphore.data()->count().available, 0);
  });
}

}  // namespace
}  // namespace warpheap::test::held_requests_test
