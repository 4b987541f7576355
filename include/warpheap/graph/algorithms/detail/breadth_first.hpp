// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <warpheap/graph/algorithms/breadth_first.hpp>

namespace warpheap {
namespace detail {

/// Levels that the host starts before it reads whether any is left. Those after the last one do nothing.
inline constexpr std::uint32_t levels_a_read = 16;

/// Threads that a multiprocessor runs at once: more threads in a level would wait for these.
inline constexpr std::uint64_t threads_a_multiprocessor = 2048;

}  // namespace detail

template <adjacency G>
breadth_first_result breadth_first(const G& graph, vertex_id source, std::uint32_t* distances,
                                   breadth_first_workspace& workspace) {
  static_assert(unreachable == detail::not_seen);
  const vertex_id vertices = graph.vertices();
  if (source >= vertices) {
    throw std::out_of_range("warpheap: breadth_first: there is no vertex " + std::to_string(source) +
                            " in a graph of " + std::to_string(vertices));
  }
  device_fill(distances, 0xff, std::uint64_t{vertices} * sizeof(std::uint32_t));
  workspace.state_.reserve_zeros(1);
  workspace.counts_.reserve_zeros(1);
  launch(grid_shape::covering(vertices), detail::count_spans{}, graph, workspace.counts_.data());
  detail::span_counts counts{};
  workspace.counts_.read(&counts, 0, 1);
  workspace.vertices_.reserve(vertices);
  workspace.spans_.reserve(counts.spans);

  const detail::search_memory all{distances, workspace.vertices_.data(), workspace.spans_.data(),
                                  workspace.state_.data()};
  launch({1, warp_width}, detail::start_search{}, graph, all, source);
  const grid_shape grid = grid_shape::covering(
      std::min(vertices + counts.spans, workspace.multiprocessors_ * detail::threads_a_multiprocessor));
  for (std::uint32_t level = 0;;) {  // not a spin: each turn runs 16 levels, and a path has fewer than V
    for (const std::uint32_t end = level + detail::levels_a_read; level < end; ++level) {
      launch(grid, detail::search_level{}, graph, all, level);
    }
    detail::search_state state{};
    workspace.state_.read(&state, 0, 1);
    const detail::frontier& next = state.frontiers[level % 3];
    if (next.is_empty()) return {next.first_vertex + state.reached_long, state.depth};
  }
}

}  // namespace warpheap
