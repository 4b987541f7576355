// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/graph/adjacency.hpp>
#include <warpheap/graph/algorithms/detail/list_spans.hpp>
#include <warpheap/graph/algorithms/detail/scratch.hpp>
#include <warpheap/graph/algorithms/detail/triangle_kernels.hpp>

namespace warpheap {

/// What `triangle_count` computes besides the total.
struct triangle_options {
  /// Device memory for a number for each vertex: the triangles that it is a corner of. Null if nobody asks for them.
  std::uint64_t* per_vertex = nullptr;
};

/// What `triangle_count` found.
struct triangle_result {
  std::uint64_t triangles;  ///< in the whole graph, each once
  std::uint64_t edges;      ///< undirected edges, loops left out
};

/// Memory that calls of `triangle_count` share: 20 bytes a vertex, and 8 bytes for each undirected edge, or 12 if lists
/// are without order. A call allocates only if its graph outgrows those of earlier calls. One call at a time.
class triangle_workspace {
 public:
  triangle_workspace() = default;

 private:
  template <adjacency G>
  friend triangle_result triangle_count(const G&, const triangle_options&, triangle_workspace&);

  detail::span_index index_;
  detail::scratch<std::uint32_t> degrees_;
  detail::scratch<detail::oriented_list> lists_;
  detail::scratch<detail::oriented_list> span_lists_;
  detail::scratch<vertex_id> sources_;
  detail::scratch<vertex_id> targets_;
  detail::scratch<vertex_id> sorted_;
  detail::scratch<detail::triangle_totals> totals_;
};

/// Counts the triangles of an undirected graph: sets of three vertices, each two of which share an edge.
///
/// Each edge must be in the lists of both its ends, and no list may name a vertex twice; loops count for nothing. Lists
/// may ascend or be without order: the call works on a copy of half of each list, and orders that if need be. Weights
/// are ignored. Waits for the result; the host reads from the device once for the index of long lists, once for the
/// number of edges, and once for the total.
template <adjacency G>
triangle_result triangle_count(const G& graph, const triangle_options& options, triangle_workspace& workspace);

/// Runs `triangle_count` with a workspace that lives as long as the call.
template <adjacency G>
triangle_result triangle_count(const G& graph, const triangle_options& options = {}) {
  triangle_workspace workspace;
  return triangle_count(graph, options, workspace);
}

}  // namespace warpheap

#include <warpheap/graph/algorithms/detail/triangle_count.hpp>
