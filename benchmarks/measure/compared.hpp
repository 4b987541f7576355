// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/platform.hpp>

#include "items.hpp"
#include "requests.hpp"
#include "samples.hpp"

namespace warpheap::bench {

/// Times of a baseline that makes the same items in the same rounds, and how long the heap takes against it, round by
/// round: what slows a round down slows down both.
struct baseline_samples {
  samples times;   ///< of the baseline, in microseconds
  samples ratios;  ///< the heap's time by the baseline's, of each round

  /// Adds a round in which the heap took `own` and the baseline `other`.
  void add(double own, double other) {
    times.add(other);
    ratios.add(own / other);
  }
};

/// Counts the items of a round that are not what their threads wrote.
class item_check {
 public:
  /// Compares every word of the items at `blocks`, and returns how many items have a wrong one.
  std::uint64_t wrong_items(const requests& asked, void* const* blocks) {
    clear();
    check_items(asked, blocks, wrong_.data());
    return count();
  }

  /// Forgets what was counted.
  void clear() { wrong_.clear(); }
  /// Where kernels add to the count.
  std::uint64_t* counter() const { return wrong_.data(); }
  /// The count.
  std::uint64_t count() const { return wrong_.at(0); }

 private:
  device_array<std::uint64_t> wrong_ = device_array<std::uint64_t>(1);
};

}  // namespace warpheap::bench
