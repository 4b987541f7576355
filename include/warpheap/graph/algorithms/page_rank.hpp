// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/graph/adjacency.hpp>
#include <warpheap/graph/algorithms/detail/list_spans.hpp>
#include <warpheap/graph/algorithms/detail/page_rank_kernels.hpp>
#include <warpheap/graph/algorithms/detail/scratch.hpp>

namespace warpheap {

/// Along which way ranks move.
enum class rank_flow {
  push,  ///< each vertex adds to its neighbours; right for every graph
  /// Each vertex reads its neighbours, which needs no atomic operation an edge. Right only if each edge is in the lists
  /// of both its ends.
  pull
};

/// How `page_rank` runs. The defaults are those of cuGraph.
struct page_rank_options {
  double alpha = 0.85;  ///< share of a rank that moves along edges, 0 to 1

  /// The iteration ends as soon as the sum of |change| over all vertices is below `tolerance` times their number. That
  /// sum never exceeds 2, so with more than 2 / `tolerance` vertices the first iteration ends it: there, ask for less.
  double tolerance = 1e-5;
  std::uint32_t max_iterations = 100;  ///< iterations at most

  /// If not 0, exactly so many iterations run, whatever the tolerance.
  std::uint32_t fixed_iterations = 0;
  /// Start from the numbers in `ranks`, divided by their sum, and not from 1/V. No number may be negative.
  bool warm_start = false;
  rank_flow flow = rank_flow::push;  ///< along which way ranks move
};

/// What `page_rank` did.
struct page_rank_result {
  std::uint32_t iterations;  ///< iterations that ran
  bool converged;            ///< true if the last iteration met the tolerance
  double change;             ///< sum of |change| over all vertices in the last iteration
};

/// Memory that calls of `page_rank` share. A call allocates only if its graph outgrows those of earlier calls. One call
/// at a time.
class page_rank_workspace {
 public:
  page_rank_workspace() = default;

 private:
  template <adjacency G>
  friend page_rank_result page_rank(const G&, const page_rank_options&, float*, page_rank_workspace&);

  detail::span_index index_;
  detail::scratch<std::uint64_t> sums_;
  detail::scratch<float> shares_;
  detail::scratch<detail::rank_totals> totals_;
  detail::scratch<detail::start_totals> start_;
};

/// Computes the PageRank of each vertex: the probability to be there for a walker that follows an edge of the vertex
/// with probability `alpha`, each as likely as any other, and else goes to any vertex. From a vertex without edges the
/// walker goes to any vertex. Weights are ignored. An id whose vertex was removed counts as a vertex without edges.
///
/// `ranks` is device memory for a number for each vertex. All numbers sum up to 1. Sums are exact integers, so the same
/// graph gives the same ranks on every run, in whatever order threads add. Waits for the result; the host reads from
/// the device once for 8 iterations, once for the index of long lists, and once for a warm start. Throws
/// `std::invalid_argument` for options out of range, and for a start that holds a negative or infinite number, or only
/// zeros; `ranks` is then as it was.
template <adjacency G>
page_rank_result page_rank(const G& graph, const page_rank_options& options, float* ranks,
                           page_rank_workspace& workspace);

/// Runs `page_rank` with a workspace that lives as long as the call.
template <adjacency G>
page_rank_result page_rank(const G& graph, const page_rank_options& options, float* ranks) {
  page_rank_workspace workspace;
  return page_rank(graph, options, ranks, workspace);
}

}  // namespace warpheap

#include <warpheap/graph/algorithms/detail/page_rank.hpp>
