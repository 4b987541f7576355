// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#include "samples.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace warpheap::bench {

std::optional<json_object> samples::summary() const {
  if (values_.empty()) return std::nullopt;
  std::vector<double> sorted = values_;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t count = sorted.size();
  const double median = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
  const auto rank95 = static_cast<std::size_t>(std::ceil(0.95 * static_cast<double>(count)));
  const double mean = std::accumulate(sorted.begin(), sorted.end(), 0.0) / static_cast<double>(count);
  json_object result;
  result.add("median", median)
      .add("p95", sorted[rank95 - 1])
      .add("min", sorted.front())
      .add("max", sorted.back())
      .add("mean", mean)
      .add("count", count);
  return result;
}

}  // namespace warpheap::bench
