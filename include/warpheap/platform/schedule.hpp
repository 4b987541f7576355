// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <string>
#include <warpheap/platform/annotation.hpp>

namespace warpheap {

/// How the host executor chooses the lane that runs next. On a GPU the hardware chooses and only `seed` has a use:
/// tests draw their random inputs from it on both backends.
struct schedule {
  /// Which lane comes next, and when.
  enum class policy {
    round_robin,  ///< each lane in turn, a switch at each atomic
    random,       ///< a seeded random lane, a switch at random atomics
    stalling      ///< as `random`, and at any time a few lanes stand still for long, wherever they are
  };

  policy order = policy::round_robin;  ///< which lane comes next
  std::uint64_t seed = 1;              ///< with one worker, the same seed replays the same schedule
  bool fuzz = false;                   ///< `active_group` hands out random subsets, processors change at random
  unsigned workers = 0;                ///< threads that run blocks; 0: one for each core of the host
  /// Lanes that one worker interleaves, in whole blocks: at least one block, and two if the worker runs alone.
  unsigned resident_lanes = 512;
  unsigned gather_turns = 128;  ///< turns of its warp that `active_group` lets a lane wait for company
  /// Rounds in which all lanes of all workers only wait before the watchdog fails the launch.
  unsigned stalled_rounds = 4096;
  /// The watchdog ends the process when a lane has run this long without a point where it could be switched.
  std::chrono::seconds lane_limit{60};
};

namespace detail {

// Reads `field` from the environment if the variable is there.
template <class Number>
void read_environment(const char* name, Number& field) {
  const char* const text = std::getenv(name);
  if (text == nullptr) return;
  char* end = nullptr;
  errno = 0;
  const std::uint64_t value = std::strtoull(text, &end, 0);
  // strtoull takes a sign and blanks, which no number here starts with.
  if (end == text || *end != '\0' || *text < '0' || *text > '9') {
    throw std::invalid_argument(std::string{name} + ": use a whole number from 0 on, not '" + text + "'");
  }
  if (errno == ERANGE || value > std::numeric_limits<Number>::max()) {
    throw std::invalid_argument(std::string{name} + ": the largest is " +
                                std::to_string(std::numeric_limits<Number>::max()) + ", not '" + text + "'");
  }
  field = static_cast<Number>(value);
}

// How `WARPHEAP_SCHEDULE` and messages name a policy.
inline const char* name_of(schedule::policy order) {
  switch (order) {
    case schedule::policy::random: return "random";
    case schedule::policy::stalling: return "stalling";
    default: return "round_robin";
  }
}
inline schedule::policy policy_named(const std::string& name) {
  using enum schedule::policy;
  for (const schedule::policy each : {round_robin, random, stalling}) {
    if (name == name_of(each)) return each;
  }
  throw std::invalid_argument("WARPHEAP_SCHEDULE: use round_robin, random or stalling, not '" + name + "'");
}

// The default schedule overlaid with the environment.
inline schedule schedule_from_environment() {
  schedule result;
  if (const char* order = std::getenv("WARPHEAP_SCHEDULE")) {
    result.order = policy_named(order);
  }
  read_environment("WARPHEAP_SEED", result.seed);
  read_environment("WARPHEAP_FUZZ", result.fuzz);
  read_environment("WARPHEAP_WORKERS", result.workers);
  return result;
}

inline schedule& schedule_in_force() {
  static schedule value = schedule_from_environment();
  return value;
}

}  // namespace detail

/// The schedule of the launches to come. It starts as the defaults overlaid with the environment: `WARPHEAP_SCHEDULE`
/// (`round_robin`, `random` or `stalling`), `WARPHEAP_SEED`, `WARPHEAP_FUZZ` (0 or 1) and `WARPHEAP_WORKERS`.
inline const schedule& current_schedule() { return detail::schedule_in_force(); }

/// Makes `next` the schedule of the launches to come, until the guard is destroyed. Host threads share the schedule, so
/// change it from one thread only.
class scoped_schedule {
 public:
  /// Puts `next` in force.
  explicit scoped_schedule(const schedule& next) : previous_(current_schedule()) { detail::schedule_in_force() = next; }
  ~scoped_schedule() { detail::schedule_in_force() = previous_; }
  scoped_schedule(const scoped_schedule&) = delete;
  scoped_schedule& operator=(const scoped_schedule&) = delete;

 private:
  schedule previous_;
};

/// A launch that did not end well. The message says what happened, with which seed, and where each lane stood (host),
/// or which CUDA error came (GPU).
class launch_failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace warpheap
