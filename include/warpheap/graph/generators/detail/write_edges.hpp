// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>
#include <warpheap/graph/generators/edge_generator.hpp>
#include <warpheap/platform.hpp>

namespace warpheap {
namespace generation {

// Items that one thread looks at in turn. The edges of such a chunk lie side by side, so their order is that of items.
inline constexpr std::uint64_t chunk_items = 64;

/// Calls `use(item)` for each item of chunk `chunk`.
template <class Use>
WARPHEAP_FN void for_each_item(std::uint64_t chunk, std::uint64_t items, Use use) {
  const std::uint64_t first = chunk * chunk_items;
  const std::uint64_t last = items - first < chunk_items ? items : first + chunk_items;
  for (std::uint64_t item = first; item < last; ++item) use(item);
}

/// Counts edges.
struct edge_counter {
  std::uint32_t* count;  ///< goes up by one for each edge

  WARPHEAP_FN void operator()(vertex_id, vertex_id) const { ++*count; }
};

/// Writes edges one after another.
struct edge_writer {
  vertex_id* sources;  ///< first ends
  vertex_id* targets;  ///< second ends
  std::uint64_t* at;   ///< place of the next edge

  WARPHEAP_FN void operator()(vertex_id a, vertex_id b) const {
    sources[*at] = a;
    targets[*at] = b;
    ++*at;
  }
};

/// Writes the number of edges of each chunk.
struct count_chunks {
  template <class G>
  WARPHEAP_FN void operator()(G generator, std::uint64_t chunks, std::uint64_t* counts) const {
    for (std::uint64_t chunk = grid_thread_index(); chunk < chunks; chunk += grid_threads()) {
      std::uint32_t count = 0;
      for_each_item(chunk, generator.items(),
                    [&](std::uint64_t item) { generator.edges_of(item, edge_counter{&count}); });
      counts[chunk] = count;
    }
  }
};

/// Writes the edges of each chunk from the chunk's place on.
struct write_chunks {
  template <class G>
  WARPHEAP_FN void operator()(G generator, std::uint64_t chunks, const std::uint64_t* places, vertex_id* sources,
                              vertex_id* targets) const {
    for (std::uint64_t chunk = grid_thread_index(); chunk < chunks; chunk += grid_threads()) {
      std::uint64_t at = places[chunk];
      const edge_writer write{sources, targets, &at};
      for_each_item(chunk, generator.items(), [&](std::uint64_t item) { generator.edges_of(item, write); });
    }
  }
};

/// Writes the edges of each item, all of which have equally many.
struct write_items {
  template <class G>
  WARPHEAP_FN void operator()(G generator, vertex_id* sources, vertex_id* targets) const {
    for (std::uint64_t item = grid_thread_index(); item < generator.items(); item += grid_threads()) {
      std::uint64_t at = item * G::edges_per_item;
      generator.edges_of(item, edge_writer{sources, targets, &at});
    }
  }
};

/// Threads for `work` pieces of work, each in a loop if there are many more.
inline grid_shape shape_for(std::uint64_t work) {
  constexpr std::uint64_t most = std::uint64_t{1} << (this_backend == backend::host ? 8 : 20);
  return grid_shape::covering(work < most ? work : most);
}

/// Where the edges of each chunk begin, and after the last chunk their number in all.
template <edge_generator G>
std::vector<std::uint64_t> chunk_places(const G& generator, grid_shape shape) {
  const std::uint64_t chunks = divide_up(generator.items(), chunk_items);
  const device_array<std::uint64_t> counts(chunks);
  launch(shape, count_chunks{}, generator, chunks, counts.data());
  std::vector<std::uint64_t> places = counts.to_host();
  std::uint64_t sum = 0;
  for (std::uint64_t& place : places) {
    const std::uint64_t count = place;
    place = sum;
    sum += count;
  }
  places.push_back(sum);
  return places;
}

inline void require_room(std::uint64_t edges, std::uint64_t room) {
  if (edges <= room) return;
  throw std::length_error("write_edges: the graph has " + std::to_string(edges) +
                          " edges, and the arrays have room for " + std::to_string(room) + "; ask count_edges before");
}

}  // namespace generation

}  // namespace warpheap
