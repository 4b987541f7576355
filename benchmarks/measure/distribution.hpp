// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "../json.hpp"
#include "samples.hpp"

namespace warpheap::bench {

/// Very many figures of the same thing, such as the cycles of each request, in rounds. They are counted in buckets, so
/// a distribution takes 4 MiB however many there are.
///
/// A bucket holds the figures that agree in the leading one of their float and the 11 bits after
/// it. So whole numbers below 4096 are kept as they are, and a percentile of larger ones is at most
/// 0.05 % too low. Least, greatest and mean are exact.
class distribution {
 public:
  distribution();

  /// Adds the figures of a round. There is at least one, and none is negative.
  void add_round(std::vector<float> values);

  /// The median of each round, in their order. Requests of one round contend with each other and are no independent
  /// samples; rounds are.
  const samples& round_medians() const { return round_medians_; }

  /// Returns `{median, median_low, median_high, p95, p99, p999, min, max, mean, count}` of all
  /// figures, or nothing if no round was added. pN is the smallest figure that at least N % do not
  /// exceed, up to the width of a bucket. Low and high are the confidence interval of the median of
  /// the rounds' medians, widened to hold the median.
  std::optional<json_object> summary() const;

 private:
  double nth(std::uint64_t rank) const;
  double percentile(double share) const;

  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0;
  double sum_ = 0;
  float least_ = 0;
  float greatest_ = 0;
  samples round_medians_;
};

}  // namespace warpheap::bench
