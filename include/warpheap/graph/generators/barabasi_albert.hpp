// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/graph/generators/edge_generator.hpp>
#include <warpheap/graph/generators/random.hpp>

namespace warpheap {

/// A graph that grows by preferential attachment (Barabási & Albert 1999), exact and in any order: skewed degrees, and
/// no isolated vertex.
///
/// Think of the array of all ends: 2e is the younger end of edge e, 2e + 1 the older one, which is a copy of an end
/// that is drawn uniformly from those of all older vertices' edges. Sanders and Schulz (Scalable generation of
/// scale-free graphs, 2016) draw by a hash of the place, so a chain of copies is followed without the array. It has
/// fewer than two links in the mean. Here a vertex does not draw from its own edges, so no loop is made. A
/// vertex may draw an end twice; the graph drops the repeat.
class barabasi_albert_edges {
 public:
  static constexpr std::uint32_t edges_per_item = 1;  ///< an item is an edge

  /// `edges` edges of `vertices` vertices, dealt as evenly as can be to the vertices from 1 on. With `edges` =
  /// m * (`vertices` - 1) each brings m. Their product is below 2^64, and each of those vertices has an edge.
  WARPHEAP_FN barabasi_albert_edges(vertex_id vertices, std::uint64_t edges, std::uint64_t seed)
      : random_(seed), edges_(edges), younger_(vertices - 1), vertices_(vertices) {
    require(vertices >= 2, "barabasi_albert_edges: there are at least two vertices");
    require(edges >= younger_, "barabasi_albert_edges: each vertex but the first has an edge");
    require(edges < ~std::uint64_t{0} / vertices, "barabasi_albert_edges: vertices times edges is below 2^64");
  }

  WARPHEAP_FN vertex_id vertices() const { return vertices_; }  ///< number of vertices
  WARPHEAP_FN std::uint64_t items() const { return edges_; }    ///< number of edges

  /// Makes edge `item`, from the younger end to the older one.
  template <class Emit>
  WARPHEAP_FN void edges_of(std::uint64_t item, Emit emit) const {
    emit(static_cast<vertex_id>(younger_end(item)), static_cast<vertex_id>(older_end(item)));
  }

 private:
  // The edges of vertex v, from 1 on, begin at (v - 1) * edges / (vertices - 1), rounded down.
  WARPHEAP_FN std::uint64_t first_edge(std::uint64_t vertex) const { return (vertex - 1) * edges_ / younger_; }
  WARPHEAP_FN std::uint64_t younger_end(std::uint64_t edge) const { return ((edge + 1) * younger_ - 1) / edges_ + 1; }
  WARPHEAP_FN std::uint64_t older_end(std::uint64_t edge) const {
    // Each link leads to an edge of an older vertex, so the chain ends; the first vertex is the end of all of them.
    for (;;) {
      const std::uint64_t vertex = younger_end(edge);
      if (vertex == 1) return 0;
      const std::uint64_t end = random_.below(2 * first_edge(vertex), edge);
      edge = end / 2;
      if (end % 2 == 0) return younger_end(edge);
    }
  }

  counter_random random_;
  std::uint64_t edges_;
  std::uint64_t younger_;
  vertex_id vertices_;
};

static_assert(edge_generator<barabasi_albert_edges>);

}  // namespace warpheap
