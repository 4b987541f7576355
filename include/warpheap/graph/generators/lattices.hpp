// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/graph/generators/edge_generator.hpp>
#include <warpheap/graph/generators/random.hpp>

namespace warpheap {

/// A rectangle of `width` times `height` places, numbered row by row.
class lattice {
 public:
  /// A rectangle of at most `most` places, which is below 2^32.
  WARPHEAP_FN lattice(std::uint32_t width, std::uint32_t height, std::uint64_t most = ~std::uint32_t{0})
      : width_(width), height_(height) {
    require(width != 0 && height != 0, "lattice: width and height are not 0");
    require(std::uint64_t{width} * height <= most, "lattice: the rectangle has too many places for ids of 32 bits");
  }

  WARPHEAP_FN std::uint32_t width() const { return width_; }             ///< places in a row
  WARPHEAP_FN std::uint32_t height() const { return height_; }           ///< rows
  WARPHEAP_FN std::uint32_t places() const { return width_ * height_; }  ///< places in all
  /// True if a place has a right neighbour, `place + 1`.
  WARPHEAP_FN bool has_right(std::uint32_t place) const { return place % width_ + 1 < width_; }
  /// True if a place has a lower neighbour, `place + width()`.
  WARPHEAP_FN bool has_down(std::uint32_t place) const { return place / width_ + 1 < height_; }

 private:
  std::uint32_t width_;
  std::uint32_t height_;
};

/// A 2-D grid: degree 4, 3 at the sides, 2 in the corners.
class grid_edges {
 public:
  static constexpr std::uint32_t edges_per_item = 0;  ///< an item is a vertex, with its edges to the right and down

  /// The grid of `width` times `height` vertices, numbered row by row.
  WARPHEAP_FN grid_edges(std::uint32_t width, std::uint32_t height) : grid_(width, height) {}

  WARPHEAP_FN vertex_id vertices() const { return grid_.places(); }   ///< number of vertices
  WARPHEAP_FN std::uint64_t items() const { return grid_.places(); }  ///< number of vertices

  /// Makes the edges of vertex `item` to the right and down.
  template <class Emit>
  WARPHEAP_FN void edges_of(std::uint64_t item, Emit emit) const {
    const auto vertex = static_cast<vertex_id>(item);
    if (grid_.has_right(vertex)) emit(vertex, vertex + 1);
    if (grid_.has_down(vertex)) emit(vertex, vertex + grid_.width());
  }

 private:
  lattice grid_;
};

/// A triangulation: a 2-D grid each of whose cells has one diagonal, drawn by the seed. Degrees are 4 to 8 inside,
/// 6 in the mean, with a deviation of 1.0.
///
/// It is cheaper to make than `delaunay_edges`, and its degrees are more alike.
class triangulation_edges {
 public:
  static constexpr std::uint32_t edges_per_item = 0;  ///< an item is a vertex and the cell to its lower right

  /// The triangulation of `width` times `height` vertices, numbered row by row.
  WARPHEAP_FN triangulation_edges(std::uint32_t width, std::uint32_t height, std::uint64_t seed)
      : random_(seed), grid_(width, height) {}

  WARPHEAP_FN vertex_id vertices() const { return grid_.places(); }   ///< number of vertices
  WARPHEAP_FN std::uint64_t items() const { return grid_.places(); }  ///< number of vertices

  /// Makes the edges of vertex `item` to the right and down, and the diagonal between them.
  template <class Emit>
  WARPHEAP_FN void edges_of(std::uint64_t item, Emit emit) const {
    const auto vertex = static_cast<vertex_id>(item);
    const bool right = grid_.has_right(vertex), down = grid_.has_down(vertex);
    const vertex_id below = vertex + grid_.width();
    if (right) emit(vertex, vertex + 1);
    if (down) emit(vertex, below);
    if (!right || !down) return;
    if (random_.below(2, item) == 0) {
      emit(vertex, below + 1);
    } else {
      emit(vertex + 1, below);
    }
  }

 private:
  counter_random random_;
  lattice grid_;
};

/// The dual of `triangulation_edges`: a vertex for each triangle, an edge where two triangles share a side. Degree 3,
/// at the border 2 or 1.
///
/// Cell c has the triangles 2c, which has the upper side of the cell, and 2c + 1, which has the lower side.
class dual_edges {
 public:
  static constexpr std::uint32_t edges_per_item = 0;  ///< an item is a cell

  /// The dual of `width` times `height` cells with two triangles each.
  WARPHEAP_FN dual_edges(std::uint32_t width, std::uint32_t height, std::uint64_t seed)
      : random_(seed), cells_(width, height, ~std::uint32_t{0} / 2) {}

  WARPHEAP_FN vertex_id vertices() const { return cells_.places() * 2; }  ///< number of triangles
  WARPHEAP_FN std::uint64_t items() const { return cells_.places(); }     ///< number of cells

  /// Makes the edges within cell `item`, to the cell on its right and to the one below.
  template <class Emit>
  WARPHEAP_FN void edges_of(std::uint64_t item, Emit emit) const {
    const auto cell = static_cast<std::uint32_t>(item);
    emit(2 * cell, 2 * cell + 1);
    // A diagonal that falls to the right leaves the right side to the upper triangle, and the left side to the lower.
    if (cells_.has_right(cell)) emit(2 * cell + (falls(cell) ? 0 : 1), 2 * (cell + 1) + (falls(cell + 1) ? 1 : 0));
    if (cells_.has_down(cell)) emit(2 * cell + 1, 2 * (cell + cells_.width()));
  }

 private:
  WARPHEAP_FN bool falls(std::uint32_t cell) const { return random_.below(2, cell) == 0; }

  counter_random random_;
  lattice cells_;
};

static_assert(edge_generator<grid_edges> && edge_generator<triangulation_edges> && edge_generator<dual_edges>);

}  // namespace warpheap
