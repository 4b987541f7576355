// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor/launch_state.hpp"

namespace warpheap::executor {

/// Has a thread of its own look after a launch while it runs: when a lane has run for `schedule::lane_limit` without a
/// point where it could be switched, nothing in its thread can end it, so the monitor prints a report and ends the
/// process. One monitor thread serves all launches of the process.
class watch {
 public:
  explicit watch(launch_state& launch);
  ~watch();
  watch(const watch&) = delete;
  watch& operator=(const watch&) = delete;

  launch_state& launch;
  watch* next = nullptr;
  watch* previous = nullptr;
};

}  // namespace warpheap::executor
