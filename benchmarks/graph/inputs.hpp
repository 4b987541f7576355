// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>
#include <warpheap/graph.hpp>

#include "options.hpp"

namespace warpheap::bench {

/// The graph that a run begins with, in device memory.
struct graph_input {
  std::string name;
  vertex_id vertices;
  bool undirected;  ///< each edge is there in both directions
  device_array<std::uint64_t> offsets;
  device_array<vertex_id> neighbours;

  csr_view<> rows() const { return {vertices, offsets.data(), neighbours.data()}; }
  std::uint64_t edges() const { return neighbours.size(); }
};

/// The graph that the options name. Throws `graph_usage_error` for an unknown name and `csr_file_error` for a file that
/// is not one.
graph_input load_graph_input(const graph_bench_options& asked);

/// Names that `--graph` takes: generators, then originals of stand-ins.
std::vector<std::string> graph_names();

}  // namespace warpheap::bench
