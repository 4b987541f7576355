// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "../json.hpp"

namespace warpheap::bench {

/// Figures of the same thing, such as times in microseconds.
class samples {
 public:
  void add(double value) { values_.push_back(value); }

  std::size_t count() const { return values_.size(); }
  const std::vector<double>& values() const { return values_; }

  /// The median: of an even number of samples the mean of the middle two. There is at least one sample.
  double median() const;

  /// Where the median of all that could be drawn lies with a confidence of 95 %: between two of the samples, whatever
  /// their distribution. Nothing for fewer than six samples, which no such interval exists for.
  std::optional<std::pair<double, double>> confidence() const;

  /// `{median, median_low, median_high, p95, p99, min, max, mean, count}`, or nothing if there are no samples; low and
  /// high are the confidence interval. pN is the smallest sample that at least N % do not exceed.
  std::optional<json_object> summary() const;

 private:
  std::vector<double> values_;
};

}  // namespace warpheap::bench
