// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>
#include <warpheap/graph/generators/detail/write_edges.hpp>
#include <warpheap/graph/generators/edge_generator.hpp>
#include <warpheap/platform.hpp>

namespace warpheap {

/// The number of edges that `generator` makes. Known without work if all items have equally many; else a kernel counts.
/// Host side only; throws what `launch` throws.
template <edge_generator G>
std::uint64_t count_edges(const G& generator) {
  if constexpr (G::edges_per_item != 0) {
    return generator.items() * G::edges_per_item;
  } else {
    const std::uint64_t chunks = divide_up(generator.items(), generation::chunk_items);
    return generation::chunk_places(generator, generation::shape_for(chunks)).back();
  }
}

/// Writes all edges of `generator` to two arrays in device memory with room for `room` edges, in the order of items.
/// Returns their number. Throws `std::length_error`, and writes nothing, if there is no room for them.
///
/// `shape` is the grid that works; the edges and their order do not depend on it. On a GPU the last launch may still be
/// running when the call returns, so what follows on the default stream sees the edges. Host side only.
template <edge_generator G>
std::uint64_t write_edges(const G& generator, vertex_id* sources, vertex_id* targets, std::uint64_t room,
                          grid_shape shape = {0, 256}) {
  if constexpr (G::edges_per_item != 0) {
    const std::uint64_t edges = count_edges(generator);
    generation::require_room(edges, room);
    if (shape.blocks == 0) shape = generation::shape_for(generator.items());
    launch(shape, generation::write_items{}, generator, sources, targets);
    return edges;
  } else {
    const std::uint64_t chunks = divide_up(generator.items(), generation::chunk_items);
    if (shape.blocks == 0) shape = generation::shape_for(chunks);
    const std::vector<std::uint64_t> places = generation::chunk_places(generator, shape);
    generation::require_room(places.back(), room);
    const device_array<std::uint64_t> starts(places);
    launch(shape, generation::write_chunks{}, generator, chunks, starts.data(), sources, targets);
    // The places are in use until the kernel ends.
    synchronise();
    return places.back();
  }
}

}  // namespace warpheap
