// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <warpheap/platform.hpp>

namespace warpheap::test {

/// The message with which `body` makes a launch fail; fails the test, and is empty, if it does not.
template <class Body>
std::string failure_of(Body body) {
  try {
    body();
  } catch (const launch_failure& failure) {
    return failure.what();
  }
  ADD_FAILURE() << "the launch was expected to fail, and ended well";
  return "";
}

/// A schedule with one worker, so that it replays.
inline schedule seeded(std::uint64_t seed, schedule::policy order = schedule::policy::random, bool fuzz = false) {
  schedule plan;
  plan.order = order;
  plan.seed = seed;
  plan.fuzz = fuzz;
  plan.workers = 1;
  return plan;
}

/// True if `text` contains `part`; for EXPECT_TRUE, which then shows both.
inline testing::AssertionResult contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "'" << part << "' is not in:\n" << text;
}

}  // namespace warpheap::test
