// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <warpheap/platform.hpp>

namespace warpheap::pool_detail {

// What a pool has handed out and taken back so far, and the most that it ever had handed out at a time.
struct usage_figures {
  std::uint64_t allocations = 0;
  std::uint64_t allocated_bytes = 0;
  std::uint64_t deallocations = 0;
  std::uint64_t deallocated_bytes = 0;
  std::uint64_t peak_live_blocks = 0;
  std::uint64_t peak_live_bytes = 0;
};

// Counts for a pool whose books are many, so that none knows a peak. All threads share its lock, so a pool that nobody
// asks for peaks goes without. Thread-safe.
class usage_meter {
 public:
  // A meter that is off counts nothing.
  explicit usage_meter(bool is_on) : is_on_(is_on) {}

  void count_allocation(std::uint64_t bytes) {
    if (!is_on_) return;
    const host_lock lock(mutex_);
    ++now_.allocations;
    now_.allocated_bytes += bytes;
    now_.peak_live_blocks = std::max(now_.peak_live_blocks, live_blocks());
    now_.peak_live_bytes = std::max(now_.peak_live_bytes, live_bytes());
  }
  void count_deallocation(std::uint64_t bytes) {
    if (!is_on_) return;
    const host_lock lock(mutex_);
    ++now_.deallocations;
    now_.deallocated_bytes += bytes;
  }
  // Each peak becomes what is live now.
  void reset_peaks() {
    const host_lock lock(mutex_);
    now_.peak_live_blocks = live_blocks();
    now_.peak_live_bytes = live_bytes();
  }
  usage_figures figures() const {
    const host_lock lock(mutex_);
    return now_;
  }

 private:
  std::uint64_t live_blocks() const { return now_.allocations - now_.deallocations; }
  std::uint64_t live_bytes() const { return now_.allocated_bytes - now_.deallocated_bytes; }

  const bool is_on_;
  usage_figures now_;
  mutable host_mutex mutex_;
};

}  // namespace warpheap::pool_detail
