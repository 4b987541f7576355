// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <fstream>
#include <ios>
#include <stdexcept>
#include <string>
#include <vector>
#include <warpheap/graph/adjacency.hpp>

namespace warpheap {

/// A file holds no graph in compressed sparse rows; the message names the file, the byte and what to do.
struct csr_file_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A graph in compressed sparse rows in host memory: the neighbours of `v` are `neighbours[offsets[v]]` to
/// `neighbours[offsets[v + 1] - 1]`, in ascending order.
struct csr_graph {
  vertex_id vertices = 0;              ///< number of vertices
  bool directed = true;                ///< false: each edge is there in both directions
  std::vector<std::uint64_t> offsets;  ///< where the lists begin, `vertices + 1` numbers
  std::vector<vertex_id> neighbours;   ///< all lists, one after another
};

/// The graph in the file `path` that `warpheap.graphs.write_csr` wrote; that Python module describes the bytes.
/// Throws `csr_file_error` if it cannot be read, is cut off, or has offsets or ids that lead out of it. Host side only.
csr_graph read_csr_file(const std::string& path);

}  // namespace warpheap

#include <warpheap/graph/detail/csr_file.hpp>
