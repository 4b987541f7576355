// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>
#include <warpheap/heap.hpp>

#include "../json.hpp"
#include "../measure/course.hpp"
#include "../measure/findings.hpp"
#include "../measure/memory.hpp"
#include "../measure/not_served.hpp"
#include "../measure/oracle.hpp"
#include "../measure/rounds.hpp"
#include "../measure/samples.hpp"
#include "../measure/stopwatch.hpp"
#include "../options.hpp"
#include "../trace/replay.hpp"
#include "../trace/shipped.hpp"

namespace warpheap::bench {

/// How long a design takes for the mallocs and frees of a program, recorded and played again: docs/traces.md.
///
/// The heap is made once and stays warm. A round is one replay, a kernel a phase. What the trace
/// leaves is freed after it, outside the times. Blocks hold words at both ends, which are compared
/// when a block is touched or freed; in judged rounds these words fill the blocks. After each phase
/// of a judged round the live blocks are sorted by address. At the end of such a round nothing may
/// be live.
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
    return run_course<course<A>>(options, record);
  }

 private:
  template <device_allocator A>
  struct played_heap;
  template <device_allocator A>
  class course;
};

// What the case measures with: the trace as it is played, and one heap. A trace that cannot be read is refused before
// the heap is made.
template <device_allocator A>
struct trace_replay::played_heap : fixture_base {
  explicit played_heap(const run_options& asked)
      : fixture_base(asked),
        plan(trace_of(asked), asked.threads),
        heap(asked.heap_bytes),
        live_before(heap.statistics().live_bytes) {}

  replay_plan plan;
  warpheap::heap<A> heap;
  std::optional<std::uint64_t> live_before;
};

// One run of the case on a warm heap.
template <device_allocator A>
class trace_replay::course : public course_defaults {
  static_assert(A::capabilities.alignment % 4 == 0, "contents are written in words");

 public:
  using fixture = played_heap<A>;
  static constexpr const char* unfit_design = unfit_for_lone_threads(A::capabilities);

  explicit course(fixture& on) : on_(on) {}

  void describe(json_object& record) const {
    const trace_figures& figures = on_.plan.figures();
    record.add("trace", json_object{}
                            .add("copies", on_.plan.copies())
                            .add("threads", figures.threads)
                            .add("phases", on_.plan.phases().size())
                            .add("operations", figures.operations())
                            .add("requested_bytes", figures.requested_bytes)
                            .add("peak_bytes", figures.peak_bytes));
  }

  std::string unfit_heap() const {
    const std::uint64_t largest = on_.plan.figures().largest_bytes;
    if (largest <= A::capabilities.largest_bytes) return "";
    return "the design serves requests of up to " + std::to_string(A::capabilities.largest_bytes) +
           " bytes, and the trace has one of " + std::to_string(largest);
  }

  std::vector<const samples*> watched() const { return {&times_}; }

  // Judged rounds stop the clock after each phase; in others the phases follow one another.
  void round(round_kind kind) {
    replay_plan& plan = on_.plan;
    const replay_state state = plan.state(mix(on_.options.seed ^ mix(on_.found.rounds++)), kind.judged);
    stopwatch& timer = on_.timer;
    double time = 0;
    largest_ = 0;
    timer.start();
    for (const replay_phase& phase : plan.phases()) {
      launch(plan.grid(phase), replay_kernel<A>{}, on_.heap.ref(), phase, state);
      if (!kind.judged) continue;
      time += timer.stop();
      look(phase);
      if (!on_.found.sound()) return;
      timer.start();
    }
    time += timer.stop();
    launch(plan.grid(plan.ending()), replay_kernel<A>{}, on_.heap.ref(), plan.ending(), state);
    account();
    if (kind.judged) look_at_end();
    if (!kind.timed) return;
    times_.add(time);
    rates_.add(static_cast<double>(plan.figures().operations() * plan.copies()) / (time * 1e-6));
  }

  void add_measures(findings& found) const {
    found.add("replay", microseconds, times_);
    found.add("rate", operations_per_second, rates_);
  }

 private:
  // Sees that the blocks that are live after a phase are sound.
  void look(const replay_phase& phase) {
    const address_findings seen = on_.plan.look(A::capabilities.alignment);
    if (!seen.fault.empty()) {
      on_.found.fault = "after phase " + std::to_string(1 + (&phase - on_.plan.phases().data())) + ": " + seen.fault;
    }
    if (seen.requested_bytes < largest_) return;
    largest_ = seen.requested_bytes;
    on_.found.memory = describe_memory(seen.requested_bytes, seen.span_bytes, on_.heap.statistics());
  }

  // Sees that nothing is live any more, where the design knows.
  void look_at_end() {
    ++on_.found.rounds_judged;
    if (on_.found.sound()) on_.found.fault = describe_leak(on_.live_before, on_.heap.statistics().live_bytes);
  }

  void account() {
    replay_plan& plan = on_.plan;
    findings& found = on_.found;
    const replay_tally seen = plan.take_tally();
    const std::uint64_t mallocs = plan.figures().mallocs * plan.copies();
    found.requests += mallocs;
    found.failures += seen.null;
    if (seen.null != 0) {
      found.refusal = std::to_string(seen.null) + " of " + std::to_string(mallocs) + " requests in round " +
                      std::to_string(found.rounds) + " got null: up to " +
                      std::to_string(plan.figures().peak_bytes * plan.copies()) +
                      " bytes are live at once, the heap has " + std::to_string(on_.heap.size());
    }
    if (seen.damaged != 0 && found.sound()) {
      found.fault =
          std::to_string(seen.damaged) + " blocks lost what was written to them before they were touched or freed";
    }
  }

  fixture& on_;
  std::uint64_t largest_ = 0;  // bytes live after a phase of the round in hand
  samples times_;
  samples rates_;
};

}  // namespace warpheap::bench
