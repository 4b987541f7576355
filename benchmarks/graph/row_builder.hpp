// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/graph.hpp>
#include <warpheap/primitives.hpp>

namespace warpheap::bench {

/// A grid that fills the machine, and no more; its threads take `items` in turn.
grid_shape grid_for(std::uint64_t items);

/// Edges in device memory.
struct edge_view {
  const vertex_id* sources;
  const vertex_id* targets;
  std::uint64_t count;
};

/// Builds compressed sparse rows from edges by a sort of them all: loops and repeats are dropped. It is what a graph
/// without updates costs for each batch. Memory to work in is kept for the next call.
class row_builder {
 public:
  /// For graphs of `vertices` vertices.
  explicit row_builder(vertex_id vertices) : offsets_(std::uint64_t{vertices} + 1), vertices_(vertices) {}

  /// Makes the rows of the edges in both lists; `mirrored` adds the opposite of each. Ids are below the number of
  /// vertices. Waits for the number of edges, which it returns. Throws `std::length_error` for 2^32 edges or more.
  std::uint64_t build(edge_view first, edge_view second, bool mirrored);

  /// The rows that were built last, until the next call.
  csr_view<> rows() const { return {vertices_, offsets_.data(), neighbours_}; }

 private:
  device_array<std::uint64_t> offsets_;
  device_scratch scratch_;
  const vertex_id* neighbours_ = nullptr;
  vertex_id vertices_;
};

/// Writes the source of each edge of `rows` to `sources`.
void write_sources(const csr_view<>& rows, vertex_id* sources);

}  // namespace warpheap::bench
