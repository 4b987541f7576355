// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/platform/call_site.hpp>

/// The executor's side of stop points: tests/support/held_lane.hpp is the side of tests.
namespace warpheap::executor {

/// One lane that a test wants to hold, and what became of it.
///
/// All members are the executor's after `add_hold`. It tells ThreadSanitizer nothing of them: a hold is a choice of
/// the schedule, and orders no accesses.
struct hold {
  static constexpr std::uint64_t any_thread = ~std::uint64_t{0};
  static constexpr std::uint64_t no_end = ~std::uint64_t{0};

  const char* name;            ///< of the stop point
  std::uint64_t thread;        ///< index in the grid of the one thread that it is about, or `any_thread`
  std::uint64_t passes;        ///< arrivals of such threads that go on before one is held
  std::uint64_t turns;         ///< of the held lane, after which it goes on anyhow, or `no_end`
  bool ends_when_others_wait;  ///< the lane goes on when all others have only waited for a while

  std::uint64_t arrivals = 0;  ///< those that went on
  std::uint32_t is_over = 0;   ///< the lane goes on, or none is to be held any more
  std::uint32_t has_held = 0;  ///< a lane came and was held
  hold* next = nullptr;
};

/// Number of holds in force. Each stop point reads it.
inline constinit std::uint32_t holds_in_force = 0;

/// Puts a hold in force, and ends it. It must outlive the launches in between.
void add_hold(hold& wanted);
void remove_hold(hold& ended);

/// True once a lane has come and been held.
bool has_held(const hold& which) noexcept;
/// Lets the lane go on, now or when it comes.
void end_hold(hold& which) noexcept;

/// The caller came to the stop point `name`. If a hold in force is about it, it takes turns as a lane does that waits
/// in a backoff, until the hold is over. A thread that runs no lane goes on.
void stop_point(const char* name, call_site site);

}  // namespace warpheap::executor
