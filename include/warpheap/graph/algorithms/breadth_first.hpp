// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/graph/adjacency.hpp>
#include <warpheap/graph/algorithms/detail/breadth_first_kernels.hpp>
#include <warpheap/graph/algorithms/detail/list_spans.hpp>
#include <warpheap/graph/algorithms/detail/scratch.hpp>

namespace warpheap {

/// The distance of a vertex that no path leads to.
inline constexpr std::uint32_t unreachable = 0xffffffffu;

/// What `breadth_first` found.
struct breadth_first_result {
  std::uint64_t reached;  ///< vertices that a path leads to, the source among them
  std::uint32_t depth;    ///< the largest distance of a reached vertex
};

/// Memory that calls of `breadth_first` share: 4 bytes a vertex, and 16 bytes for each 64 neighbours in long lists, or
/// for each of their pages. A call allocates only if its graph outgrows those of earlier calls. One call at a time.
class breadth_first_workspace {
 public:
  breadth_first_workspace() = default;

 private:
  template <adjacency G>
  friend breadth_first_result breadth_first(const G&, vertex_id, std::uint32_t*, breadth_first_workspace&);

  detail::scratch<vertex_id> vertices_;
  detail::scratch<detail::list_span> spans_;
  detail::scratch<detail::search_state> state_;
  detail::scratch<detail::span_counts> counts_;
  std::uint32_t multiprocessors_ = describe_machine().multiprocessors;
};

/// Finds the distance from `source` of each vertex: the edges of a shortest path to it, or `unreachable`. Edges lead
/// from a vertex to the neighbours in its list.
///
/// `distances` is device memory for a number for each vertex. Waits for the result; the host reads from the device once
/// for the size of long lists, and once for 16 levels. Throws `std::out_of_range` if the graph has no vertex `source`.
template <adjacency G>
breadth_first_result breadth_first(const G& graph, vertex_id source, std::uint32_t* distances,
                                   breadth_first_workspace& workspace);

/// Runs `breadth_first` with a workspace that lives as long as the call.
template <adjacency G>
breadth_first_result breadth_first(const G& graph, vertex_id source, std::uint32_t* distances) {
  breadth_first_workspace workspace;
  return breadth_first(graph, source, distances, workspace);
}

}  // namespace warpheap

#include <warpheap/graph/algorithms/detail/breadth_first.hpp>
