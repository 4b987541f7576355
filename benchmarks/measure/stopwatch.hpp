// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <warpheap/platform.hpp>

namespace warpheap::bench {

/// Does nothing.
struct empty_kernel {
  WARPHEAP_FN void operator()() const {}
};

/// A `launch_timer` for a machine that is awake.
///
/// Between kernels the host looks at their blocks for milliseconds. After such a pause a launch starts later, whatever
/// it does: on an H200 an empty one of a million threads takes 11 instead of 7 us. So some empty kernels go in front,
/// launched and waited for just as what is timed; with 32 of them no difference is left (results/essays/warp_slab.md).
/// None go in front of a start within 5 us of a stop, as close as those kernels follow each other. A copy to the host
/// takes longer, and one counts as a pause: without the kernels a free of up to 65,536 threads took 7 to 16 % longer
/// after it.
class stopwatch {
 public:
  /// Wakes the machine, and marks the start, after all launches so far.
  void start() {
    if constexpr (this_backend == backend::cuda) {
      constexpr int enough = 32;
      constexpr std::chrono::microseconds awake{5};
      const bool slept = std::chrono::steady_clock::now() - stopped_ > awake;
      for (int i = 0; slept && i < enough; ++i) {
        timer_.start();
        launch(grid_shape{1, warp_width}, empty_kernel{});
        timer_.stop();
      }
    }
    timer_.start();
  }

  /// As `launch_timer::stop`.
  double stop() {
    const double time = timer_.stop();
    stopped_ = std::chrono::steady_clock::now();
    return time;
  }

 private:
  launch_timer timer_;
  std::chrono::steady_clock::time_point stopped_;  // the last stop; the clock's epoch before the first
};

}  // namespace warpheap::bench
