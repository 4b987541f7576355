// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iterator>
#include <string>
#include <vector>

#include "cases/arena.hpp"
#include "cases/churn.hpp"
#include "cases/compaction.hpp"
#include "cases/exhaustion.hpp"
#include "cases/fragmentation.hpp"
#include "cases/graph_init.hpp"
#include "cases/graph_update.hpp"
#include "cases/growth.hpp"
#include "cases/huge.hpp"
#include "cases/initialisation.hpp"
#include "cases/latency.hpp"
#include "cases/memory_access.hpp"
#include "cases/orders.hpp"
#include "cases/out_of_memory.hpp"
#include "cases/phases.hpp"
#include "cases/scaling.hpp"
#include "cases/scarce.hpp"
#include "cases/shift.hpp"
#include "cases/temperature.hpp"
#include "cases/throughput.hpp"
#include "cases/trace.hpp"
#include "cases/work_generation.hpp"
#include "json.hpp"
#include "options.hpp"

namespace warpheap::bench {

/// Carries a case's type as a value.
template <class Case>
struct case_tag {
  using type = Case;
};

/// Calls `visit(case_tag<C>{})` for each case, in the survey's order. A case is a type with `name`, `summary`, `modes`,
/// `axes` (those of the command line's that matter) and `run<A>(options, record)`, as `throughput` has them: a new one
/// is a file in `cases/` and a line here.
template <class Visitor>
void for_each_case(Visitor&& visit) {
  visit(case_tag<throughput>{});
  visit(case_tag<latency>{});
  visit(case_tag<scaling>{});
  visit(case_tag<orders>{});
  visit(case_tag<temperature>{});
  visit(case_tag<fragmentation>{});
  visit(case_tag<exhaustion>{});
  visit(case_tag<out_of_memory>{});
  visit(case_tag<compaction>{});
  visit(case_tag<growth>{});
  visit(case_tag<huge>{});
  visit(case_tag<phases>{});
  visit(case_tag<shift>{});
  visit(case_tag<initialisation>{});
  visit(case_tag<work_generation>{});
  visit(case_tag<memory_access>{});
  visit(case_tag<graph_init>{});
  visit(case_tag<graph_update>{});
  visit(case_tag<arena_release>{});
  visit(case_tag<churn>{});
  visit(case_tag<scarce>{});
  visit(case_tag<trace_replay>{});
}

/// What a case says of itself.
template <class Case>
json_object describe_case() {
  std::vector<json_object> modes;
  for (const case_mode& each : Case::modes) {
    modes.push_back(json_object{}.add("name", each.name).add("summary", each.summary));
  }
  return json_object{}
      .add("name", Case::name)
      .add("summary", Case::summary)
      .add("modes", modes)
      .add("axes", std::vector<std::string>(std::begin(Case::axes), std::end(Case::axes)));
}

/// `options` with the case's first mode if they name none. Throws `usage_error` that lists the modes if they name one
/// that the case lacks, or a trace for a case that replays none.
template <class Case>
run_options with_mode(run_options options) {
  if (!options.trace_file.empty()) {
    if constexpr (requires { Case::mode_of(options); }) {
      options.mode = Case::mode_of(options);
      return options;
    }
    throw usage_error("--trace: case " + std::string{Case::name} + " replays no trace; case trace does");
  }
  if (options.mode.empty()) options.mode = Case::modes[0].name;
  unknown_name unknown{"mode", options.mode};
  for (const case_mode& each : Case::modes) {
    if (options.mode == each.name) return options;
    unknown.add(each.name);
  }
  unknown.fail();
}

/// Calls `visit(case_tag<C>{})` for the case of that name. Throws `usage_error`, which lists the
/// names, if no case has it.
template <class Visitor>
void visit_case(const std::string& name, Visitor&& visit) {
  unknown_name unknown{"case", name};
  bool known = false;
  for_each_case([&](auto tag) {
    unknown.add(decltype(tag)::type::name);
    if (name != decltype(tag)::type::name) return;
    known = true;
    visit(tag);
  });
  if (!known) unknown.fail();
}

}  // namespace warpheap::bench
