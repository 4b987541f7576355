// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

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

/// All launches of the process together.
struct process_progress {
  std::uint64_t moves;  ///< what lanes have done so far; grows with each turn of a lane that does not wait
  std::size_t workers;  ///< of the launches under way
};
process_progress progress_of_process();
/// True if each worker of each launch under way has finished or has found that its lanes only wait since the moves of
/// the process counted `moves`. So launches of several host threads may wait for each other.
bool process_stalled_since(std::uint64_t moves);
/// As `process_stalled_since`, after a few rounds already: all lanes of the process wait just now.
bool process_is_quiet();

}  // namespace warpheap::executor
