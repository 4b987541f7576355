// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#include "batches.hpp"

#include <algorithm>
#include <bit>
#include <warpheap/graph/generators.hpp>
#include <warpheap/platform.hpp>

namespace warpheap::bench {
namespace {

// Ids of R-MAT are below the next power of two; a remainder keeps them in the graph and the skew as it is.
struct fold_ids {
  WARPHEAP_FN void operator()(vertex_id* ids, std::uint64_t count, vertex_id vertices) const {
    for (std::uint64_t i = grid_thread_index(); i < count; i += grid_threads()) ids[i] %= vertices;
  }
};

struct move_sources {
  WARPHEAP_FN void operator()(vertex_id* sources, std::uint64_t count, vertex_id first, std::uint64_t among) const {
    for (std::uint64_t i = grid_thread_index(); i < count; i += grid_threads()) {
      sources[i] = first + static_cast<vertex_id>(sources[i] % among);
    }
  }
};

struct copy_drawn {
  WARPHEAP_FN void operator()(csr_view<> rows, std::uint64_t edges, counter_random random, vertex_id* sources,
                              vertex_id* targets, std::uint64_t count) const {
    for (std::uint64_t i = grid_thread_index(); i < count; i += grid_threads()) {
      const std::uint64_t place = random.below(edges, i);
      // The last vertex whose list begins at the place or before it, and so the one whose list has it.
      std::uint64_t low = 0, high = rows.vertices();
      while (high - low > 1) {
        const std::uint64_t middle = (low + high) / 2;
        (rows.offsets()[middle] <= place ? low : high) = middle;
      }
      sources[i] = static_cast<vertex_id>(low);
      targets[i] = rows.neighbours()[place];
    }
  }
};

}  // namespace

edge_batch draw_batch(const batch_shape& shape, std::uint64_t seed) {
  edge_batch batch(shape.count);
  if (shape.skewed) {
    const int scale = std::max(1, static_cast<int>(std::bit_width(shape.vertices - 1)));
    write_edges(rmat_edges(scale, shape.count, seed), batch.sources.data(), batch.targets.data(), shape.count);
    launch(grid_for(shape.count), fold_ids{}, batch.sources.data(), shape.count, shape.vertices);
    launch(grid_for(shape.count), fold_ids{}, batch.targets.data(), shape.count, shape.vertices);
  } else {
    write_edges(uniform_edges(shape.vertices, shape.count, seed), batch.sources.data(), batch.targets.data(),
                shape.count);
  }
  if (shape.sources != 0) {
    const std::uint64_t among = std::min<std::uint64_t>(shape.sources, shape.vertices);
    const auto first = static_cast<vertex_id>(counter_random(~seed).below(shape.vertices - among + 1, 0));
    launch(grid_for(shape.count), move_sources{}, batch.sources.data(), shape.count, first, among);
  }
  synchronise();
  return batch;
}

edge_batch draw_present(const csr_view<>& rows, std::uint64_t edges, std::uint64_t count, std::uint64_t seed) {
  edge_batch batch(count);
  launch(grid_for(count), copy_drawn{}, rows, edges, counter_random(seed), batch.sources.data(), batch.targets.data(),
         count);
  synchronise();
  return batch;
}

}  // namespace warpheap::bench
