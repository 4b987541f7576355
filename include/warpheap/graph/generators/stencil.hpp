// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/graph/generators/edge_generator.hpp>
#include <warpheap/platform/device.hpp>

namespace warpheap {

/// Size of a 3-D grid of nodes.
struct stencil_shape {
  std::uint32_t x;             ///< nodes along the first axis, whose neighbours have neighbouring ids
  std::uint32_t y;             ///< nodes along the second axis
  std::uint32_t z;             ///< nodes along the third axis
  std::uint32_t unknowns = 1;  ///< vertices of a node
  std::uint32_t layers = 0;    ///< each node is also tied to the one so many layers of z away, around the end; 0: not
};

/// The matrix graph of a 3-D problem: each node is joined with the 26 around it, each vertex of a node with all others
/// of the node and of its neighbours. Degree 26 inside with one unknown a node, 80 with three.
///
/// `layers` ties far layers together, as the two halves of an optimisation problem are: two more neighbours a node.
class stencil_edges {
 public:
  static constexpr std::uint32_t edges_per_item = 0;  ///< an item is a node

  /// The graph of this shape. With `layers`, `layers` is at least 2 and less than half of `shape.z`.
  WARPHEAP_FN explicit stencil_edges(stencil_shape shape)
      : shape_(shape), nodes_(std::uint64_t{shape.x} * shape.y * shape.z) {
    require(shape.x != 0 && shape.y != 0 && shape.z != 0 && shape.unknowns != 0, "stencil_edges: no side is 0");
    // The first product may have 96 bits, so its factors are looked at one after another.
    require(std::uint64_t{shape.x} * shape.y < ~std::uint32_t{0} / shape.z / shape.unknowns,
            "stencil_edges: there are too many vertices for ids of 32 bits");
    // Nearer layers are joined already, and half of them away both directions would make the same edge.
    require(shape.layers == 0 || (shape.layers >= 2 && shape.layers < (shape.z + 1) / 2),
            "stencil_edges: `layers` is 0, or from 2 to less than half of z");
  }

  WARPHEAP_FN vertex_id vertices() const { return static_cast<vertex_id>(nodes_ * shape_.unknowns); }  ///< in all nodes
  WARPHEAP_FN std::uint64_t items() const { return nodes_; }  ///< number of nodes

  /// Makes the edges within node `item`, and those to the 13 of its neighbours that have larger ids.
  template <class Emit>
  WARPHEAP_FN void edges_of(std::uint64_t item, Emit emit) const {
    const auto node = static_cast<std::uint32_t>(item);
    const std::uint32_t x = node % shape_.x, y = node / shape_.x % shape_.y, z = node / shape_.x / shape_.y;
    within(node, emit);
    for (int dz = 0; dz <= 1; ++dz) {
      for (int dy = dz == 0 ? 0 : -1; dy <= 1; ++dy) {
        for (int dx = dz == 0 && dy == 0 ? 1 : -1; dx <= 1; ++dx) {
          // A side that is left wraps around to a number that is too large.
          const std::uint32_t at_x = x + static_cast<std::uint32_t>(dx), at_y = y + static_cast<std::uint32_t>(dy);
          const std::uint32_t at_z = z + static_cast<std::uint32_t>(dz);
          if (at_x < shape_.x && at_y < shape_.y && at_z < shape_.z) between(node, id(at_x, at_y, at_z), emit);
        }
      }
    }
    if (shape_.layers != 0) between(node, id(x, y, (z + shape_.layers) % shape_.z), emit);
  }

 private:
  WARPHEAP_FN std::uint32_t id(std::uint32_t x, std::uint32_t y, std::uint32_t z) const {
    return (z * shape_.y + y) * shape_.x + x;
  }
  template <class Emit>
  WARPHEAP_FN void within(std::uint32_t node, Emit emit) const {
    const std::uint32_t unknowns = shape_.unknowns;
    for (std::uint32_t i = 0; i < unknowns; ++i) {
      for (std::uint32_t j = i + 1; j < unknowns; ++j) emit(node * unknowns + i, node * unknowns + j);
    }
  }
  template <class Emit>
  WARPHEAP_FN void between(std::uint32_t node, std::uint32_t other, Emit emit) const {
    const std::uint32_t unknowns = shape_.unknowns;
    for (std::uint32_t i = 0; i < unknowns; ++i) {
      for (std::uint32_t j = 0; j < unknowns; ++j) emit(node * unknowns + i, other * unknowns + j);
    }
  }

  stencil_shape shape_;
  std::uint64_t nodes_;
};

static_assert(edge_generator<stencil_edges>);

}  // namespace warpheap
