// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <warpheap/graph.hpp>
#include <warpheap/graph/algorithms.hpp>

namespace warpheap::bench {

/// A graph and the heap under it, whatever their types are. Each system has a translation unit of its own, so that
/// systems compile side by side. The members are those of `graph`.
class graph_subject {
 public:
  graph_subject() = default;
  graph_subject(const graph_subject&) = delete;
  graph_subject& operator=(const graph_subject&) = delete;
  virtual ~graph_subject() = default;

  virtual edge_counts assign_csr(const csr_view<>& rows, std::uint64_t edges) = 0;
  virtual edge_counts add_edges(const vertex_id* sources, const vertex_id* targets, std::uint64_t count) = 0;
  virtual edge_counts remove_edges(const vertex_id* sources, const vertex_id* targets, std::uint64_t count) = 0;
  virtual void time_batches(batch_times* times) = 0;
  virtual std::uint64_t edges() const = 0;
  virtual csr_arrays<void> to_csr() const = 0;
  virtual graph_memory memory() const = 0;
  virtual page_rank_result page_rank(const page_rank_options& options, float* ranks,
                                     page_rank_workspace& workspace) = 0;
  virtual triangle_result triangle_count(triangle_workspace& workspace) = 0;
};

/// A system that can be measured: a layout of lists and a heap.
struct graph_system {
  const char* name;    ///< as `--system` takes it
  const char* heap;    ///< the design, or the manager of pages
  const char* layout;  ///< "contiguous" or "paged"
  /// An empty graph of `vertices` vertices on a new heap of `heap_bytes` bytes.
  std::unique_ptr<graph_subject> (*make)(std::uint64_t heap_bytes, vertex_id vertices);
};

/// All systems of this backend: the designs in the registry's order, then the systems of the literature by their names.
std::span<const graph_system> graph_systems();

/// The system of that name. Throws `std::invalid_argument` that lists the names.
const graph_system& find_graph_system(std::string_view name);

/// faimGraph: lists in pages of 64 bytes, over its own queue of pages.
std::unique_ptr<graph_subject> make_faim_graph(std::uint64_t heap_bytes, vertex_id vertices);

}  // namespace warpheap::bench
