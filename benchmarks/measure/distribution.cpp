// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#include "distribution.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace warpheap::bench {
namespace {

// Floats that are not negative are in the order of their bits, so the upper bits number the buckets.
constexpr int dropped_bits = 12;
constexpr std::size_t buckets = std::size_t{1} << (31 - dropped_bits);

std::size_t bucket_of(float value) { return std::bit_cast<std::uint32_t>(value) >> dropped_bits; }
float lower_end(std::size_t bucket) { return std::bit_cast<float>(static_cast<std::uint32_t>(bucket << dropped_bits)); }

// As `samples::median` has it. Changes the order of `values`.
double median_of(std::vector<float>& values) {
  const auto upper = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), upper, values.end());
  if (values.size() % 2 == 1) return *upper;
  return (double{*std::max_element(values.begin(), upper)} + *upper) / 2;
}

}  // namespace

distribution::distribution() : counts_(buckets) {}

void distribution::add_round(std::vector<float> values) {
  const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
  least_ = count_ == 0 ? *least : std::min(least_, *least);
  greatest_ = std::max(greatest_, *greatest);
  for (const float value : values) ++counts_[bucket_of(value)];
  count_ += values.size();
  sum_ += std::accumulate(values.begin(), values.end(), 0.0);
  round_medians_.add(median_of(values));
}

// The figure that `rank` figures do not exceed, counted from 1.
double distribution::nth(std::uint64_t rank) const {
  std::uint64_t upto = 0;
  std::size_t bucket = 0;
  while ((upto += counts_[bucket]) < rank) ++bucket;
  return std::max(lower_end(bucket), least_);
}

double distribution::percentile(double share) const {
  return nth(static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count_))));
}

std::optional<json_object> distribution::summary() const {
  if (count_ == 0) return std::nullopt;
  const auto within = round_medians_.confidence();
  // Where rounds are unlike each other, the median of all figures can lie beside those of the rounds.
  const double median = (nth((count_ + 1) / 2) + nth(count_ / 2 + 1)) / 2;
  json_object result;
  result.add("median", median)
      .add("median_low", within ? std::optional{std::min(within->first, median)} : std::nullopt)
      .add("median_high", within ? std::optional{std::max(within->second, median)} : std::nullopt)
      .add("p95", percentile(0.95))
      .add("p99", percentile(0.99))
      .add("p999", percentile(0.999))
      .add("min", double{least_})
      .add("max", double{greatest_})
      .add("mean", sum_ / static_cast<double>(count_))
      .add("count", count_);
  return result;
}

}  // namespace warpheap::bench
