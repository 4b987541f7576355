// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>
#include <warpheap/heap.hpp>

#include "any_graph.hpp"

namespace warpheap::interface {

/// A graph on a heap of its own, of the design `A`.
template <class A, class Weight>
class design_graph final : public wh_graph {
 public:
  design_graph(vertex_id vertices, const make_options& options)
      : heap_(options.heap_bytes), graph_(heap_, vertices, options.graph) {}

  std::uint32_t vertices() const override { return graph_.vertices(); }
  std::uint64_t edges() const override { return graph_.edges(); }
  std::uint64_t version() const override { return graph_.version(); }
  edge_counts add(const std::uint32_t* sources, const std::uint32_t* targets, const float* weights,
                  std::uint64_t count) override {
    return graph_.add_edges(sources, targets, count, typed(weights));
  }
  edge_counts remove(const std::uint32_t* sources, const std::uint32_t* targets, std::uint64_t count) override {
    return graph_.remove_edges(sources, targets, count);
  }
  void find(const std::uint32_t* sources, const std::uint32_t* targets, std::uint64_t count,
            std::uint8_t* found) const override {
    graph_.has_edges(sources, targets, count, found);
  }
  edge_counts assign(const std::uint32_t* sources, const std::uint32_t* targets, const float* weights,
                     std::uint64_t count) override {
    return graph_.assign_edges(sources, targets, count, typed(weights));
  }
  edge_counts assign_rows(const std::uint64_t* offsets, const std::uint32_t* neighbours, const float* weights,
                          std::uint64_t edges) override {
    return graph_.assign_csr(offsets, neighbours, edges, typed(weights));
  }
  void clear() override { graph_.clear(); }
  std::uint32_t add_vertices(std::uint32_t count) override { return graph_.add_vertices(count); }
  vertex_counts remove_vertices(const std::uint32_t* ids, std::uint64_t count) override {
    return graph_.remove_vertices(ids, count);
  }
  void degrees(std::uint32_t* degrees) const override { graph_.degrees(degrees); }
  void copy_rows(std::uint64_t* offsets, std::uint32_t* neighbours, float* weights) const override {
    const auto rows = graph_.to_csr();
    if (offsets != nullptr) device_copy(offsets, rows.offsets.data(), rows.offsets.size() * sizeof(*offsets));
    const std::uint64_t bytes = rows.neighbours.size() * sizeof(vertex_id);
    if (neighbours != nullptr && bytes != 0) device_copy(neighbours, rows.neighbours.data(), bytes);
    if constexpr (!std::is_void_v<Weight>) {
      if (weights != nullptr && bytes != 0) device_copy(weights, rows.weights.data(), bytes);
    }
  }
  list_place list_of(std::uint32_t vertex) const override { return interface::list_of<Weight>(graph_.ref(), vertex); }
  graph_memory memory() const override { return graph_.memory(); }
  void grow_heap(std::uint64_t bytes) override { heap_.grow(bytes); }
  device_array<std::uint32_t> changed() const override { return graph_.changed_vertices(); }
  void clear_changed() override { graph_.clear_changed(); }
  page_rank_result page_rank(const page_rank_options& options, float* ranks) override {
    return page_rank_of<Weight>(graph_.ref(), options, ranks, kept_);
  }
  triangle_result triangles(std::uint64_t* per_vertex) override {
    return triangles_of<Weight>(graph_.ref(), per_vertex, kept_);
  }
  breadth_first_result breadth_first(std::uint32_t source, std::uint32_t* distances) override {
    return breadth_first_of<Weight>(graph_.ref(), source, distances, kept_);
  }

 private:
  // The interface refuses weights for a graph that has no place for them.
  static const Weight* typed(const float* weights) {
    if constexpr (std::is_void_v<Weight>) {
      return nullptr;
    } else {
      return weights;
    }
  }

  heap<A> heap_;  // outlives the graph, whose lists lie in it
  graph<heap<A>, layout<Weight>> graph_;
  workspaces kept_;
};

template <class A>
std::unique_ptr<wh_graph> make_graph(vertex_id vertices, const make_options& options) {
  if (options.has_weights) return std::make_unique<design_graph<A, float>>(vertices, options);
  return std::make_unique<design_graph<A, void>>(vertices, options);
}

}  // namespace warpheap::interface
