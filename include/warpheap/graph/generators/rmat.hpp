// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/graph/generators/edge_generator.hpp>
#include <warpheap/graph/generators/random.hpp>

namespace warpheap {

/// Shares of the four quadrants of an R-MAT graph; the fourth is what is left of 1. The defaults are Graph500's.
struct rmat_shares {
  double a = 0.57;  ///< both ends in the lower half of the ids
  double b = 0.19;  ///< the first in the lower half, the second in the upper
  double c = 0.19;  ///< the first in the upper half, the second in the lower
};

/// A recursive random graph (Chakrabarti, Zhan & Faloutsos, R-MAT, SDM 2004) of 2^`scale` vertices: few vertices have
/// most edges, many have none. Ids are permuted, so that the id says nothing of the degree.
///
/// Loops and repeats are made, as in Graph500, which counts them as edges; the graph drops them. Graph500 has 16 edges
/// a vertex.
class rmat_edges {
 public:
  static constexpr std::uint32_t edges_per_item = 1;  ///< an item is an edge

  /// `edges` edges of 2^`scale` vertices; `scale` is 0 to 31.
  WARPHEAP_FN rmat_edges(int scale, std::uint64_t edges, std::uint64_t seed, rmat_shares shares = {})
      : random_(seed),
        shuffle_(std::uint64_t{1} << scale, seed),
        edges_(edges),
        below_a_(threshold(shares.a)),
        below_b_(below_a_ + threshold(shares.b)),
        below_c_(below_b_ + threshold(shares.c)),
        scale_(scale) {
    require(scale >= 0 && scale < 32, "rmat_edges: the scale is 0 to 31");
    require(below_c_ <= std::uint64_t{1} << 32, "rmat_edges: the shares add up to more than 1");
  }

  WARPHEAP_FN vertex_id vertices() const { return vertex_id{1} << scale_; }  ///< number of vertices
  WARPHEAP_FN std::uint64_t items() const { return edges_; }                 ///< number of edges

  /// Makes edge `item`: each level draws a quadrant, and so a bit of both ends.
  template <class Emit>
  WARPHEAP_FN void edges_of(std::uint64_t item, Emit emit) const {
    std::uint32_t source = 0, target = 0;
    std::uint64_t bits = 0;
    for (int level = 0; level < scale_; ++level) {
      // A word serves two levels.
      bits = level % 2 == 0 ? random_.word(item, static_cast<std::uint64_t>(level / 2)) : bits >> 32;
      const std::uint64_t drawn = bits & 0xffffffffu;
      source = source * 2 + (drawn >= below_b_);
      target = target * 2 + ((drawn >= below_a_ && drawn < below_b_) || drawn >= below_c_);
    }
    emit(static_cast<vertex_id>(shuffle_(source)), static_cast<vertex_id>(shuffle_(target)));
  }

 private:
  WARPHEAP_FN static constexpr std::uint64_t threshold(double share) {
    return static_cast<std::uint64_t>(share * 4294967296.0);
  }

  counter_random random_;
  number_shuffle shuffle_;
  std::uint64_t edges_;
  std::uint64_t below_a_, below_b_, below_c_;
  int scale_;
};

/// Edges with both ends drawn uniformly, so loops and repeats are made: GAP's "urand", the worst locality.
class uniform_edges {
 public:
  static constexpr std::uint32_t edges_per_item = 1;  ///< an item is an edge

  /// `edges` edges of `vertices` vertices.
  WARPHEAP_FN uniform_edges(vertex_id vertices, std::uint64_t edges, std::uint64_t seed)
      : random_(seed), edges_(edges), vertices_(vertices) {
    require(vertices != 0 || edges == 0, "uniform_edges: edges need a vertex");
  }

  WARPHEAP_FN vertex_id vertices() const { return vertices_; }  ///< number of vertices
  WARPHEAP_FN std::uint64_t items() const { return edges_; }    ///< number of edges

  /// Makes edge `item`.
  template <class Emit>
  WARPHEAP_FN void edges_of(std::uint64_t item, Emit emit) const {
    emit(static_cast<vertex_id>(random_.below(vertices_, item, 0)),
         static_cast<vertex_id>(random_.below(vertices_, item, 1)));
  }

 private:
  counter_random random_;
  std::uint64_t edges_;
  vertex_id vertices_;
};

static_assert(edge_generator<rmat_edges> && edge_generator<uniform_edges>);

}  // namespace warpheap
