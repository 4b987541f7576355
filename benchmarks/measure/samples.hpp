// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "../json.hpp"

namespace warpheap::bench {

/// Times of the same thing, in microseconds.
class samples {
 public:
  void add(double microseconds) { values_.push_back(microseconds); }

  /// `{median, p95, min, max, mean, count}`, or nothing if there are no samples. The median of an even number is the
  /// mean of the middle two; p95 is the smallest sample that at least 95 % do not exceed.
  std::optional<json_object> summary() const;

 private:
  std::vector<double> values_;
};

}  // namespace warpheap::bench
