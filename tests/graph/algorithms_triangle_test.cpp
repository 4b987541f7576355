// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Triangles against exact counts, in total and of each vertex, for each form of lists.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <support/scale.hpp>
#include <vector>
#include <warpheap/graph/algorithms.hpp>
#include <warpheap/platform.hpp>

#include "karate_club.hpp"
#include "static_graphs.hpp"

namespace warpheap::test::triangle_test {
namespace {

/// Triangles of each vertex: edges among its neighbours, counted one by one.
std::vector<std::uint64_t> expected_triangles(const neighbour_lists& lists) {
  std::vector<std::uint64_t> triangles(lists.size(), 0);
  std::vector<bool> is_neighbour(lists.size(), false);
  for (std::size_t v = 0; v < lists.size(); ++v) {
    for (const vertex_id each : lists[v]) is_neighbour[each] = true;
    for (const vertex_id each : lists[v]) {
      for (const vertex_id other : lists[each]) triangles[v] += is_neighbour[other] && each < other ? 1 : 0;
    }
    for (const vertex_id each : lists[v]) is_neighbour[each] = false;
  }
  return triangles;
}

template <adjacency G>
void expect_triangles(const G& graph, const std::vector<std::uint64_t>& expected, std::uint64_t edges,
                      triangle_workspace& workspace) {
  std::uint64_t corners = 0;
  for (const std::uint64_t each : expected) corners += each;
  ASSERT_EQ(corners % 3, 0u);
  // What was in the array before does not count.
  const device_array<std::uint64_t> per_vertex(std::vector<std::uint64_t>(expected.size(), 99));
  const triangle_result result = triangle_count(graph, {.per_vertex = per_vertex.data()}, workspace);
  EXPECT_EQ(result.triangles, corners / 3);
  EXPECT_EQ(result.edges, edges);
  EXPECT_EQ(per_vertex.to_host(), expected);
  EXPECT_EQ(triangle_count(graph, {}, workspace).triangles, corners / 3);
}

/// Counts in each form of lists; one workspace serves all.
std::uint64_t expect_in_all_forms(const neighbour_lists& lists) {
  const static_graph graph(lists);
  const std::vector<std::uint64_t> expected = expected_triangles(lists);
  std::uint64_t ends = 0;
  for (const auto& list : lists) ends += list.size();
  triangle_workspace workspace;
  expect_triangles(graph.contiguous(), expected, ends / 2, workspace);
  expect_triangles(graph.paged(), expected, ends / 2, workspace);
  expect_triangles(graph.unordered(), expected, ends / 2, workspace);
  expect_triangles(graph.unordered_paged(), expected, ends / 2, workspace);
  return triangle_count(graph.contiguous()).triangles;
}

TEST(triangle_count, of_the_karate_club_is_45) {
  const neighbour_lists lists = lists_of(34, karate_club(), true);
  EXPECT_EQ(triangle_count(static_graph(lists).paged()).edges, 78u);
  EXPECT_EQ(expect_in_all_forms(lists), 45u);
}

TEST(triangle_count, of_complete_graphs) {
  // Lists of one page, of one id more, and of more than one span.
  for (const vertex_id n : {1u, 2u, 3u, 16u, 17u, 66u}) {
    std::vector<vertex_pair> edges;
    for (vertex_id a = 0; a < n; ++a) {
      for (vertex_id b = a + 1; b < n; ++b) edges.emplace_back(a, b);
    }
    EXPECT_EQ(expect_in_all_forms(lists_of(n, edges, true)), std::uint64_t{n} * (n - 1) * (n - 2) / 6) << n;
  }
}

TEST(triangle_count, of_stars_is_zero) { EXPECT_EQ(expect_in_all_forms(lists_of(501, star_edges(500), true)), 0u); }

TEST(triangle_count, of_wheels) {
  // A centre and a ring: each edge of the ring makes a triangle.
  for (const vertex_id ring : {64u, 65u, 300u}) {
    std::vector<vertex_pair> edges = star_edges(ring);
    for (vertex_id i = 0; i < ring; ++i) edges.emplace_back(1 + i, 1 + (i + 1) % ring);
    EXPECT_EQ(expect_in_all_forms(lists_of(ring + 1, edges, true)), ring);
  }
}

TEST(triangle_count, of_hubs_that_share_their_neighbours) {
  // Each hub keeps the later hubs, which lie in spans far apart: a warp adds up more spans than it has lanes.
  constexpr vertex_id vertices = 2200;
  const std::vector<vertex_id> hubs{0, 500, 1500, vertices - 1};
  std::vector<vertex_pair> edges;
  for (const vertex_id hub : hubs) {
    for (vertex_id v = 0; v < vertices; ++v) edges.emplace_back(hub, v);
  }
  EXPECT_EQ(expect_in_all_forms(lists_of(vertices, edges, true)), (vertices - 4) * 6 + 4);
}

TEST(triangle_count, of_random_graphs_with_hubs_and_vertices_without_edges) {
  const auto vertices = static_cast<vertex_id>(scaled(800, 20000));
  for (const std::uint64_t seed : {1, 2}) {
    const neighbour_lists lists = lists_of(vertices, random_edges(vertices, vertices * 6, 4, seed), true);
    ASSERT_TRUE(std::any_of(lists.begin(), lists.end(), [](const auto& list) { return list.empty(); }));
    EXPECT_GT(expect_in_all_forms(lists), 0u);
  }
}

TEST(triangle_count, of_graphs_without_edges_or_vertices) {
  EXPECT_EQ(expect_in_all_forms(neighbour_lists(0)), 0u);
  EXPECT_EQ(expect_in_all_forms(neighbour_lists(1)), 0u);
  EXPECT_EQ(expect_in_all_forms(neighbour_lists(70)), 0u);
}

TEST(triangle_count, ignores_loops) {
  neighbour_lists lists = lists_of(100, random_edges(100, 700, 2, 3), true);
  const std::uint64_t without = triangle_count(static_graph(lists).contiguous()).triangles;
  for (vertex_id v = 0; v < 100; v += 3) {
    lists[v].push_back(v);
    std::sort(lists[v].begin(), lists[v].end());
  }
  EXPECT_EQ(triangle_count(static_graph(lists).contiguous()).triangles, without);
  EXPECT_EQ(triangle_count(static_graph(lists).unordered_paged()).triangles, without);
}

TEST(triangle_count, in_one_workspace_for_graphs_of_any_size) {
  triangle_workspace workspace;
  for (const vertex_id vertices : {40u, 300u, 90u, 700u}) {
    const neighbour_lists lists = lists_of(vertices, random_edges(vertices, vertices * 5, 3, vertices), true);
    const static_graph graph(lists);
    std::uint64_t ends = 0;
    for (const auto& list : lists) ends += list.size();
    expect_triangles(graph.paged(), expected_triangles(lists), ends / 2, workspace);
  }
}

}  // namespace
}  // namespace warpheap::test::triangle_test
