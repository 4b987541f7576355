// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/graph/layout.hpp>
#include <warpheap/platform/device.hpp>

namespace warpheap {

namespace detail {

/// Place of the first of `count` ascending numbers that is not below `value`.
template <class T>
WARPHEAP_FN std::uint32_t lower_bound(const T* numbers, std::uint32_t count, T value) {
  std::uint32_t first = 0;
  while (count != 0) {
    const std::uint32_t half = count / 2;
    const bool below = numbers[first + half] < value;
    first = below ? first + half + 1 : first;
    count = below ? count - half - 1 : half;
  }
  return first;
}

/// Place of the first of `count` ascending numbers that is above `value`.
template <class T>
WARPHEAP_FN std::uint32_t upper_bound(const T* numbers, std::uint32_t count, T value) {
  std::uint32_t first = 0;
  while (count != 0) {
    const std::uint32_t half = count / 2;
    const bool upto = !(value < numbers[first + half]);
    first = upto ? first + half + 1 : first;
    count = upto ? count - half - 1 : half;
  }
  return first;
}

}  // namespace detail

/// A dynamic graph as kernels read it, between the batches that change it. `graph::ref` makes it. It is valid until
/// vertices are added: then take a new one.
template <class Layout>
class graph_ref {
 public:
  using weight_type = typename Layout::weight_type;             ///< void without weights
  static constexpr bool is_ascending = Layout::is_ascending;    ///< ids of each list rise strictly
  static constexpr bool is_contiguous = Layout::is_contiguous;  ///< each list has at most one piece
  using record = typename Layout::record;                       ///< what a vertex has

  /// The graph of `vertices` vertices whose records lie at `records`.
  WARPHEAP_FN graph_ref(const record* records, vertex_id vertices) : records_(records), vertices_(vertices) {}

  /// Vertices of the graph.
  WARPHEAP_FN vertex_id vertices() const { return vertices_; }
  /// Neighbours of `v`.
  WARPHEAP_FN std::uint32_t degree(vertex_id v) const { return records_[v].degree; }
  /// The first neighbours of `v`; a piece of none if `v` has none.
  WARPHEAP_FN list_piece<weight_type> first_piece(vertex_id v) const { return Layout::first_piece(records_[v]); }
  /// The neighbours after `piece` in its list; a piece of none at the end.
  WARPHEAP_FN list_piece<weight_type> next_piece(const list_piece<weight_type>& piece) const {
    return Layout::next_piece(piece);
  }
  /// True if the graph has the edge from `source` to `target`. One thread looks: for many edges `graph::has_edges`.
  WARPHEAP_FN bool has_edge(vertex_id source, vertex_id target) const {
    for (auto piece = first_piece(source); piece.count != 0; piece = next_piece(piece)) {
      if constexpr (is_ascending) {
        const std::uint32_t place = detail::lower_bound(piece.ids, piece.count, target);
        if (place < piece.count) return piece.ids[place] == target;
      } else {
        for (std::uint32_t i = 0; i < piece.count; ++i) {
          if (piece.ids[i] == target) return true;
        }
      }
    }
    return false;
  }

 private:
  const record* records_;
  vertex_id vertices_;
};

static_assert(adjacency<graph_ref<contiguous<>>> && adjacency<graph_ref<paged<>>>);

}  // namespace warpheap
