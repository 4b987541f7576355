// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/graph/algorithms/triangle_count.hpp>

namespace warpheap {

template <adjacency G>
triangle_result triangle_count(const G& graph, const triangle_options& options, triangle_workspace& workspace) {
  const vertex_id vertices = graph.vertices();
  if (vertices == 0) return {0, 0};
  if (options.per_vertex != nullptr) device_fill(options.per_vertex, 0, vertices * sizeof(std::uint64_t));
  workspace.totals_.reserve_zeros(1);
  workspace.degrees_.reserve(vertices);
  workspace.lists_.reserve(vertices);
  const detail::span_index_ref index = workspace.index_.find(graph);
  workspace.span_lists_.reserve(index.counts.spans);

  detail::oriented_graph oriented{
      workspace.degrees_.data(), workspace.lists_.data(), workspace.span_lists_.data(), nullptr, nullptr,
      workspace.totals_.data()};
  const grid_shape lists = detail::grid_over_lists(vertices, index.counts.spans);
  launch(grid_shape::covering(vertices), detail::gather_degrees{}, graph, oriented.degrees);
  launch(lists, detail::orient<detail::count_oriented_job>{}, graph, index, oriented);
  launch(grid_shape::covering(index.counts.lists * warp_width), detail::place_long_lists{}, index, oriented);

  detail::triangle_totals totals{};
  workspace.totals_.read(&totals, 0, 1);
  const std::uint64_t edges = totals.edges;
  workspace.sources_.reserve(edges);
  workspace.targets_.reserve(edges);
  oriented.sources = workspace.sources_.data();
  oriented.targets = workspace.targets_.data();
  launch(lists, detail::orient<detail::copy_oriented_job>{}, graph, index, oriented);
  if constexpr (!G::is_ascending) {
    workspace.sorted_.reserve(edges);
    launch(grid_shape::covering(edges), detail::sort_oriented{}, oriented, edges, workspace.sorted_.data());
    oriented.targets = workspace.sorted_.data();
  }
  launch(grid_shape::covering(edges), detail::find_triangles{}, oriented, edges, options.per_vertex);
  workspace.totals_.read(&totals, 0, 1);
  return {totals.triangles, edges};
}

}  // namespace warpheap
