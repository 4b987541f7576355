// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Algorithms on dynamic graphs, after batches that add and remove edges, give what they give on the same edges in
// compressed sparse rows. Other tests compare that with the definitions.

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>
#include <warpheap/designs/warp_slab/warp_slab.hpp>
#include <warpheap/graph.hpp>
#include <warpheap/graph/algorithms.hpp>
#include <warpheap/heap.hpp>

#include "static_graphs.hpp"

namespace warpheap::test::dynamic_test {
namespace {

constexpr vertex_id vertices = 500;

/// What all algorithms say of a graph.
struct answers {
  std::vector<float> ranks;
  std::vector<std::uint64_t> triangles;
  std::vector<std::uint32_t> distances;
  std::uint64_t reached;
};

template <adjacency G>
answers answers_of(const G& graph) {
  const device_array<float> ranks(vertices);
  const device_array<std::uint64_t> triangles(vertices);
  const device_array<std::uint32_t> distances(vertices);
  page_rank(graph, {.fixed_iterations = 10}, ranks.data());
  triangle_count(graph, {.per_vertex = triangles.data()});
  const breadth_first_result search = breadth_first(graph, 5, distances.data());
  return {ranks.to_host(), triangles.to_host(), distances.to_host(), search.reached};
}

template <class Layout>
class dynamic_graph_algorithms : public testing::Test {};
using layouts = testing::Types<contiguous<>, paged<64, list_order::unordered, float>>;
TYPED_TEST_SUITE(dynamic_graph_algorithms, layouts, );

TYPED_TEST(dynamic_graph_algorithms, agree_with_compressed_sparse_rows_after_each_batch) {
  heap<warp_slab> memory{std::uint64_t{32} << 20};
  graph<heap<warp_slab>, TypeParam> tested{memory, vertices, {.undirected = true}};
  std::vector<vertex_pair> edges;
  for (const std::uint64_t round : {1, 2}) {
    std::vector<vertex_pair> batch = random_edges(vertices, 2500, 3, round);
    edges.insert(edges.end(), batch.begin(), batch.end());
    // The first half of the batch goes again in either direction, so lists are shorter than their blocks.
    for (const bool adds : {true, false}) {
      if (!adds) batch.resize(batch.size() / 2);
      std::vector<vertex_id> sources;
      std::vector<vertex_id> targets;
      for (const auto& [from, to] : batch) {
        sources.push_back(from);
        targets.push_back(to);
      }
      const device_array<vertex_id> from(sources);
      const device_array<vertex_id> to(targets);
      if (adds) {
        tested.add_edges(from.data(), to.data(), from.size());
      } else {
        tested.remove_edges(from.data(), to.data(), from.size());
        const neighbour_lists removed = lists_of(vertices, batch, true);
        std::erase_if(edges, [&](const vertex_pair& edge) {
          return std::binary_search(removed[edge.first].begin(), removed[edge.first].end(), edge.second);
        });
      }
      const neighbour_lists lists = lists_of(vertices, edges, true);
      const answers expected = answers_of(static_graph(lists).contiguous());
      const answers got = answers_of(tested.ref());
      EXPECT_EQ(got.ranks, expected.ranks);
      EXPECT_EQ(got.triangles, expected.triangles);
      EXPECT_EQ(got.distances, expected.distances);
      EXPECT_EQ(got.reached, expected.reached);
    }
  }
}

}  // namespace
}  // namespace warpheap::test::dynamic_test
