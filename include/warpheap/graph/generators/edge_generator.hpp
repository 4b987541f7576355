// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <warpheap/graph/adjacency.hpp>
#include <warpheap/platform/device.hpp>

namespace warpheap {

/// Takes an edge and does nothing: for concepts.
struct ignore_edge {
  WARPHEAP_FN void operator()(vertex_id, vertex_id) const {}  ///< takes an edge between two vertices
};

/// A graph as a function: `edges_of(item, emit)` calls `emit(a, b)` for each edge of an item, from 0 to `items() - 1`.
///
/// Items are what the generator likes: edges, vertices, cells. The edges of an item depend on the item and on the seed
/// only, so any thread can make them, on the host or on a GPU, and the graph is the same. Each undirected edge is made
/// once, in one direction. `edges_per_item` is how many edges each item has, or 0 if that varies.
template <class G>
concept edge_generator = std::is_trivially_copyable_v<G> && requires(const G generator, std::uint64_t item) {
  { generator.vertices() } -> std::same_as<vertex_id>;
  { generator.items() } -> std::same_as<std::uint64_t>;
  { G::edges_per_item } -> std::convertible_to<std::uint32_t>;
  generator.edges_of(item, ignore_edge{});
};

}  // namespace warpheap
