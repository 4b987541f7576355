// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/graph/adjacency.hpp>
#include <warpheap/platform/device.hpp>

namespace warpheap {

/// A graph in compressed sparse rows, in device memory of the caller: the neighbours of `v` are
/// `neighbours[offsets[v]]` to `neighbours[offsets[v + 1] - 1]`, in ascending order without repeats.
template <class Weight = void>
class csr_view {
 public:
  using weight_type = Weight;                  ///< void without weights
  static constexpr bool is_ascending = true;   ///< as the caller promises
  static constexpr bool is_contiguous = true;  ///< one piece a list

  /// The graph of `vertices` vertices. `weights` may be null if `Weight` is void.
  WARPHEAP_FN csr_view(vertex_id vertices, const std::uint64_t* offsets, const vertex_id* neighbours,
                       const Weight* weights = nullptr)
      : offsets_(offsets), neighbours_(neighbours), weights_(weights), vertices_(vertices) {}

  /// Vertices of the graph.
  WARPHEAP_FN vertex_id vertices() const { return vertices_; }
  /// Neighbours of `v`.
  WARPHEAP_FN std::uint32_t degree(vertex_id v) const {
    return static_cast<std::uint32_t>(offsets_[v + 1] - offsets_[v]);
  }
  /// All neighbours of `v`.
  WARPHEAP_FN list_piece<Weight> first_piece(vertex_id v) const {
    list_piece<Weight> piece;
    piece.ids = neighbours_ + offsets_[v];
    piece.count = degree(v);
    if constexpr (!std::is_void_v<Weight>) piece.weights = weights_ + offsets_[v];
    return piece;
  }
  /// A piece of no neighbours: a list has one piece.
  WARPHEAP_FN list_piece<Weight> next_piece(const list_piece<Weight>&) const { return {}; }

  /// Where the lists begin, `vertices() + 1` numbers.
  WARPHEAP_FN const std::uint64_t* offsets() const { return offsets_; }
  /// All lists, one after another.
  WARPHEAP_FN const vertex_id* neighbours() const { return neighbours_; }

 private:
  const std::uint64_t* offsets_;
  const vertex_id* neighbours_;
  const Weight* weights_;
  vertex_id vertices_;
};

static_assert(adjacency<csr_view<>> && adjacency<csr_view<float>>);

}  // namespace warpheap
