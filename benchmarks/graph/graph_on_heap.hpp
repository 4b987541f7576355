// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <warpheap/graph.hpp>

#include "subject.hpp"
#include "traversals.hpp"

namespace warpheap::bench {

/// A graph of layout `Layout` on a heap of its own.
template <class Heap, class Layout>
class graph_on_heap final : public graph_subject {
 public:
  /// A system's `make`.
  static std::unique_ptr<graph_subject> make(std::uint64_t heap_bytes, vertex_id vertices) {
    return std::make_unique<graph_on_heap>(heap_bytes, vertices);
  }
  graph_on_heap(std::uint64_t heap_bytes, vertex_id vertices)
      : heap_(heap_bytes), graph_(heap_, vertices, {.most_vertices = vertices}) {}

  edge_counts assign_csr(const csr_view<>& rows, std::uint64_t edges) override {
    return graph_.assign_csr(rows.offsets(), rows.neighbours(), edges);
  }
  edge_counts add_edges(const vertex_id* sources, const vertex_id* targets, std::uint64_t count) override {
    return graph_.add_edges(sources, targets, count);
  }
  edge_counts remove_edges(const vertex_id* sources, const vertex_id* targets, std::uint64_t count) override {
    return graph_.remove_edges(sources, targets, count);
  }
  void time_batches(batch_times* times) override { graph_.time_batches(times); }
  std::uint64_t edges() const override { return graph_.edges(); }
  csr_arrays<void> to_csr() const override { return graph_.to_csr(); }
  graph_memory memory() const override { return graph_.memory(); }
  page_rank_result page_rank(const page_rank_options& options, float* ranks, page_rank_workspace& workspace) override {
    return run_page_rank(graph_.ref(), options, ranks, workspace);
  }
  triangle_result triangle_count(triangle_workspace& workspace) override {
    return run_triangle_count(graph_.ref(), workspace);
  }

 private:
  Heap heap_;
  graph<Heap, Layout> graph_;
};

}  // namespace warpheap::bench
