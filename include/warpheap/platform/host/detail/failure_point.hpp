// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace warpheap::target {

// What a host call that a test can let fail is for. Values are bits, so that a test can name several.
enum class device_call : std::uint32_t {
  reserve = 1,   // addresses
  commit = 2,    // memory at reserved addresses
  allocate = 4,  // memory with addresses of its own: the device's, pinned, managed
  stream = 8,    // a call about a stream or an event
};

// The seam by which a test lets calls of the host backend fail: tests/support/fail_after.hpp arms it.
struct failure_plan {
  std::atomic<std::uint32_t> kinds{0};     // device_call bits that count; 0: nothing is planned
  std::atomic<std::uint64_t> calls{0};     // counted since the plan was made
  std::atomic<std::uint64_t> first{0};     // calls that succeed before one fails
  std::atomic<std::uint64_t> failures{0};  // calls that fail after these, one by one
};

inline failure_plan& planned_failure() {
  static constinit failure_plan plan;
  return plan;
}

// True if the call that asks is to fail. Without a plan it costs the load of one word. Order is no concern: the plan is
// made and ended while no other thread calls, and each call counts once.
inline bool is_to_fail(device_call what) {
  failure_plan& plan = planned_failure();
  const std::uint32_t kinds = plan.kinds.load(std::memory_order_relaxed);
  if ((kinds & static_cast<std::uint32_t>(what)) == 0) [[likely]] {
    return false;
  }
  const std::uint64_t number = plan.calls.fetch_add(1, std::memory_order_relaxed);
  const std::uint64_t first = plan.first.load(std::memory_order_relaxed);
  return number >= first && number - first < plan.failures.load(std::memory_order_relaxed);
}

}  // namespace warpheap::target
