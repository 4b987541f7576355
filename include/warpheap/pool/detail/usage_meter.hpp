// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <warpheap/platform.hpp>

namespace warpheap {

/// What a pool has handed out and taken back so far, and the most that it ever had handed out at a time.
struct usage_figures {
  std::uint64_t allocations = 0;        ///< blocks ever handed out
  std::uint64_t allocated_bytes = 0;    ///< in these
  std::uint64_t deallocations = 0;      ///< blocks ever taken back
  std::uint64_t deallocated_bytes = 0;  ///< in these
  std::uint64_t peak_live_blocks = 0;   ///< the most at a time, since the pool was made or its peaks were reset
  std::uint64_t peak_live_bytes = 0;    ///< the most at a time, since the pool was made or its peaks were reset
  /// Blocks that were not taken back.
  std::uint64_t live_blocks() const { return allocations - deallocations; }
  /// Bytes in these.
  std::uint64_t live_bytes() const { return allocated_bytes - deallocated_bytes; }
};

/// Is told of each change of a pool's figures, by one thread at a time.
class usage_observer {
 public:
  virtual ~usage_observer() = default;
  /// The figures are `now`. Called with a lock held that each block's way through the pool takes: it must be quick, and
  /// call no pool.
  virtual void usage_changed(const usage_figures& now) noexcept = 0;
};

}  // namespace warpheap

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
