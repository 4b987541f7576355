// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/graph/generators/edge_generator.hpp>
#include <warpheap/graph/generators/lattices.hpp>
#include <warpheap/graph/generators/random.hpp>

namespace warpheap {

/// A connected planar graph as roads are: junctions, and between them long chains of vertices of degree 2. Its numbers
/// of vertices and edges are chosen exactly.
///
/// Junctions lie in a grid. Each has a road to the right or down, drawn by the seed, or the only one of both that
/// exists; these roads are a spanning tree, since each leads towards the last junction. `extra` of the junctions with
/// both roads open have the second one, too: those whose place a seeded bijection maps below `extra`. A junction owns
/// about `chain` more vertices, which lie on its roads. With two roads, the seed divides them. Thus a graph of V
/// vertices has V - 1 + `extra` edges.
///
/// Ids: junctions first, row by row, then the chains in the order of their owners.
class road_edges {
 public:
  static constexpr std::uint32_t edges_per_item = 0;  ///< an item is a junction with the roads that it owns

  /// A graph of `vertices` vertices, with about `chain` vertices a junction on its roads.
  /// `extra` is at most (width - 1) * (height - 1), of about `vertices` / (`chain` + 1) junctions.
  WARPHEAP_FN road_edges(vertex_id vertices, std::uint32_t chain, std::uint64_t extra, std::uint64_t seed)
      : road_edges(square(vertices / (chain + 1)), vertices, extra, seed) {}

  WARPHEAP_FN vertex_id vertices() const { return vertices_; }                ///< number of vertices
  WARPHEAP_FN std::uint64_t items() const { return junctions_.places(); }     ///< number of junctions
  WARPHEAP_FN std::uint64_t edges() const { return vertices_ - 1 + extra_; }  ///< number of edges

  /// Makes the roads of junction `item`.
  template <class Emit>
  WARPHEAP_FN void edges_of(std::uint64_t item, Emit emit) const {
    const auto junction = static_cast<std::uint32_t>(item);
    const bool right = junctions_.has_right(junction), down = junctions_.has_down(junction);
    const std::uint32_t own = chain_ + (junction < longer_ ? 1 : 0);
    const std::uint32_t least = junction < longer_ ? junction : longer_;
    const vertex_id first = junctions_.places() + junction * chain_ + least;
    if (!right && !down) {
      chain(junction, first, own, emit);  // the last junction has a road that ends nowhere
      return;
    }
    const bool goes_right = right && (!down || random_.below(2, item, 0) == 0);
    const vertex_id beside = junction + 1, below = junction + junctions_.width();
    if (!right || !down || !has_second(junction)) {
      emit(chain(junction, first, own, emit), goes_right ? beside : below);
      return;
    }
    const auto part = static_cast<std::uint32_t>(random_.below(std::uint64_t{own} + 1, item, 1));
    emit(chain(junction, first, part, emit), beside);
    emit(chain(junction, first + part, own - part, emit), below);
  }

 private:
  WARPHEAP_FN road_edges(lattice junctions, vertex_id vertices, std::uint64_t extra, std::uint64_t seed)
      : random_(seed),
        shuffle_(inner(junctions), seed),
        junctions_(junctions),
        extra_(extra),
        vertices_(vertices),
        chain_(vertices / junctions.places() - 1),
        longer_(vertices % junctions.places()) {
    require(extra <= inner(junctions), "road_edges: there are fewer second roads than `extra`; lower it or `chain`");
  }

  // A rectangle of about as many rows as columns, and of at most `places` places.
  WARPHEAP_FN static lattice square(std::uint32_t places) {
    require(places != 0, "road_edges: the graph has fewer vertices than a junction and its chain");
    std::uint32_t width = 1;
    while (std::uint64_t{width + 1} * (width + 1) <= places) ++width;
    return {width, places / width};
  }
  // Junctions that have both a right and a lower neighbour.
  WARPHEAP_FN static std::uint64_t inner(lattice junctions) {
    return std::uint64_t{junctions.width() - 1} * (junctions.height() - 1);
  }
  WARPHEAP_FN bool has_second(std::uint32_t junction) const {
    const std::uint32_t x = junction % junctions_.width(), y = junction / junctions_.width();
    return shuffle_(std::uint64_t{y} * (junctions_.width() - 1) + x) < extra_;
  }
  // Makes a chain of `count` vertices from `first` on that begins at `from`; returns its last vertex.
  template <class Emit>
  WARPHEAP_FN static vertex_id chain(vertex_id from, vertex_id first, std::uint32_t count, Emit emit) {
    for (std::uint32_t i = 0; i < count; ++i) {
      emit(from, first + i);
      from = first + i;
    }
    return from;
  }

  counter_random random_;
  number_shuffle shuffle_;
  lattice junctions_;
  std::uint64_t extra_;
  vertex_id vertices_;
  std::uint32_t chain_;   // vertices on the roads of a junction, at least
  std::uint32_t longer_;  // the first so many junctions have one more
};

static_assert(edge_generator<road_edges>);

}  // namespace warpheap
