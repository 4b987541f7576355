// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace warpheap::bench {

/// A command line that is wrong; the message says how to mend it.
struct graph_usage_error : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

/// What the command line asks for.
struct graph_bench_options {
  enum class listing { none, help, systems, graphs, cases };
  listing lists = listing::none;
  std::string system = "warp_slab";
  std::string graph = "delaunay";         ///< a generator, or an original that has a stand-in
  std::string csr_file;                   ///< a file in place of a generated graph
  std::optional<std::uint64_t> vertices;  ///< of a generated graph
  std::optional<int> scale;               ///< 2^scale vertices
  std::uint64_t heap_bytes = std::uint64_t{1} << 30;
  std::uint64_t iterations = 10;
  std::uint64_t batch = 100'000;
  std::uint64_t seed = 1;
  std::uint64_t sources = 1000;    ///< vertices that `pressure` adds edges to
  bool skewed = false;             ///< the ends of a batch are drawn as R-MAT does
  std::vector<std::string> cases;  ///< empty: all
  bool verify = false;
};

/// Reads the command line. Throws `graph_usage_error`.
graph_bench_options parse_graph_options(int count, char** words);

/// The page that `--help` prints.
std::string graph_help_text();

}  // namespace warpheap::bench
