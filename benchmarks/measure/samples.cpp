// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#include "samples.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace warpheap::bench {
namespace {

std::vector<double> in_order(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values;
}

double middle(const std::vector<double>& sorted) {
  return (sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]) / 2;
}

double percentile(const std::vector<double>& sorted, double share) {
  return sorted[static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size()))) - 1];
}

// How many samples at either end can be left out so that the median lies between the others with 95 %: each sample is
// below the median with probability one half, so the number of those that are is binomial.
std::size_t samples_outside(std::size_t count) {
  const auto n = static_cast<double>(count);
  if (count > 1000) return static_cast<std::size_t>(n / 2 - 0.98 * std::sqrt(n));  // the binomial is normal here
  double term = std::exp2(-n);  // the probability that exactly `outside` samples are below
  double below = term;
  std::size_t outside = 0;
  while (below <= 0.025) {
    term *= (n - static_cast<double>(outside)) / static_cast<double>(outside + 1);
    below += term;
    ++outside;
  }
  return outside;
}

std::optional<std::pair<double, double>> interval(const std::vector<double>& sorted) {
  const std::size_t outside = sorted.empty() ? 0 : samples_outside(sorted.size());
  if (outside == 0) return std::nullopt;
  return std::pair{sorted[outside - 1], sorted[sorted.size() - outside]};
}

}  // namespace

double samples::median() const { return middle(in_order(values_)); }

std::optional<std::pair<double, double>> samples::confidence() const { return interval(in_order(values_)); }

std::optional<json_object> samples::summary() const {
  if (values_.empty()) return std::nullopt;
  const std::vector<double> sorted = in_order(values_);
  const auto within = interval(sorted);
  json_object result;
  result.add("median", middle(sorted))
      .add("median_low", within ? std::optional{within->first} : std::nullopt)
      .add("median_high", within ? std::optional{within->second} : std::nullopt)
      .add("p95", percentile(sorted, 0.95))
      .add("p99", percentile(sorted, 0.99))
      .add("min", sorted.front())
      .add("max", sorted.back())
      .add("mean", std::accumulate(sorted.begin(), sorted.end(), 0.0) / static_cast<double>(sorted.size()))
      .add("count", sorted.size());
  return result;
}

}  // namespace warpheap::bench
