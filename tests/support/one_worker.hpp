// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform.hpp>

namespace warpheap::test {

/// The schedule of a test that limits what a run comes to in the mean: lanes in turn on one worker of the host. With
/// several workers the system decides which lanes run side by side, and how long one of them is kept from running.
inline schedule in_turn_on_one_worker() {
  schedule plan = current_schedule();
  plan.order = schedule::policy::round_robin;
  plan.fuzz = false;
  plan.workers = 1;
  return plan;
}

}  // namespace warpheap::test
