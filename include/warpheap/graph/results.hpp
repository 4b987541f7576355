// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <warpheap/graph/csr.hpp>
#include <warpheap/platform.hpp>

namespace warpheap {

/// How a graph is made.
struct graph_options {
  /// Each edge of a batch stands for both directions.
  bool undirected = false;
  /// Edges from a vertex to itself are kept; else they are dropped from a batch and counted.
  bool keep_loops = false;
  /// An edge of a batch of additions that the graph has gets the weight of the batch.
  bool replace_weights = false;
  /// As far as the graph can grow: addresses are reserved for so many vertices, and memory is taken as vertices are
  /// added. 0: 2^28, or the initial number on a machine that cannot map memory.
  vertex_id most_vertices = 0;
};

/// What came of a batch of edges, in directed edges: an undirected graph counts both directions of each edge.
/// `offered` is the sum of all others.
struct edge_counts {
  std::uint64_t offered = 0;   ///< edges of the batch
  std::uint64_t added = 0;     ///< edges that the graph has now and had not
  std::uint64_t present = 0;   ///< edges to add that the graph had
  std::uint64_t removed = 0;   ///< edges that the graph had and has no more
  std::uint64_t absent = 0;    ///< edges to remove that the graph had not
  std::uint64_t repeated = 0;  ///< edges that an earlier one of the batch equals
  std::uint64_t loops = 0;     ///< edges from a vertex to itself that were dropped
  std::uint64_t refused = 0;   ///< edges of vertices for whose list the heap had no room: these are as before
  std::uint64_t invalid = 0;   ///< edges with a vertex that the graph has not, or that was removed

  friend bool operator==(const edge_counts&, const edge_counts&) = default;
};

/// Where the time of batches goes: microseconds on the device by stage, gaps between kernels included. Not in it are
/// the start of a batch's first kernel and the reading of its counts.
struct batch_times {
  double sort = 0;      ///< packing and sorting the edges
  double mark = 0;      ///< finding repeats, sources, and the edges that the graph has
  double allocate = 0;  ///< planning the lists and taking new blocks
  double move = 0;      ///< moving neighbours that stay
  double settle = 0;    ///< inserting edges, publishing the lists, and giving old blocks back
  double at_once = 0;   ///< all of that in one kernel, which serves small batches

  /// The time of all stages.
  double sum() const { return sort + mark + allocate + move + settle + at_once; }
};

/// What came of a removal of vertices.
struct vertex_counts {
  std::uint64_t removed = 0;        ///< vertices that are no more in the graph
  std::uint64_t invalid = 0;        ///< ids that the graph has not, or had removed, or that the batch repeats
  std::uint64_t removed_edges = 0;  ///< directed edges from or to them

  friend bool operator==(const vertex_counts&, const vertex_counts&) = default;
};

/// Memory of a graph, in bytes. That of the heap is shared with its other users.
struct graph_memory {
  std::uint64_t live_bytes;     ///< ids and weights of all edges
  std::uint64_t block_bytes;    ///< blocks or pages that they lie in
  std::uint64_t record_bytes;   ///< memory for the records of vertices and the two sets of vertices
  std::uint64_t scratch_bytes;  ///< memory that batches work in, kept for the next one
  std::optional<std::uint64_t> heap_committed_bytes;  ///< memory of the heap, if it tells
  std::optional<std::uint64_t> heap_live_bytes;       ///< bytes that the heap has handed out, to any user, if it tells
};

/// A graph in compressed sparse rows that owns its arrays.
template <class Weight>
struct csr_arrays {
  /// `Weight`, or a byte if the graph has no weights.
  using stored_weight = std::conditional_t<std::is_void_v<Weight>, std::byte, Weight>;

  device_array<std::uint64_t> offsets;  ///< where the lists begin, one more than there are vertices
  device_array<vertex_id> neighbours;   ///< all lists
  /// The weights, in the order of `neighbours`; a byte if the graph has none.
  device_array<stored_weight> weights;

  /// The graph for kernels. Lists are ascending only if those of the graph that they are from are.
  csr_view<Weight> view() const {
    const auto vertices = static_cast<vertex_id>(offsets.size() - 1);
    if constexpr (std::is_void_v<Weight>) {
      return {vertices, offsets.data(), neighbours.data()};
    } else {
      return {vertices, offsets.data(), neighbours.data(), weights.data()};
    }
  }
};

}  // namespace warpheap
