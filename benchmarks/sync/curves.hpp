// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "../json.hpp"
#include "forecast.hpp"

namespace warpheap::bench {

/// One run of a point.
struct course {
  double time;               ///< microseconds of its kernel
  std::uint64_t operations;  ///< that its threads made
  std::uint64_t made;        ///< batches, or elements taken out: what both of two that are compared must have alike
};

/// A line of a figure: the same experiment with more and more threads.
struct curve {
  json_object head;                                         ///< what its records begin with
  const char* made;                                         ///< their name for `course::made`
  std::uint64_t least;                                      ///< threads that it begins with
  std::uint64_t most;                                       ///< and ends with
  std::uint64_t fewest_asking;                              ///< a run needs so many threads that do something
  std::function<course(std::uint64_t, std::uint64_t)> run;  ///< threads, and how many of them do something
  forecast times;                                           ///< of its runs
};

/// Measures all curves within `seconds`, and prints a record for each point at once: up to `rounds`
/// runs for each. Points with fewer threads come first, in steps of a factor of `step`, and what
/// they leave of their time is for the others. A point that should take too long is run with fewer
/// threads that do something, if that is still the same experiment; else its record says why there
/// is no result.
void measure(std::vector<curve> curves, double seconds, int rounds, std::uint64_t step);

}  // namespace warpheap::bench
