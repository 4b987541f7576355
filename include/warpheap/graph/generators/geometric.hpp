// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>
#include <warpheap/graph/generators/detail/geometric.hpp>
#include <warpheap/graph/generators/edge_generator.hpp>
#include <warpheap/graph/generators/random.hpp>
#include <warpheap/graph/generators/write_edges.hpp>
#include <warpheap/platform.hpp>

namespace warpheap {

/// A point of the unit square, in units of 2^-32: whole numbers, so that host and GPU agree.
struct random_point {
  std::uint32_t x;  ///< from the left
  std::uint32_t y;  ///< from below
};

/// The edges of a random geometric graph, as kernels see it; `geometric_points` owns the memory.
///
/// Invariant: `members[starts[c]]` to `members[starts[c + 1] - 1]` are the vertices of cell c, ascending. A cell is at
/// least as wide as the radius, so all that is near lies in the cell and the eight around it.
class geometric_edges {
 public:
  static constexpr std::uint32_t edges_per_item = 0;  ///< an item is a vertex

  /// The edges of points that lie in `side` times `side` cells, as `starts` and `members` say.
  WARPHEAP_FN geometric_edges(vertex_id vertices, std::uint32_t radius, std::uint32_t side, std::uint64_t seed,
                              const std::uint32_t* starts, const vertex_id* members)
      : random_(seed), starts_(starts), members_(members), vertices_(vertices), radius_(radius), side_(side) {}

  WARPHEAP_FN vertex_id vertices() const { return vertices_; }   ///< number of vertices
  WARPHEAP_FN std::uint64_t items() const { return vertices_; }  ///< number of vertices

  /// Where a vertex lies.
  WARPHEAP_FN random_point point(vertex_id vertex) const {
    const word_halves halves = split(random_.word(vertex));
    return {halves.low, halves.high};
  }
  /// The cell of a point.
  WARPHEAP_FN std::uint32_t cell(random_point at) const { return row(at.y) * side_ + row(at.x); }
  /// True if two vertices are no farther from each other than the radius.
  WARPHEAP_FN bool near(random_point a, random_point b) const {
    const std::uint64_t dx = a.x < b.x ? b.x - a.x : a.x - b.x, dy = a.y < b.y ? b.y - a.y : a.y - b.y;
    // Both are at most the radius, so the sum of squares stays below 2^64 for radii below 2^31.
    return dx <= radius_ && dy <= radius_ && dx * dx + dy * dy <= std::uint64_t{radius_} * radius_;
  }

  /// Makes the edges of vertex `item` to those near it that have larger ids.
  template <class Emit>
  WARPHEAP_FN void edges_of(std::uint64_t item, Emit emit) const {
    const auto vertex = static_cast<vertex_id>(item);
    const random_point at = point(vertex);
    const std::uint32_t column = row(at.x), line = row(at.y);
    const std::uint32_t last_column = column + 1 < side_ ? column + 1 : column;
    for (std::uint32_t y = line == 0 ? 0 : line - 1; y <= line + 1 && y < side_; ++y) {
      // Cells of a row lie side by side, and so do their members.
      const std::uint32_t first = y * side_ + (column == 0 ? 0 : column - 1);
      for (std::uint32_t i = starts_[first]; i < starts_[y * side_ + last_column + 1]; ++i) {
        const vertex_id other = members_[i];
        if (other > vertex && near(at, point(other))) emit(vertex, other);
      }
    }
  }

 private:
  WARPHEAP_FN std::uint32_t row(std::uint32_t coordinate) const {
    return static_cast<std::uint32_t>(std::uint64_t{coordinate} * side_ >> 32);
  }

  counter_random random_;
  const std::uint32_t* starts_;
  const vertex_id* members_;
  vertex_id vertices_;
  std::uint32_t radius_;
  std::uint32_t side_;
};

static_assert(edge_generator<geometric_edges>);

/// Random points of the unit square, and the cells that they lie in: 4 bytes a vertex and a cell in device memory.
/// Two vertices are neighbours if their points are no farther apart than the radius. Host side only.
class geometric_points {
 public:
  /// `vertices` points; `radius` is in units of 2^-32 of the side of the square, not 0 and below 2^31.
  geometric_points(vertex_id vertices, std::uint32_t radius, std::uint64_t seed)
      : side_(cells_a_side(vertices, radius)),
        starts_(cells() + 1),
        members_(vertices),
        graph_(vertices, radius, side_, seed, starts_.data(), members_.data()) {
    const grid_shape shape = generation::shape_for(vertices);
    launch(shape, generation::count_members{}, graph_, starts_.data());
    std::vector<std::uint32_t> ends = starts_.to_host();
    for (std::uint64_t cell = 1; cell <= cells(); ++cell) ends[cell] += ends[cell - 1];
    // After the kernel has counted down, the ends are the starts; the last one, of no cell, stays as it is.
    starts_ = device_array<std::uint32_t>(ends);
    graph_ = {vertices, radius, side_, seed, starts_.data(), members_.data()};
    launch(shape, generation::place_members{}, graph_, starts_.data(), members_.data());
    launch(shape, generation::sort_members{}, starts_.data(), cells(), members_.data());
    synchronise();
  }

  /// The generator, valid as long as this object is.
  geometric_edges edges() const { return graph_; }

 private:
  static std::uint32_t cells_a_side(vertex_id vertices, std::uint32_t radius) {
    require(vertices != 0, "geometric_points: there is at least one vertex");
    require(radius != 0 && radius < std::uint32_t{1} << 31, "geometric_points: the radius is not 0 and below 2^31");
    // A cell is no narrower than the radius; more cells than vertices would only take memory.
    const std::uint64_t widest = (std::uint64_t{1} << 32) / radius;
    std::uint64_t side = 1;
    while (side < widest && (side + 1) * (side + 1) <= vertices) ++side;
    return static_cast<std::uint32_t>(side);
  }
  std::uint64_t cells() const { return std::uint64_t{side_} * side_; }

  std::uint32_t side_;
  device_array<std::uint32_t> starts_;
  device_array<vertex_id> members_;
  geometric_edges graph_;
};

}  // namespace warpheap
