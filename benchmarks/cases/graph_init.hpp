// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>
#include <warpheap/heap.hpp>

#include "../json.hpp"
#include "../measure/course.hpp"
#include "../measure/findings.hpp"
#include "../measure/graph_heap.hpp"
#include "../measure/not_served.hpp"
#include "../measure/rounds.hpp"
#include "../measure/samples.hpp"
#include "../options.hpp"

namespace warpheap::bench {

/// How long a kernel takes that makes the lists of a dynamic graph, one thread a vertex (Winter et al., PPoPP 2021,
/// Figure 11f).
///
/// Each thread asks for max(16, the next power of two of 4 * degree) bytes and copies its list from compressed sparse
/// rows. The heap stays warm, and all lists are given back between rounds, untimed. In a judged round all blocks are
/// sorted by address, and all lists compared with the rows.
struct graph_init {
  static constexpr const char* name = "graph_init";
  static constexpr const char* summary = "a kernel that makes the lists of a dynamic graph, one block a vertex";
  static constexpr case_mode modes[] = {{"delaunay", "a stand-in of delaunay_n20: 6 neighbours in the mean, even"},
                                        {"coauthors", "a stand-in of coAuthorsCiteseer: 7 in the mean, skewed"}};
  static constexpr const char* axes[] = {"threads"};

  /// Measures; adds to `record`. Returns why the case is not ok, or nothing if it is.
  template <device_allocator A>
  static std::string run(const run_options& options, json_object& record) {
    return run_course<course<A>>(options, record);
  }

 private:
  template <device_allocator A>
  struct fixture;
  template <device_allocator A>
  class course;
};

// The mode names the stand-in.
template <device_allocator A>
struct graph_init::fixture : graph_heap<A> {
  explicit fixture(const run_options& asked) : graph_heap<A>(asked, asked.mode) {}
};

// One run of the case on a warm heap.
template <device_allocator A>
class graph_init::course : public course_defaults {
 public:
  using fixture = graph_init::fixture<A>;
  static constexpr const char* unfit_design = A::capabilities.needs_full_warp ? needs_whole_warps : nullptr;

  explicit course(fixture& on) : on_(on) {}

  static std::string unfit_options(const run_options& options) { return stand_in_graph::unfit(options.threads); }
  std::string unfit_heap() const { return unfit_for_lists<A>(on_.graph.largest_degree()); }
  void describe(json_object& record) const { record.add("graph", on_.graph.describe()); }
  std::vector<const samples*> watched() const { return {&times_}; }

  void round(round_kind kind) {
    ++on_.found.rounds;
    const double time = on_.make_lists();
    const bool judged = kind.judged || on_.last_null != 0;
    if (judged) {
      ++on_.found.rounds_judged;
      on_.look(nullptr);
    }
    if (on_.found.sound()) on_.free_lists(judged);
    if (kind.timed) times_.add(time);
  }

  void add_measures(findings& found) const {
    found.add("init", microseconds, times_);
    found.add("range", space_ratio, on_.span_ratio);
  }

 private:
  fixture& on_;
  samples times_;
};

}  // namespace warpheap::bench
