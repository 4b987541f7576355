// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace warpheap {

/// A number that host threads read without a lock, so that a rare case costs the common one a load. It orders nothing:
/// a thread that must see a change has learned of it in another way, and what the number counts has a lock of its own.
class host_count {
 public:
  /// Sets the number. One thread at a time calls.
  void set(std::uint64_t value) { value_.store(value, std::memory_order_relaxed); }
  /// The number that was set last, 0 at first. Any thread can call.
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

}  // namespace warpheap
