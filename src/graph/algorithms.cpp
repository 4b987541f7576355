// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The algorithms on graphs of either layout: they read lists, wherever the heap has put them.

#include <stdexcept>
#include <string>

#include "any_graph.hpp"

namespace warpheap::interface {

namespace {

template <class Weight>
struct find_list {
  graph_ref<layout<Weight>> graph;
  vertex_id vertex;
  list_place* found;

  WARPHEAP_FN void operator()() const {
    const auto piece = graph.first_piece(vertex);
    *found = {piece.ids, piece.count};
  }
};

}  // namespace

template <class Weight>
page_rank_result page_rank_of(graph_ref<layout<Weight>> graph, const page_rank_options& options, float* ranks,
                              workspaces& kept) {
  if (!kept.page_rank) kept.page_rank.emplace();
  return page_rank(graph, options, ranks, *kept.page_rank);
}

template <class Weight>
triangle_result triangles_of(graph_ref<layout<Weight>> graph, std::uint64_t* per_vertex, workspaces& kept) {
  if (!kept.triangles) kept.triangles.emplace();
  return triangle_count(graph, {.per_vertex = per_vertex}, *kept.triangles);
}

template <class Weight>
breadth_first_result breadth_first_of(graph_ref<layout<Weight>> graph, vertex_id source, std::uint32_t* distances,
                                      workspaces& kept) {
  if (!kept.breadth_first) kept.breadth_first.emplace();
  return breadth_first(graph, source, distances, *kept.breadth_first);
}

template <class Weight>
list_place list_of(graph_ref<layout<Weight>> graph, vertex_id vertex) {
  if (vertex >= graph.vertices()) {
    throw std::out_of_range("warpheap: the graph has no vertex " + std::to_string(vertex) + ": it has " +
                            std::to_string(graph.vertices()) + " of them, numbered from 0 on");
  }
  const device_array<list_place> found(1);
  launch(grid_shape{1, 1}, find_list<Weight>{graph, vertex, found.data()});
  return found.at(0);
}

template page_rank_result page_rank_of<void>(graph_ref<layout<void>>, const page_rank_options&, float*, workspaces&);
template page_rank_result page_rank_of<float>(graph_ref<layout<float>>, const page_rank_options&, float*, workspaces&);
template triangle_result triangles_of<void>(graph_ref<layout<void>>, std::uint64_t*, workspaces&);
template triangle_result triangles_of<float>(graph_ref<layout<float>>, std::uint64_t*, workspaces&);
template breadth_first_result breadth_first_of<void>(graph_ref<layout<void>>, vertex_id, std::uint32_t*, workspaces&);
template breadth_first_result breadth_first_of<float>(graph_ref<layout<float>>, vertex_id, std::uint32_t*, workspaces&);
template list_place list_of<void>(graph_ref<layout<void>>, vertex_id);
template list_place list_of<float>(graph_ref<layout<float>>, vertex_id);

}  // namespace warpheap::interface
