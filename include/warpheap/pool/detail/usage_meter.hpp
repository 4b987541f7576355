// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <warpheap/platform.hpp>
#include <warpheap/pool/usage.hpp>

namespace warpheap::pool_detail {

// Counts for a pool whose books are many, so that none knows a peak. All threads share its lock, so a pool that nobody
// asks for peaks goes without. Thread-safe.
class usage_meter {
 public:
  // A meter that is off counts nothing. The observer can be null, and outlives the meter.
  explicit usage_meter(bool is_on, usage_observer* observer = nullptr) : is_on_(is_on), observer_(observer) {}

  void count_allocation(std::uint64_t bytes) {
    if (!is_on_) return;
    const host_lock lock(mutex_);
    ++now_.allocations;
    now_.allocated_bytes += bytes;
    now_.peak_live_blocks = std::max(now_.peak_live_blocks, now_.live_blocks());
    now_.peak_live_bytes = std::max(now_.peak_live_bytes, now_.live_bytes());
    tell();
  }
  void count_deallocation(std::uint64_t bytes) {
    if (!is_on_) return;
    const host_lock lock(mutex_);
    ++now_.deallocations;
    now_.deallocated_bytes += bytes;
    tell();
  }
  // Each peak becomes what is live now.
  void reset_peaks() {
    const host_lock lock(mutex_);
    now_.peak_live_blocks = now_.live_blocks();
    now_.peak_live_bytes = now_.live_bytes();
    tell();
  }
  usage_figures figures() const {
    const host_lock lock(mutex_);
    return now_;
  }

 private:
  void tell() {
    if (observer_ != nullptr) observer_->usage_changed(now_);
  }

  const bool is_on_;
  usage_observer* const observer_;
  usage_figures now_;
  mutable host_mutex mutex_;
};

}  // namespace warpheap::pool_detail
