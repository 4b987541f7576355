// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Dynamic graphs, measured: a process measures one system on one graph and prints one JSON object for each case, so a
/// crash loses no more than a line. Times are microseconds from the call, with its batch in device memory, until its
/// counts are known. On the host backend they mean nothing.

#include <algorithm>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <warpheap/graph/csr_file.hpp>
#include <warpheap/platform.hpp>
#include <warpheap_fingerprint.hpp>

#include "../json.hpp"
#include "cases.hpp"
#include "inputs.hpp"
#include "options.hpp"
#include "subject.hpp"

namespace warpheap::bench {
namespace {

void list(graph_bench_options::listing what) {
  using listing = graph_bench_options::listing;
  std::string text;
  if (what == listing::help) text = graph_help_text();
  if (what == listing::systems) {
    for (const graph_system& each : graph_systems()) text.append(each.name).append("\n");
  }
  if (what == listing::graphs) {
    for (const std::string& each : graph_names()) text.append(each).append("\n");
  }
  if (what == listing::cases) {
    for (const graph_case& each : graph_cases()) text.append(each.name).append(": ").append(each.about).append("\n");
  }
  std::fputs(text.c_str(), stdout);
}

void print(const json_object& record) {
  std::printf("%s\n", record.text().c_str());
  std::fflush(stdout);  // what has been measured is kept if the next case does not end
}

// Returns false if the case is not ok. A failed launch loses the device's context, so it ends the run.
bool run(const graph_case& of, const graph_case_input& input) {
  json_object record;
  record.add("case", of.name).add("subject", input.system.name);
  record.add("heap", input.system.heap).add("layout", input.system.layout);
  record.add("graph", input.graph.name).add("vertices", input.graph.vertices).add("edges", input.graph.edges());
  record.add("heap_bytes", input.asked.heap_bytes).add("seed", input.asked.seed);
  record.add("backend", backend_name(this_backend)).add("device", describe_machine().name);
  record.add("sources", sources_fingerprint).add("timing_comparable", this_backend == backend::cuda);
  const auto end = [&](const char* status, const std::string& reason) {
    record.add("status", status);
    if (!reason.empty()) record.add("reason", reason);
    print(record);
  };
  try {
    of.run(input, record);
  } catch (const case_skipped& why) {
    end("skipped", why.what());
    return true;
  } catch (const verification_failure& why) {
    record.add("verified", false);
    end("failed", why.what());
    return false;
  } catch (const launch_failure& why) {
    end("failed", why.what());
    throw;
  } catch (const std::exception& why) {
    end("failed", why.what());
    return false;
  }
  end("ok", "");
  return true;
}

bool run_all(const graph_bench_options& asked) {
  const graph_system& system = find_graph_system(asked.system);
  const graph_input graph = load_graph_input(asked);
  bool all_well = true;
  for (const graph_case& each : graph_cases()) {
    const auto& wanted = asked.cases;
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), each.name) == wanted.end()) continue;
    all_well = run(each, {asked, system, graph}) && all_well;
  }
  return all_well;
}

}  // namespace
}  // namespace warpheap::bench

int main(int count, char** words) {
  using namespace warpheap;
  try {
    const bench::graph_bench_options asked = bench::parse_graph_options(count, words);
    if (asked.lists != bench::graph_bench_options::listing::none) {
      bench::list(asked.lists);
      return 0;
    }
    bench::find_graph_system(asked.system);
    if (!machine_available()) {
      std::fputs("warpheap_graph_bench: no GPU answers; check nvidia-smi, or use warpheap_graph_bench_host\n", stderr);
      return 3;
    }
    return bench::run_all(asked) ? 0 : 1;
  } catch (const std::invalid_argument& problem) {
    std::fprintf(stderr, "warpheap_graph_bench: %s\n", problem.what());
    return 2;
  } catch (const csr_file_error& problem) {
    std::fprintf(stderr, "warpheap_graph_bench: --csr: %s\n", problem.what());
    return 2;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "warpheap_graph_bench: %s\n", problem.what());
    return 1;
  }
}
