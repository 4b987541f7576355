// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/graph/graph.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <warpheap/graph.hpp>

// What is known of a graph when neither its design nor its weights are: the opaque type of the C interface. Each
// design's graphs are compiled in a file of their own, and the algorithms, which no design is part of, in one.

namespace warpheap::interface {

/// Layout of the interface's graphs; `Weight` is void or float.
template <class Weight>
using layout = contiguous<power_of_two, list_order::ascending, Weight>;

/// Memory that algorithms keep from call to call. Each is made by the first call that needs it.
struct workspaces {
  std::optional<page_rank_workspace> page_rank;
  std::optional<triangle_workspace> triangles;
  std::optional<breadth_first_workspace> breadth_first;
};

/// A list in device memory.
struct list_place {
  const vertex_id* ids;
  std::uint64_t count;
};

template <class Weight>
page_rank_result page_rank_of(graph_ref<layout<Weight>> graph, const page_rank_options& options, float* ranks,
                              workspaces& kept);
template <class Weight>
triangle_result triangles_of(graph_ref<layout<Weight>> graph, std::uint64_t* per_vertex, workspaces& kept);
template <class Weight>
breadth_first_result breadth_first_of(graph_ref<layout<Weight>> graph, vertex_id source, std::uint32_t* distances,
                                      workspaces& kept);
/// Where the list of a vertex lies. Throws `std::out_of_range` if the graph has no such vertex.
template <class Weight>
list_place list_of(graph_ref<layout<Weight>> graph, vertex_id vertex);

/// How a graph is made, of whichever design.
struct make_options {
  std::uint64_t heap_bytes;
  graph_options graph;
  bool has_weights;
};

/// Makes a graph of one design.
using maker = std::unique_ptr<wh_graph> (*)(vertex_id vertices, const make_options& options);
std::unique_ptr<wh_graph> make_warp_slab(vertex_id vertices, const make_options& options);
std::unique_ptr<wh_graph> make_bulk(vertex_id vertices, const make_options& options);
std::unique_ptr<wh_graph> make_ouroboros_va_p(vertex_id vertices, const make_options& options);

}  // namespace warpheap::interface

/// What the C interface calls. Members throw as those of `warpheap::graph` do; results in device memory are there
/// once `synchronise` returns.
struct wh_graph {
  wh_graph() = default;
  wh_graph(const wh_graph&) = delete;
  wh_graph& operator=(const wh_graph&) = delete;
  virtual ~wh_graph() = default;

  virtual std::uint32_t vertices() const = 0;
  virtual std::uint64_t edges() const = 0;
  virtual std::uint64_t version() const = 0;
  virtual warpheap::edge_counts add(const std::uint32_t* sources, const std::uint32_t* targets, const float* weights,
                                    std::uint64_t count) = 0;
  virtual warpheap::edge_counts remove(const std::uint32_t* sources, const std::uint32_t* targets,
                                       std::uint64_t count) = 0;
  virtual void find(const std::uint32_t* sources, const std::uint32_t* targets, std::uint64_t count,
                    std::uint8_t* found) const = 0;
  virtual warpheap::edge_counts assign(const std::uint32_t* sources, const std::uint32_t* targets, const float* weights,
                                       std::uint64_t count) = 0;
  virtual warpheap::edge_counts assign_rows(const std::uint64_t* offsets, const std::uint32_t* neighbours,
                                            const float* weights, std::uint64_t edges) = 0;
  virtual void clear() = 0;
  virtual std::uint32_t add_vertices(std::uint32_t count) = 0;
  virtual warpheap::vertex_counts remove_vertices(const std::uint32_t* ids, std::uint64_t count) = 0;
  virtual void degrees(std::uint32_t* degrees) const = 0;
  virtual void copy_rows(std::uint64_t* offsets, std::uint32_t* neighbours, float* weights) const = 0;
  virtual warpheap::interface::list_place list_of(std::uint32_t vertex) const = 0;
  virtual warpheap::graph_memory memory() const = 0;
  virtual void grow_heap(std::uint64_t bytes) = 0;
  virtual warpheap::device_array<std::uint32_t> changed() const = 0;
  virtual void clear_changed() = 0;
  virtual warpheap::page_rank_result page_rank(const warpheap::page_rank_options& options, float* ranks) = 0;
  virtual warpheap::triangle_result triangles(std::uint64_t* per_vertex) = 0;
  virtual warpheap::breadth_first_result breadth_first(std::uint32_t source, std::uint32_t* distances) = 0;

  std::uint32_t flags = 0;                                                ///< as it was made
  warpheap::device_context device = warpheap::device_context::current();  ///< where it lives
};
