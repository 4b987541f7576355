// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace warpheap {

/// A number that no other call in this process returns; never 0. For host code.
inline std::uint64_t new_serial() {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

/// The calling host thread's own number. Unlike the system's, it is not used again when the thread has ended.
inline std::uint64_t host_thread_serial() {
  thread_local const std::uint64_t serial = new_serial();
  return serial;
}

}  // namespace warpheap
