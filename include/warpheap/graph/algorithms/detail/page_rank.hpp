// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <stdexcept>
#include <vector>
#include <warpheap/graph/algorithms/page_rank.hpp>

namespace warpheap {
namespace detail {

/// Iterations that the host starts before it reads how they went. Those after the last one end at once on the device,
/// so no result depends on this number.
inline constexpr std::uint32_t iterations_a_read = 8;

/// Warps that sum a warm start; the host adds what each found.
inline constexpr std::uint32_t start_warps = 1024;

inline void check_options(const page_rank_options& options) {
  if (!(options.alpha >= 0 && options.alpha <= 1)) {
    throw std::invalid_argument("warpheap: page_rank: alpha is a probability; use a number from 0 to 1");
  }
  if (!(options.tolerance >= 0)) {
    throw std::invalid_argument("warpheap: page_rank: the tolerance is negative; use 0 or a small number such as 1e-5");
  }
}

// The sum of the numbers that a warm start is given.
inline double sum_of_start(const float* ranks, vertex_id vertices, scratch<start_totals>& totals) {
  constexpr std::uint32_t warps_a_block = 8;
  totals.reserve(start_warps);
  launch({start_warps / warps_a_block, warps_a_block * warp_width}, sum_start{}, ranks, vertices, totals.data());
  std::vector<start_totals> found(start_warps);
  totals.read(found.data(), 0, start_warps);
  start_totals all{0, 0};
  for (const start_totals& each : found) all = {all.sum + each.sum, all.invalid + each.invalid};
  if (all.invalid != 0 || !(all.sum > 0)) {
    throw std::invalid_argument(
        "warpheap: page_rank: a warm start needs ranks that are finite, not negative, and not all zero; "
        "without warm_start it begins with 1/V");
  }
  return all.sum;
}

template <adjacency G>
void start_iteration(const G& graph, const span_index_ref& index, const rank_step& step, rank_flow flow) {
  const grid_shape lists = grid_over_lists(graph.vertices(), index.counts.spans);
  if (flow == rank_flow::pull) {
    launch(lists, move_ranks<pull_job>{}, graph, index, step);
  } else {
    launch(lists, move_ranks<push_job>{}, graph, index, step);
  }
  launch(grid_shape::covering(divide_up(graph.vertices(), vertices_a_thread)), settle_ranks{}, graph, step);
}

}  // namespace detail

template <adjacency G>
page_rank_result page_rank(const G& graph, const page_rank_options& options, float* ranks,
                           page_rank_workspace& workspace) {
  detail::check_options(options);
  const vertex_id vertices = graph.vertices();
  if (vertices == 0) return {0, true, 0};
  const double sum = options.warm_start ? detail::sum_of_start(ranks, vertices, workspace.start_) : 0;
  const bool is_fixed = options.fixed_iterations != 0;
  const std::uint32_t most = is_fixed ? options.fixed_iterations : options.max_iterations;
  // The change is at most 2, so a bound above 3 means as much as 3, and fits its units.
  const std::uint64_t enough = detail::to_units(std::min(options.tolerance * vertices, 3.0));

  workspace.sums_.reserve(vertices);
  workspace.totals_.reserve_zeros(most);
  const bool pulls = options.flow == rank_flow::pull;
  if (pulls) workspace.shares_.reserve(vertices);
  const detail::span_index_ref index = workspace.index_.find(graph);
  detail::rank_step step{ranks,
                         workspace.sums_.data(),
                         pulls ? workspace.shares_.data() : nullptr,
                         workspace.totals_.data(),
                         0,
                         is_fixed ? 0 : enough,
                         options.alpha};
  launch(grid_shape::covering(vertices), detail::start_ranks{}, graph, sum, step);

  page_rank_result result{0, false, 0};
  while (result.iterations < most && (is_fixed || !result.converged)) {
    const std::uint32_t first = result.iterations;
    const std::uint32_t count = std::min(most - first, detail::iterations_a_read);
    for (step.iteration = first; step.iteration < first + count; ++step.iteration) {
      detail::start_iteration(graph, index, step, options.flow);
    }
    detail::rank_totals totals[detail::iterations_a_read];
    workspace.totals_.read(totals, first, count);
    for (std::uint32_t i = 0; i < count && (is_fixed || !result.converged); ++i) {
      result = {first + i + 1, totals[i].change < enough, detail::from_units(totals[i].change)};
    }
  }
  return result;
}

}  // namespace warpheap
