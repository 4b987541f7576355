// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <support/held_lane.hpp>
#include <support/schedules.hpp>
#include <warpheap/platform.hpp>

namespace warpheap::test {

/// A launch of a few lanes, as one warp or as blocks of one thread each.
struct few_lanes {
  unsigned lanes;
  bool in_one_warp;

  /// Runs `body(lane)` in each.
  template <class Body>
  void run(Body body) const {
    const auto entry = [body] { body(static_cast<unsigned>(grid_thread_index())); };
    launch(in_one_warp ? grid_shape{1, lanes} : grid_shape{lanes, 1}, entry);
  }
};

/// Calls `body(lanes)` with a launch of `count` lanes under each of `test_schedules`, once as lanes of a warp and once
/// as lanes of several, until it fails. A scenario with a held lane must come out alike in all of them.
template <class Body>
void for_few_lanes(unsigned count, Body body) {
  for (const bool in_one_warp : {false, true}) {
    SCOPED_TRACE(in_one_warp ? "lanes of one warp" : "lanes of several blocks");
    for_each_schedule([&](std::uint64_t) { body(few_lanes{count, in_one_warp}); });
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace warpheap::test
