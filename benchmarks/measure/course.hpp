// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>
#include <warpheap/platform.hpp>

#include "../json.hpp"
#include "../options.hpp"
#include "findings.hpp"
#include "not_served.hpp"
#include "requests.hpp"
#include "rounds.hpp"
#include "samples.hpp"
#include "stopwatch.hpp"

namespace warpheap::bench {

/// What every case measures with, whatever its heap: the options of the run, what was found so far,
/// and a clock. Each fixture derives from it and adds memory: see `fixtures.hpp`.
struct fixture_base {
  /// Starts with no findings. `asked` are the options of the run.
  explicit fixture_base(const run_options& asked) : options(asked) {}
  fixture_base(const fixture_base&) = delete;  // judges refer to `found`

  /// The requests of the next round; `found.rounds` counts that round.
  requests next_requests() { return requests::of_round(options, found.rounds++); }

  /// Microseconds that the device takes for the kernels that `launches()` starts, the start of the
  /// first one included.
  template <class Launches>
  double time_of(Launches&& launches) {
    timer.start();
    launches();
    return timer.stop();
  }

  /// Called once after all rounds. A fixture hides it if its heap is to be judged at the end.
  void finish() {}

  const run_options options;
  findings found;
  stopwatch timer;
};

/// What a course says if it says nothing else. A course derives from it and hides the members that
/// differ.
struct course_defaults {
  /// Why designs like this one cannot run the case, known when it is compiled; null if they can. A
  /// case that a design cannot run is not instantiated for it.
  static constexpr const char* unfit_design = nullptr;

  /// Why no heap could serve the case with these options; empty if one could. Asked before the
  /// fixture is made.
  static std::string unfit_options(const run_options&) { return ""; }

  /// The options that the fixture gets, made from those of the command line.
  static run_options adapted(const run_options& options) { return options; }

  /// Why the heap that was made cannot serve the case; empty if it can. Asked before the first
  /// round.
  std::string unfit_heap() const { return ""; }

  /// Adds what the record says before the findings.
  void describe(json_object&) const {}

  /// The figures whose medians have to be known to the precision that the options ask for: see
  /// `pacing`.
  std::vector<const samples*> watched() const { return {}; }
};

/// Runs a case once for one allocator and adds to `record` what was found. Returns why the case is
/// not ok, or nothing if it is. This is the skeleton of every case; a case says in its course, the
/// type `Course`, only what is its own. Beside the members of `course_defaults` a course has:
///
/// - `fixture`, the type of what it measures with, such as `one_heap<A>`;
/// - a constructor that takes a `fixture&`, which outlives the course;
/// - `round(round_kind)`, one of the rounds that `run_rounds` asks for. A case that goes by no
///   number of rounds has `measure()` instead, which is all that it measures;
/// - `add_measures(findings&)`, which adds measures and series. They reach the record only if
///   nothing was found wrong.
///
/// These happen in this order:
///
/// 1. An unfit design, then unfit options, end the run with empty findings. Nothing was made.
/// 2. The fixture is made from the adapted options, then the course; `describe` adds to the record.
/// 3. An unfit heap ends the run with empty findings.
/// 4. Rounds run, up to the first fault or failure.
/// 5. The fixture finishes, the measures are added, and the findings are reported.
template <class Course>
std::string run_course(const run_options& options, json_object& record) {
  if constexpr (Course::unfit_design != nullptr) {
    return not_served(record, Course::unfit_design);
  } else {
    if (std::string reason = Course::unfit_options(options); !reason.empty()) {
      return not_served(record, std::move(reason));
    }
    typename Course::fixture on{Course::adapted(options)};
    Course course{on};
    course.describe(record);
    if (std::string reason = course.unfit_heap(); !reason.empty()) return not_served(record, std::move(reason));
    if constexpr (requires(round_kind kind) { course.round(kind); }) {
      run_rounds(on.options, on.found, course.watched(), [&](round_kind kind) { course.round(kind); });
    } else {
      course.measure();
    }
    on.finish();
    course.add_measures(on.found);
    on.found.report(record);
    return on.found.reason();
  }
}

}  // namespace warpheap::bench
