// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/graph/generators/edge_generator.hpp>
#include <warpheap/graph/generators/lattices.hpp>
#include <warpheap/graph/generators/random.hpp>

namespace warpheap {

/// The Delaunay triangulation of random points on a torus, four in each cell of a grid. The mean degree is 6 exactly,
/// and each vertex finds its neighbours alone.
///
/// A circle that holds no point in it holds no whole cell, so its radius is at most the diagonal of a cell.
/// Neighbours lie on such a circle, at most 2.83 cells apart. So the 49 cells around a vertex, three in each direction,
/// hold all that matters. Whole numbers of 2^-12 of a cell make all tests exact. If four points lie on one circle,
/// which next to never happens, an edge may be missing, or two may cross.
class delaunay_edges {
 public:
  static constexpr std::uint32_t edges_per_item = 0;  ///< an item is a vertex

  /// Points in a cell. The more, the more the points are like those that are drawn from the whole plane.
  static constexpr std::uint32_t cell_points = 4;

  /// The triangulation of the points in `width` times `height` cells, numbered row by row. Both are at least 8.
  WARPHEAP_FN delaunay_edges(std::uint32_t width, std::uint32_t height, std::uint64_t seed)
      : random_(seed), cells_(width, height, ~std::uint32_t{0} / cell_points) {
    require(width >= 8 && height >= 8, "delaunay_edges: a side has at least 8 cells, or a vertex would meet itself");
  }

  WARPHEAP_FN vertex_id vertices() const { return cells_.places() * cell_points; }  ///< number of vertices
  WARPHEAP_FN std::uint64_t items() const { return vertices(); }                    ///< number of vertices

  /// A place relative to a vertex, in units of 2^-12 of a cell.
  struct offset {
    std::int32_t x;  ///< to the right
    std::int32_t y;  ///< down
  };
  /// Vertices that are looked at for one: all of the 49 cells around it but itself.
  static constexpr std::uint32_t near_count = 49 * cell_points - 1;

  /// Vertex `index`, below `near_count`, of those around `vertex`.
  WARPHEAP_FN vertex_id near_vertex(vertex_id vertex, std::uint32_t index) const {
    const std::uint32_t cell = vertex / cell_points, width = cells_.width(), height = cells_.height();
    const std::uint32_t place = around(vertex, index), beside = place / cell_points;
    // Three cells back are a side less three forward.
    const std::uint32_t x = (cell % width + width - 3 + beside % 7) % width;
    const std::uint32_t y = (cell / width + height - 3 + beside / 7) % height;
    return (y * width + x) * cell_points + place % cell_points;
  }
  /// Where that vertex lies, seen from `vertex`: nearer than four cells in each direction.
  WARPHEAP_FN offset near_offset(vertex_id vertex, std::uint32_t index) const {
    const std::uint32_t beside = around(vertex, index) / cell_points;
    const offset here = in_cell(vertex), there = in_cell(near_vertex(vertex, index));
    return {(static_cast<std::int32_t>(beside % 7) - 3) * cell_units + there.x - here.x,
            (static_cast<std::int32_t>(beside / 7) - 3) * cell_units + there.y - here.y};
  }

  /// Makes the edges of vertex `item` to neighbours with larger ids.
  template <class Emit>
  WARPHEAP_FN void edges_of(std::uint64_t item, Emit emit) const {
    const auto vertex = static_cast<vertex_id>(item);
    offset near[near_count];
    std::uint32_t nearest = 0;
    for (std::uint32_t i = 0; i < near_count; ++i) {
      near[i] = near_offset(vertex, i);
      if (square(near[i]) < square(near[nearest])) nearest = i;
    }
    // The nearest point is a neighbour. From it, neighbours are found by turning, until it is met again.
    std::uint32_t at = nearest;
    for (std::uint32_t turns = 0; turns < near_count; ++turns) {
      const vertex_id other = near_vertex(vertex, at);
      if (other > vertex) emit(vertex, other);
      at = next_neighbour(near, at);
      if (at == nearest) return;
    }
  }

 private:
  static constexpr std::int32_t cell_units = 1 << 12;

  // Places around a vertex are numbered by cells, row by row, and by the points of a cell; the vertex's own, in the
  // middle, is left out.
  WARPHEAP_FN static constexpr std::uint32_t around(vertex_id vertex, std::uint32_t index) {
    return index < 24 * cell_points + vertex % cell_points ? index : index + 1;
  }
  WARPHEAP_FN offset in_cell(vertex_id vertex) const {
    const word_halves halves = split(random_.word(vertex));
    // The lowest bits tell the points of a cell apart, so no two are at one place.
    const std::uint32_t x = (halves.low >> 20) / cell_points * cell_points + vertex % cell_points;
    return {static_cast<std::int32_t>(x), static_cast<std::int32_t>(halves.high >> 20)};
  }
  WARPHEAP_FN static constexpr std::int64_t square(offset a) {
    return std::int64_t{a.x} * a.x + std::int64_t{a.y} * a.y;
  }
  WARPHEAP_FN static constexpr std::int64_t cross(offset a, offset b) {
    return std::int64_t{a.x} * b.y - std::int64_t{a.y} * b.x;
  }
  // True if `c` lies within the circle through the vertex itself, `a` and `b`, where `b` is a turn from `a` by less
  // than half. Coordinates are below 2^14, so squares are below 2^29 and products with them below 2^60.
  WARPHEAP_FN static constexpr bool in_circle(offset a, offset b, offset c) {
    return square(a) * cross(b, c) - square(b) * cross(a, c) + square(c) * cross(a, b) < 0;
  }
  // The neighbour that follows neighbour `from`: the circle through the vertex and both holds no point on that side.
  WARPHEAP_FN static std::uint32_t next_neighbour(const offset (&near)[near_count], std::uint32_t from) {
    std::uint32_t best = near_count;
    for (std::uint32_t i = 0; i < near_count; ++i) {
      if (cross(near[from], near[i]) <= 0) continue;
      if (best == near_count || in_circle(near[from], near[best], near[i])) best = i;
    }
    // On a torus there are points on every side.
    return best;
  }

  counter_random random_;
  lattice cells_;
};

static_assert(edge_generator<delaunay_edges>);

}  // namespace warpheap
