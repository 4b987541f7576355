// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#include "exhaustion.hpp"

#include <algorithm>
#include <cstddef>

#include "samples.hpp"

namespace warpheap::bench {
namespace {

double median_of(const double* first, std::size_t count) {
  samples part;
  for (std::size_t i = 0; i < count; ++i) part.add(first[i]);
  return part.median();
}

}  // namespace

double last_tenth(const std::vector<filling_round>& rounds) {
  double bytes = 0;
  for (const filling_round& each : rounds) bytes += static_cast<double>(each.bytes);
  double left = bytes / 10;
  double time = 0;
  for (std::size_t i = rounds.size(); i-- > 0 && left > 0;) {
    const auto here = static_cast<double>(rounds[i].bytes);
    if (here <= left) {
      time += rounds[i].time;
    } else {
      time += rounds[i].time * left / here;
    }
    left -= here;
  }
  return time;
}

std::optional<double> slowdown(const std::vector<double>& values) {
  if (values.size() < 2) return std::nullopt;
  const std::size_t tenth = std::max<std::size_t>(values.size() / 10, 1);
  const double first = median_of(values.data(), tenth);
  if (first <= 0) return std::nullopt;
  return median_of(values.data() + values.size() - tenth, tenth) / first;
}

}  // namespace warpheap::bench
