// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Stop points. A test of the host backend holds a lane at a named place of the code, between two of its steps, while
// other lanes do what must not go wrong meanwhile:
//
//   held_lane late{"warp_slab.put_back.freed", {.thread = 0}};
//   launch({2, 1}, [=, late = &late] {
//     if (grid_thread_index() == 0) return self.free(block);  // is held between two of its steps
//     late->await();
//     ...                                                     // what must work meanwhile
//     late->release();
//   });

#include <gtest/gtest.h>

#include <cstdint>
#include <warpheap/platform.hpp>
#include <warpheap/platform/host/detail/holds.hpp>

namespace warpheap::test {

/// Which of the lanes that come to a stop point is held.
struct held_choice {
  std::uint64_t thread = executor::hold::any_thread;  ///< only the one with this index in the grid
  std::uint64_t passes = 0;                           ///< arrivals of such lanes that go on before
  /// The lane also goes on when all other lanes of the process have only waited in backoffs for a while. For others
  /// that must wait for the held lane.
  bool until_others_wait = false;
  /// The lane also goes on after so many turns of its own. For others that must search until the held lane goes on.
  std::uint64_t turns = executor::hold::no_end;
};

/// Holds one lane at a stop point, from its arrival until `release`. Make it before the launch; kernels get its
/// address.
///
/// The held lane blocks no thread of the host: it takes turns, as a lane that waits in a `backoff`. So all other lanes
/// go on, also those of its warp, unless they wait for it. A hold is a choice of the schedule and orders no accesses,
/// also for ThreadSanitizer: neither those before the arrival and after `await`, nor those before `release` and after
/// the stop point.
///
/// Several may be in force; a lane that comes is held by the first one that it fits. A launch in which all lanes only
/// wait fails, and its report names the stop points. The destructor fails the test if no lane came.
class held_lane {
 public:
  /// Holds the lane that `which` says at the stop point `name`, a string that outlives this object.
  explicit held_lane(const char* name, held_choice which = {})
      : hold_{name, which.thread, which.passes, which.turns, which.until_others_wait} {
    executor::add_hold(hold_);
  }
  ~held_lane() {
    executor::remove_hold(hold_);
    EXPECT_TRUE(has_held()) << "no lane was held at the stop point '" << hold_.name << "'";
  }
  held_lane(const held_lane&) = delete;
  held_lane& operator=(const held_lane&) = delete;

  /// True once the lane is held, also after its release.
  bool has_held() const { return executor::has_held(hold_); }
  /// Waits until the lane is held. For other lanes of a launch.
  void await(call_site site = call_site::current()) const {
    for (backoff wait; !has_held();) wait.pause(site);
  }
  /// Lets the lane go on. If it has not come yet, it will not be held.
  void release() { executor::end_hold(hold_); }

 private:
  executor::hold hold_;
};

}  // namespace warpheap::test
