// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace warpheap::bench {

/// What a run of more threads will take, judged by runs of fewer: a kernel that has begun cannot be called back, so one
/// that would take too long must not begin.
class forecast {
 public:
  /// From `full` threads on the machine holds no more of them at once, and twice as many take twice as long.
  explicit forecast(std::uint64_t full) : full_(full) {}

  /// A run of so many threads, more than those before, took so long.
  void learn(std::uint64_t threads, double time) {
    if (threads_ != 0 && time_ > 0) {
      const double doublings = std::log2(static_cast<double>(threads) / static_cast<double>(threads_));
      // Work at least doubles. Where all wait for one after the other, it grows with the square; what is above that is
      // noise, or a limit that is passed once.
      growth_ = std::clamp(std::exp2(std::log2(time / time_) / doublings), 2.0, 4.0);
    }
    threads_ = threads;
    time_ = time;
  }

  /// What a run of so many threads should take; 0 if nothing is known.
  double of(std::uint64_t threads) const {
    double time = time_;
    for (std::uint64_t at = threads_; at != 0 && at < threads; at *= 2) time *= at < full_ ? growth_ : 2;
    return time;
  }

 private:
  std::uint64_t full_;
  std::uint64_t threads_ = 0;
  double time_ = 0;
  double growth_ = 2;
};

/// Shares of the time that is left for a row of points with as many threads each.
struct row_share {
  double once;  ///< for one run of each
  double all;   ///< for all of them
};

/// The share of the first of `rows` rows that are left. A row takes at least twice as long as the
/// one before it. So a plan that leaves each row twice what the one before it has can repeat all of
/// them alike. A row that takes more than half of all for one run takes it from a next one that
/// could not be run anyway.
inline row_share share_of_row(int rows) { return {rows == 1 ? 1 : 0.5, 1 / (std::exp2(rows) - 1)}; }

}  // namespace warpheap::bench
