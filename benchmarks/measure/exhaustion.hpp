// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "../options.hpp"

namespace warpheap::bench {

/// Whether a round shows that the heap has no more: it got less than a hundredth of what it asked for. So a design that
/// refuses some requests for other reasons than want of room goes on, and one that serves a last few is not waited for.
/// Of fewer than a hundred requests, none was served.
constexpr bool shows_exhaustion(std::uint64_t got, std::uint64_t asked) { return got * 100 < asked; }

/// A round on the way to exhaustion.
struct filling_round {
  double time;          ///< microseconds of its kernel
  std::uint64_t bytes;  ///< handed out
};

/// Microseconds in which the last tenth of all bytes was handed out. The bytes of a round are taken to come at an even
/// pace, so a tenth that begins within a kernel has its share of that kernel's time. 0 if there are no bytes.
double last_tenth(const std::vector<filling_round>& rounds);

/// The median of the last tenth of `values` over that of the first tenth; a tenth is at least one value. Nothing for
/// fewer than two values, or if the first ones are 0.
std::optional<double> slowdown(const std::vector<double>& values);

/// The soft limit of a case that goes by no number of rounds.
class time_budget {
 public:
  explicit time_budget(const run_options& options)
      : limit_(options.soft_limit), start_(std::chrono::steady_clock::now()) {}

  /// True if no further round should start.
  bool spent() const { return limit_ > 0 && seconds() > limit_; }

  /// True if a course that was run `done` times, at least once, would end in time if it were run again.
  bool allows_another(std::uint64_t done) const {
    return limit_ <= 0 || seconds() * static_cast<double>(done + 1) <= limit_ * static_cast<double>(done);
  }

 private:
  double seconds() const {
    const std::chrono::duration<double> since = std::chrono::steady_clock::now() - start_;
    return since.count();
  }

  double limit_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace warpheap::bench
