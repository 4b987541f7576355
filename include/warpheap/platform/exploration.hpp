// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

/// Systematic exploration: the host executor runs a small kernel under every schedule that can make a difference.
/// `docs/design/exploration.md` tells how it works. Link the host backend to use it; a GPU chooses its own schedules.
namespace warpheap {

/// How far an exploration goes.
struct exploration_options {
  /// Executions after which the exploration stops, incomplete.
  std::uint64_t most_executions = 1'000'000;
  /// Steps of one execution after which it counts as endless, which is a failure.
  std::uint32_t most_steps = 2000;
  /// Times that one lane may wait in one execution. An execution in which a lane waits more often is cut: its end is
  /// not looked at, and the result counts it.
  std::uint32_t most_waits = 16;
  /// Turns that all waiting lanes get, one after the other, when nothing else can run, before this is a deadlock. A
  /// wait that gives up after a number of looks needs as many.
  std::uint32_t idle_turns = 2;
  /// False: each schedule, also those that differ only in the order of steps that do not touch the same object.
  bool reduction = true;
  /// Switches away from a lane that could go on, at most this many in an execution. A bound implies no reduction, and
  /// what needs more switches is not found. Not set: all schedules.
  std::optional<std::uint32_t> preemptions{};
  /// A schedule to run instead of the exploration, as `exploration::schedule` gives it. Empty: the environment variable
  /// `WARPHEAP_EXPLORE_REPLAY` or, if that is not set, the exploration.
  std::string replay{};
};

/// What an exploration came to.
struct exploration {
  std::uint64_t executions = 0;  ///< that ran to their end, the failed one among them
  std::uint64_t redundant = 0;   ///< that were given up since they would only repeat an earlier one
  std::uint64_t cut = 0;         ///< that were given up at `most_waits`
  std::uint32_t steps = 0;       ///< of the longest execution
  bool complete = false;         ///< no schedule is left within the bounds, and none was cut
  std::string failure;           ///< the report of the first execution that failed; empty if none did
  std::string schedule;  ///< its schedule, such as `0*3,1*2,0`: three steps of lane 0, two of lane 1, one of lane 0
};

namespace executor {

/// One scenario, as the explorer runs it: for each execution `make`, `run` and, if all lanes ended, `check`.
class scenario_runner {
 public:
  virtual ~scenario_runner() = default;
  /// Makes the state anew.
  virtual void make() = 0;
  /// Launches the one kernel that is explored.
  virtual void run() = 0;
  /// Says what is wrong with the state; empty if nothing is.
  virtual std::string check() = 0;
};

/// What `warpheap::explore` calls.
exploration explore(const exploration_options& options, scenario_runner& scenario);

}  // namespace executor

/// Runs a scenario under all schedules of its kernel, or until one fails.
///
/// `make_scenario()` returns a new scenario, for each execution one. Its `run()` launches one kernel of at most 8
/// lanes; its `check()` returns what is wrong with the outcome, an empty string if nothing is. What comes before `run`
/// and after it may launch kernels, too; these are not explored. Equal choices must lead to equal steps each
/// time, so the scenario reads no clock and no random number.
///
/// A schedule is a sequence of steps: each atomic operation, with what the lane does up to its next one, each meeting
/// of lanes and each end of a wait. The memory model is sequential consistency: orders, scopes and fences have no
/// effect, and a fence is no step. Plain accesses are no steps either, so they must be ordered by atomics, which
/// ThreadSanitizer checks; of schedules that differ in the order of unordered ones, some may be left out.
/// `active_group` returns the caller alone; collectives over a group that is named work. Lanes keep the processor of
/// their block.
///
/// The first pause of a `backoff` may be a mere delay: the lane may go on at once. At each further one it waits until
/// another lane changes an object that it has read since its last pause at this place; with no such read it goes on. So
/// spins are finite, and a state in which all lanes wait is a deadlock.
///
/// Of schedules that differ only in the order of independent steps one is run: source sets and sleep sets (Abdulla,
/// Aronis, Jonsson and Sagonas, "Optimal dynamic partial order reduction", POPL 2014, after Flanagan and Godefroid,
/// POPL 2005).
///
/// An execution fails if `check` says so, if the launch fails (`require`, a collective, an exception), at a deadlock,
/// and if it takes more than `most_steps` steps. The report says why, the schedule, its steps, and how to replay it.
/// Throws `std::invalid_argument` for a replay that is no schedule.
template <class Make>
exploration explore(const exploration_options& options, Make make_scenario) {
  class runner final : public executor::scenario_runner {
   public:
    explicit runner(Make& make) : make_(make) {}
    void make() override {
      scenario_.reset();  // the old one first, so that the new one finds the same memory
      scenario_.emplace(factory{make_});
    }
    void run() override { scenario_->value.run(); }
    std::string check() override { return scenario_->value.check(); }

   private:
    struct factory {
      Make& make;
    };
    struct holder {
      explicit holder(factory from) : value(from.make()) {}
      decltype(std::declval<Make&>()()) value;  // made in place, so it needs not move
    };
    Make& make_;
    std::optional<holder> scenario_;
  };
  runner scenario{make_scenario};
  return executor::explore(options, scenario);
}

}  // namespace warpheap
