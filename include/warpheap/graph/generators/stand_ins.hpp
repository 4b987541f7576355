// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <warpheap/graph/generators/barabasi_albert.hpp>
#include <warpheap/graph/generators/delaunay.hpp>
#include <warpheap/graph/generators/geometric.hpp>
#include <warpheap/graph/generators/lattices.hpp>
#include <warpheap/graph/generators/roads.hpp>
#include <warpheap/graph/generators/stencil.hpp>

namespace warpheap {

/// Radius of the random geometric graphs of the DIMACS challenge, 0.55 * sqrt(ln n / n), in units of 2^-32: the graph
/// is connected but for a few vertices. Host side only.
inline std::uint32_t geometric_radius(vertex_id vertices) {
  const double n = std::max<double>(vertices, 2);
  return static_cast<std::uint32_t>(std::min(0.55 * std::sqrt(std::log(n) / n), 0.49) * 4294967296.0);
}

/// How the edges of a stand-in are made.
enum class stand_in_kind { roads, attachment, stencil, delaunay, geometric, dual };

/// A generated graph in place of one of the 14 that Winter et al. (Ouroboros, ICS 2020, Table 1) measure: vertices,
/// edges and the shape of its degrees are like those of the original. It is not the original, so its name says so.
struct stand_in {
  const char* name;         ///< "stand-in of X", for figures and tables
  vertex_id vertices;       ///< of the original; the stand-in has as many, or fewer by less than a permille
  std::uint64_t arcs;       ///< directed edges of the original; the stand-in has as many up to 3 %
  stand_in_kind kind;       ///< the generator
  stencil_shape shape{};    ///< nodes, of a stencil
  std::uint32_t chain = 0;  ///< vertices on the roads of a junction, of roads
};

/// The stand-ins, in the order of the paper's table. The paper gives coAuthorsDBLP 229,067 vertices; its edges and its
/// mean degree belong to the 299,067 that the graph has.
inline constexpr std::array<stand_in, 14> stand_ins{{
    {"stand-in of luxembourg_osm", 114'599, 239'332, stand_in_kind::roads, {}, 8},
    {"stand-in of coAuthorsCiteseer", 227'320, 1'628'268, stand_in_kind::attachment},
    {"stand-in of coAuthorsDBLP", 299'067, 1'955'352, stand_in_kind::attachment},
    {"stand-in of ldoor", 952'203, 46'522'475, stand_in_kind::stencil, {9, 2, 17'633, 3}},
    {"stand-in of audikw_1", 943'695, 77'651'847, stand_in_kind::stencil, {68, 68, 68, 3, 22}},
    {"stand-in of delaunay_n20", 1'048'576, 6'291'372, stand_in_kind::delaunay},
    {"stand-in of rgg_n_2_20_s0", 1'048'576, 13'783'240, stand_in_kind::geometric},
    {"stand-in of hugetric-00000", 5'824'554, 17'467'046, stand_in_kind::dual},
    {"stand-in of delaunay_n23", 8'388'608, 50'331'568, stand_in_kind::delaunay},
    {"stand-in of germany_osm", 11'548'845, 24'738'362, stand_in_kind::roads, {}, 8},
    {"stand-in of nlpkkt120", 3'542'400, 96'845'792, stand_in_kind::stencil, {123, 120, 240, 1, 80}},
    {"stand-in of nlpkkt200", 16'240'000, 448'225'632, stand_in_kind::stencil, {203, 200, 400, 1, 130}},
    {"stand-in of nlpkkt240", 27'993'600, 774'472'352, stand_in_kind::stencil, {243, 240, 480, 1, 160}},
    {"stand-in of europe_osm", 50'912'018, 108'109'320, stand_in_kind::roads, {}, 9},
}};

namespace generation {

/// Width of a rectangle of `places` places, or of fewer than its root less, that is nearly a square.
inline std::uint32_t width_of(std::uint32_t places) {
  const auto root = static_cast<std::uint32_t>(std::sqrt(static_cast<double>(places)));
  for (std::uint32_t width = root; width > root / 2; --width) {
    if (places % width == 0) return width;
  }
  return root;
}

}  // namespace generation

/// Calls `use(generator)` with the generator of `wanted`, for a graph with about one in `divisor` of its vertices and
/// edges: 1 for the whole one. The generator is valid during the call. Host side only; throws what
/// `geometric_points` throws.
template <class Use>
void with_stand_in(const stand_in& wanted, std::uint32_t divisor, std::uint64_t seed, Use use) {
  require(divisor != 0 && wanted.vertices / divisor >= 1000,
          "with_stand_in: the divisor leaves 1,000 vertices or more");
  const vertex_id vertices = wanted.vertices / divisor;
  const std::uint64_t edges = wanted.arcs / 2 / divisor;
  switch (wanted.kind) {
    case stand_in_kind::roads: return use(road_edges(vertices, wanted.chain, edges - (vertices - 1), seed));
    case stand_in_kind::attachment: return use(barabasi_albert_edges(vertices, edges, seed));
    case stand_in_kind::stencil: {
      stencil_shape shape = wanted.shape;
      shape.z = std::max<std::uint32_t>(shape.z / divisor, 7);
      if (shape.layers != 0) shape.layers = std::max<std::uint32_t>(shape.layers / divisor, 2);
      return use(stencil_edges(shape));
    }
    case stand_in_kind::delaunay: {
      const std::uint32_t cells = vertices / delaunay_edges::cell_points, width = generation::width_of(cells);
      return use(delaunay_edges(width, cells / width, seed));
    }
    case stand_in_kind::geometric: {
      const geometric_points points(vertices, geometric_radius(vertices), seed);
      return use(points.edges());
    }
    case stand_in_kind::dual: {
      const std::uint32_t width = generation::width_of(vertices / 2);
      return use(dual_edges(width, vertices / 2 / width, seed));
    }
  }
}

}  // namespace warpheap
