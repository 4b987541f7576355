// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <warpheap/heap.hpp>

#include "../json.hpp"
#include "../measure/findings.hpp"
#include "../measure/memory.hpp"
#include "../measure/not_served.hpp"
#include "../measure/requests.hpp"
#include "../measure/rounds.hpp"
#include "../measure/samples.hpp"
#include "../measure/stopwatch.hpp"
#include "../options.hpp"
#include "../trace/replay.hpp"
#include "../trace/shipped.hpp"

namespace warpheap::bench {

/// How long a design takes for the mallocs and frees of a program, recorded and played again: docs/traces.md.
///
/// The heap is made once and stays warm. A round is one replay, a kernel a phase; what the trace leaves is freed behind
/// it, outside the times. Blocks hold words at both ends that are compared when they are touched or freed, in judged
/// rounds all over, and after each phase of those the live blocks are sorted by address; at their end nothing may be
/// live.
struct trace_replay {
  static constexpr const char* name = "trace";
  static constexpr const char* summary = "the mallocs and frees of a recorded program";
  static constexpr case_mode modes[] = {
      {"adjacency", "a graph whose adjacency lists grow and shrink in batches of edges"},
      {"rewriting", "a work queue of pieces of text that expand, split, shrink and vanish, step by step"}};
  static constexpr const char* axes[] = {"threads"};

  /// The mode of a run with `--trace`.
  static std::string mode_of(const run_options& options) { return mode_of_file(options); }

  /// Measures; adds to `record`. Returns why the case is not ok, or nothing if it is.
  template <device_allocator A>
  static std::string run(const run_options& options, json_object& record) {
    if constexpr (!A::capabilities.individual_free) {
      return not_served(record, lacks_individual_free);
    } else if constexpr (A::capabilities.needs_full_warp) {
      return not_served(record, needs_whole_warps);
    } else {
      return course<A>{options}.run(record);
    }
  }

 private:
  template <device_allocator A>
  class course;
};

// One run of the case.
template <device_allocator A>
class trace_replay::course {
  static_assert(A::capabilities.alignment % 4 == 0, "contents are written in words");

 public:
  explicit course(const run_options& options)
      : options_(options),
        plan_(trace_of(options), options.threads),
        heap_(options.heap_bytes),
        live_before_(heap_.stats().live_bytes) {}

  std::string run(json_object& record) {
    const trace_figures& figures = plan_.figures();
    record.add("trace", json_object{}
                            .add("copies", plan_.copies())
                            .add("threads", figures.threads)
                            .add("phases", plan_.phases().size())
                            .add("operations", figures.operations())
                            .add("requested_bytes", figures.requested_bytes)
                            .add("peak_bytes", figures.peak_bytes));
    if (figures.largest_bytes > A::capabilities.largest_bytes) {
      not_served(record, "");
      return "the design serves requests of up to " + std::to_string(A::capabilities.largest_bytes) +
             " bytes, and the trace has one of " + std::to_string(figures.largest_bytes);
    }
    run_rounds(options_, found_, {&times_}, [&](round_kind kind) { round(kind); });
    found_.add("replay", microseconds, times_);
    found_.add("rate", operations_per_second, rates_);
    found_.report(record);
    return found_.fault.empty() ? refusal_ : found_.fault;
  }

 private:
  // Judged rounds stop the clock behind each phase; in others the phases follow one another.
  void round(round_kind kind) {
    const replay_state state = plan_.state(mix(options_.seed ^ mix(found_.rounds++)), kind.judged);
    stopwatch timer;
    double time = 0;
    largest_ = 0;
    timer.start();
    for (const replay_phase& phase : plan_.phases()) {
      launch(plan_.grid(phase), replay_kernel<A>{}, heap_.ref(), phase, state);
      if (!kind.judged) continue;
      time += timer.stop();
      look(phase);
      if (!found_.fault.empty()) return;
      timer.start();
    }
    time += timer.stop();
    launch(plan_.grid(plan_.ending()), replay_kernel<A>{}, heap_.ref(), plan_.ending(), state);
    account();
    if (kind.judged) look_at_end();
    if (!kind.timed) return;
    times_.add(time);
    rates_.add(static_cast<double>(plan_.figures().operations() * plan_.copies()) / (time * 1e-6));
  }

  // Sees that the blocks that are live after a phase are sound.
  void look(const replay_phase& phase) {
    const address_findings seen = plan_.look(A::capabilities.alignment);
    if (!seen.fault.empty()) {
      found_.fault = "after phase " + std::to_string(1 + (&phase - plan_.phases().data())) + ": " + seen.fault;
    }
    if (seen.requested_bytes < largest_) return;
    largest_ = seen.requested_bytes;
    found_.memory = describe_memory(seen.requested_bytes, seen.span_bytes, heap_.stats());
  }

  // Sees that nothing is live any more, where the design knows.
  void look_at_end() {
    ++found_.rounds_judged;
    if (found_.fault.empty()) found_.fault = describe_leak(live_before_, heap_.stats().live_bytes);
  }

  void account() {
    const replay_tally seen = plan_.take_tally();
    const std::uint64_t mallocs = plan_.figures().mallocs * plan_.copies();
    found_.requests += mallocs;
    found_.failures += seen.null;
    if (seen.null != 0) {
      refusal_ = std::to_string(seen.null) + " of " + std::to_string(mallocs) + " requests in round " +
                 std::to_string(found_.rounds) + " got null: up to " +
                 std::to_string(plan_.figures().peak_bytes * plan_.copies()) +
                 " bytes are live at once, the heap has " + std::to_string(heap_.size());
    }
    if (seen.damaged != 0 && found_.fault.empty()) {
      found_.fault =
          std::to_string(seen.damaged) + " blocks lost what was written to them before they were touched or freed";
    }
  }

  const run_options& options_;
  replay_plan plan_;
  heap<A> heap_;
  std::optional<std::uint64_t> live_before_;
  findings found_;
  std::string refusal_;
  std::uint64_t largest_ = 0;  // bytes live after a phase of the round in hand
  samples times_;
  samples rates_;
};

}  // namespace warpheap::bench
