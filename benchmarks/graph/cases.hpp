// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "../json.hpp"
#include "inputs.hpp"
#include "options.hpp"
#include "subject.hpp"

namespace warpheap::bench {

/// What a case works on.
struct graph_case_input {
  const graph_bench_options& asked;
  const graph_system& system;
  const graph_input& graph;
};

/// What is measured.
struct graph_case {
  const char* name;
  const char* about;
  /// Measures it and adds what was found to `record`. Throws `case_problem` if the case is not ok.
  void (*run)(const graph_case_input& input, json_object& record);
};

/// A case that is not ok; the message says why.
struct case_problem : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// The graph is not as it should be.
struct verification_failure : case_problem {
  explicit verification_failure(const std::string& what) : case_problem("verification failed: " + what) {}
};
/// A case that the graph is not for.
struct case_skipped : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// All cases.
std::span<const graph_case> graph_cases();

/// Throws `graph_usage_error` that lists the names if no case has this one.
void require_graph_case(std::string_view name);

}  // namespace warpheap::bench
