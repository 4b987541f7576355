// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>
#include <warpheap/graph/generators.hpp>
#include <warpheap/platform.hpp>

namespace warpheap::test {

using edge_list = std::vector<std::pair<vertex_id, vertex_id>>;

/// Edges from the arrays of their ends.
inline edge_list zipped(const std::vector<vertex_id>& from, const std::vector<vertex_id>& to) {
  edge_list edges;
  for (std::size_t i = 0; i < from.size(); ++i) edges.emplace_back(from[i], to[i]);
  return edges;
}

/// The edges that kernels write.
template <edge_generator G>
edge_list made(const G& generator, grid_shape shape = {0, 256}) {
  const std::uint64_t room = count_edges(generator);
  const device_array<vertex_id> sources(room), targets(room);
  EXPECT_EQ(write_edges(generator, sources.data(), targets.data(), room, shape), room);
  return zipped(sources.to_host(), targets.to_host());
}

/// The edges that a loop on the host makes, for generators that need no memory.
template <edge_generator G>
edge_list by_hand(const G& generator) {
  const std::uint64_t room = count_edges(generator);
  std::vector<vertex_id> from(room), to(room);
  std::uint64_t at = 0;
  for (std::uint64_t item = 0; item < generator.items(); ++item) {
    std::uint32_t count = 0;
    generator.edges_of(item, generation::edge_counter{&count});
    if (at + count > room) {
      ADD_FAILURE() << "item " << item << " has edges that count_edges did not count";
      break;
    }
    generator.edges_of(item, generation::edge_writer{from.data(), to.data(), &at});
  }
  return zipped(from, to);
}

/// A number that stands for all edges and their order.
inline std::uint64_t checksum(const edge_list& edges) {
  std::uint64_t sum = 0;
  for (const auto& [a, b] : edges) sum = mix(sum ^ (std::uint64_t{a} << 32 | b));
  return sum;
}

/// Number of ends that each vertex has; fails for ids that are of no vertex.
inline std::vector<std::uint32_t> degrees(const edge_list& edges, vertex_id vertices) {
  std::vector<std::uint32_t> degree(vertices);
  for (const auto& [a, b] : edges) {
    if (a >= vertices || b >= vertices) {
      ADD_FAILURE() << "edge " << a << " " << b << " of a graph of " << vertices << " vertices";
      continue;
    }
    ++degree[a];
    ++degree[b];
  }
  return degree;
}

/// True if no edge is a loop, or is there twice in one direction or in both.
inline bool is_simple(edge_list edges) {
  for (auto& [a, b] : edges) {
    if (a == b) return false;
    if (a > b) std::swap(a, b);
  }
  std::sort(edges.begin(), edges.end());
  return std::adjacent_find(edges.begin(), edges.end()) == edges.end();
}

}  // namespace warpheap::test
