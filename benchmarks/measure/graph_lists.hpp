// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// What cases keep a graph in whose lists lie in blocks of a heap, and who judges them. Compiled once, not for each
/// allocator.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>
#include <warpheap/graph/csr.hpp>
#include <warpheap/platform.hpp>

#include "../graph/row_builder.hpp"
#include "../json.hpp"
#include "../options.hpp"

namespace warpheap::bench {

/// Bytes that a list of `degree` neighbours asks for: 4 a neighbour, rounded up to a power of two, and 16 at least.
WARPHEAP_FN inline std::uint64_t list_bytes(std::uint64_t degree) {
  return degree <= 4 ? 16 : std::uint64_t{2} << highest_bit(4 * degree - 1);
}

/// The neighbours of a vertex, in a block of their own. All zero: the vertex has no block.
struct vertex_list {
  vertex_id* ids;        ///< the block, in any order; null if the vertex has none
  std::uint64_t bytes;   ///< that the block was asked for with
  std::uint32_t degree;  ///< neighbours in it; 0 without a block
};

/// A generated graph in place of one that the survey measures, as rows in device memory and on the host.
class stand_in_graph {
 public:
  /// Why no graph can be made of so many vertices; empty if one can.
  static std::string unfit(std::uint64_t vertices);

  /// The stand-in of that name, `delaunay` or `coauthors`, with about `vertices` vertices, no more.
  stand_in_graph(std::string_view name, std::uint64_t vertices, std::uint64_t seed);

  vertex_id vertices() const { return static_cast<vertex_id>(offsets_.size() - 1); }
  std::uint64_t edges() const { return neighbours_.size(); }  ///< each in both directions
  std::uint64_t largest_degree() const;
  std::uint64_t list_bytes() const;  ///< that all lists ask for
  csr_view<> rows() const { return {vertices(), device_offsets_.data(), device_neighbours_.data()}; }
  /// Neighbours of a vertex, in ascending order, on the host.
  std::vector<vertex_id> neighbours(vertex_id v) const;
  /// The record's `graph`.
  json_object describe() const;

 private:
  std::string name_;
  std::vector<std::uint64_t> offsets_;
  std::vector<vertex_id> neighbours_;
  device_array<std::uint64_t> device_offsets_;
  device_array<vertex_id> device_neighbours_;
};

/// The sources of a batch of edges.
enum class batch_sources {
  uniform,  ///< any vertex
  window    ///< vertices of a window of 100, which moves on by its width with each round
};

/// Batches of edges that a graph lacks: a batch is sorted. It has no repeats, no loops, and no
/// edges that the graph has.
class edge_batches {
 public:
  static constexpr std::uint64_t window = 100;  ///< vertices

  /// Batches of `edges` edges, drawn from `seed`. `graph` outlives this.
  edge_batches(const stand_in_graph& graph, std::uint64_t edges, batch_sources sources, std::uint64_t seed);

  /// Draws the batch of a round. It depends on the seed and on the round, and not on the backend.
  void draw(std::uint64_t round);
  std::uint64_t edges() const { return kept_; }        ///< that were not left out
  csr_view<> rows() const { return builder_.rows(); }  ///< the batch by source, until the next one is drawn
  std::vector<std::uint64_t> offsets() const;          ///< of the rows, on the host
  std::vector<vertex_id> neighbours() const;           ///< of the rows, on the host
  std::uint64_t likely_largest() const;                ///< edges of one source, with room for chance

 private:
  const stand_in_graph& graph_;
  std::uint64_t seed_;
  std::uint64_t among_;
  device_array<vertex_id> sources_;
  device_array<vertex_id> targets_;
  row_builder builder_;
  std::uint64_t kept_ = 0;
};

/// How many lists a batch moves to other blocks.
struct list_moves {
  std::uint64_t grown;   ///< when its edges are inserted
  std::uint64_t shrunk;  ///< when they are deleted again
};

/// Counts the moves of a batch before it is inserted: all of its edges are missing.
list_moves count_moves(const device_array<vertex_list>& lists, const csr_view<>& batch);

/// Writes the block of each list, or null.
void write_blocks(const device_array<vertex_list>& lists, void** blocks);

/// What the lists of a graph say.
struct list_findings {
  std::uint64_t refused = 0;          ///< lists that are as they were before
  std::uint64_t requested_bytes = 0;  ///< of the blocks
  std::uint64_t span_bytes = 0;       ///< from the first byte of the lowest block to the last of the highest
  std::string fault;                  ///< what is wrong; empty if nothing is
};

/// Checks each list and its block, exactly. Blocks are aligned, disjoint and large enough. The list of a vertex has
/// the neighbours that the vertex has in `graph` and in `added`, unless that is null; one that has those of
/// `graph` only counts as refused, as does one without a block.
list_findings judge_lists(const stand_in_graph& graph, const edge_batches* added,
                          const device_array<vertex_list>& lists, std::uint64_t alignment);

}  // namespace warpheap::bench
