// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>
#include <warpheap/platform/annotation.hpp>

#if defined(WARPHEAP_BACKEND_CUDA)
#include <warpheap/platform/cuda/timer.hpp>
#else
#include <warpheap/platform/host/timer.hpp>
#endif

namespace warpheap {

/// Measures the time that launches take, in microseconds, their start included. On a GPU the device's own events; on
/// the host the time of the executor, which says nothing about a GPU.
class launch_timer {
 public:
  /// Marks the start, after all launches so far.
  void start() { clock_.start(); }
  /// Waits for the launches since `start` and returns the microseconds from the mark until they ended.
  double stop() { return clock_.stop(); }

 private:
  target::launch_clock clock_;
};

/// Marks moments between launches without waiting for any, and tells afterwards how long each stretch took. On a GPU
/// the device's own events.
class launch_marks {
 public:
  /// Marks a moment, after all launches so far.
  void mark() { marks_.mark(); }
  /// Waits for the last mark, returns the microseconds from each mark to the next, and forgets all marks.
  std::vector<double> take() { return marks_.take(); }

 private:
  target::launch_moments marks_;
};

}  // namespace warpheap
