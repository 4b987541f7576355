// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <warpheap/platform/device.hpp>

namespace warpheap {

/// Number of a vertex of a graph, from 0 on.
using vertex_id = std::uint32_t;

/// Neighbours that lie side by side: `count` ids at `ids`, and their weights at `weights` if the graph has any.
///
/// `next` names the piece that follows in the same list, in a form that only the list understands.
template <class Weight = void>
struct list_piece {
  const vertex_id* ids = nullptr;  ///< the first neighbour
  std::uint32_t count = 0;         ///< neighbours in this piece; 0 ends the list
  std::uint32_t rest = 0;          ///< neighbours in later pieces, for the list alone
  const void* next = nullptr;      ///< what comes after, for the list alone

  /// Weights of the neighbours, in the same order. They follow the room for ids.
  const Weight* weights = nullptr;
};

/// Neighbours that lie side by side in a graph without weights: `count` ids at `ids`. `next` names the piece that
/// follows in the same list, in a form that only the list understands.
template <>
struct list_piece<void> {
  const vertex_id* ids = nullptr;  ///< the first neighbour
  std::uint32_t count = 0;         ///< neighbours in this piece; 0 ends the list
  std::uint32_t rest = 0;          ///< neighbours in later pieces, for the list alone
  const void* next = nullptr;      ///< what comes after, for the list alone
};

/// A graph that kernels read: what all algorithms need of one, whatever the layout of its lists. Trivially copyable.
/// Nobody changes the graph meanwhile.
///
/// A list is a sequence of pieces: one if the layout is contiguous, a page each if it is paged. A thread, or the lanes
/// of a group together, walk it so:
///
///     for (auto piece = graph.first_piece(v); piece.count != 0; piece = graph.next_piece(piece)) {
///       for (std::uint32_t i = rank; i < piece.count; i += lanes) use(piece.ids[i]);
///     }
///
/// `is_ascending` says that the ids of each list rise strictly over all of its pieces. `is_contiguous` says that each
/// list has at most one piece.
template <class G>
concept adjacency = std::is_trivially_copyable_v<G> && requires(const G graph, vertex_id v) {
  typename G::weight_type;  // void without weights
  { graph.vertices() } -> std::same_as<vertex_id>;
  { graph.degree(v) } -> std::same_as<std::uint32_t>;
  { graph.first_piece(v) } -> std::same_as<list_piece<typename G::weight_type>>;
  { graph.next_piece(graph.first_piece(v)) } -> std::same_as<list_piece<typename G::weight_type>>;
  { G::is_ascending } -> std::convertible_to<bool>;
  { G::is_contiguous } -> std::convertible_to<bool>;
};

}  // namespace warpheap
