// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <warpheap/graph.hpp>

#include "row_builder.hpp"

namespace warpheap::bench {

/// A batch of edges in device memory.
struct edge_batch {
  device_array<vertex_id> sources;
  device_array<vertex_id> targets;

  explicit edge_batch(std::uint64_t count) : sources(count), targets(count) {}
  std::uint64_t size() const { return sources.size(); }
  edge_view view() const { return {sources.data(), targets.data(), sources.size()}; }
};

/// How the ends of edges are drawn.
struct batch_shape {
  vertex_id vertices;         ///< of the graph
  std::uint64_t count;        ///< edges
  bool skewed = false;        ///< as R-MAT does, in place of uniformly
  std::uint64_t sources = 0;  ///< if not 0: so many neighbouring vertices are the sources, drawn uniformly
};

/// Draws a batch. It depends on the seed and the shape only, and not on the backend.
edge_batch draw_batch(const batch_shape& shape, std::uint64_t seed);

/// Draws `count` places among the edges of `rows`, each as likely as any other; some may be drawn twice.
edge_batch draw_present(const csr_view<>& rows, std::uint64_t edges, std::uint64_t count, std::uint64_t seed);

}  // namespace warpheap::bench
