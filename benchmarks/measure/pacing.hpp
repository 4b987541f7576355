// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "../options.hpp"
#include "samples.hpp"

namespace warpheap::bench {

/// Says which round comes next and when a case has measured enough:
///
/// warm-ups first; then `iterations` timed rounds; then further ones, up to `most_iterations`, until the confidence
/// interval of each watched median lies within `precision` of the median. Once `soft_limit` seconds are spent, no kind
/// of round starts again that was run before, so that a slow design has few samples rather than none.
class pacing {
 public:
  pacing(const run_options& options, std::vector<const samples*> watched)
      : options_(options), watched_(std::move(watched)), start_(std::chrono::steady_clock::now()) {}

  /// Goes on to the next round. Returns false if enough rounds were run.
  bool next() {
    ++round_;
    if (warmups_ < options_.warmup && (warmups_ == 0 || !out_of_time())) {
      ++warmups_;
      return true;
    }
    timed_ = true;
    const bool more = rounds_timed_ < options_.iterations || (rounds_timed_ < options_.most_iterations && !settled());
    if (!more || (rounds_timed_ > 0 && out_of_time())) return false;
    ++rounds_timed_;
    return true;
  }

  bool timed() const { return timed_; }       ///< the round in hand counts
  bool first() const { return round_ == 1; }  ///< it is the first of all

 private:
  bool settled() const {
    for (const samples* each : watched_) {
      if (each->count() == 0) continue;  // the design has no such operation
      const auto within = each->confidence();
      const double slack = options_.precision * each->median();
      if (!within || each->median() - within->first > slack || within->second - each->median() > slack) return false;
    }
    return true;
  }
  bool out_of_time() const {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start_;
    return options_.soft_limit > 0 && spent.count() > options_.soft_limit;
  }

  const run_options& options_;
  std::vector<const samples*> watched_;
  std::chrono::steady_clock::time_point start_;
  std::uint64_t round_ = 0;
  std::uint64_t warmups_ = 0;
  std::uint64_t rounds_timed_ = 0;
  bool timed_ = false;
};

}  // namespace warpheap::bench
