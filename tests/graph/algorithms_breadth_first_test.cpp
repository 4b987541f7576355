// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Distances against a search on the host, for each form of lists.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <support/scale.hpp>
#include <vector>
#include <warpheap/graph/algorithms.hpp>
#include <warpheap/platform.hpp>

#include "karate_club.hpp"
#include "static_graphs.hpp"

namespace warpheap::test::breadth_first_test {
namespace {

std::vector<std::uint32_t> expected_distances(const neighbour_lists& lists, vertex_id source) {
  std::vector<std::uint32_t> distances(lists.size(), unreachable);
  std::vector<vertex_id> queue{source};
  distances[source] = 0;
  for (std::size_t at = 0; at < queue.size(); ++at) {
    for (const vertex_id each : lists[queue[at]]) {
      if (distances[each] != unreachable) continue;
      distances[each] = distances[queue[at]] + 1;
      queue.push_back(each);
    }
  }
  return distances;
}

template <adjacency G>
void expect_distances(const G& graph, const std::vector<std::uint32_t>& expected, vertex_id source,
                      breadth_first_workspace& workspace) {
  const device_array<std::uint32_t> distances(expected.size());
  const breadth_first_result result = breadth_first(graph, source, distances.data(), workspace);
  EXPECT_EQ(distances.to_host(), expected);
  std::uint64_t reached = 0;
  std::uint32_t depth = 0;
  for (const std::uint32_t each : expected) {
    if (each == unreachable) continue;
    ++reached;
    depth = std::max(depth, each);
  }
  EXPECT_EQ(result.reached, reached);
  EXPECT_EQ(result.depth, depth);
}

void expect_in_all_forms(const neighbour_lists& lists, const std::vector<vertex_id>& sources) {
  const static_graph graph(lists);
  breadth_first_workspace workspace;
  for (const vertex_id source : sources) {
    const std::vector<std::uint32_t> expected = expected_distances(lists, source);
    expect_distances(graph.contiguous(), expected, source, workspace);
    expect_distances(graph.paged(), expected, source, workspace);
    expect_distances(graph.unordered(), expected, source, workspace);
  }
}

TEST(breadth_first, of_the_karate_club) { expect_in_all_forms(lists_of(34, karate_club(), true), {0, 16, 33}); }

TEST(breadth_first, of_random_graphs_with_hubs_leaves_vertices_out) {
  const auto vertices = static_cast<vertex_id>(scaled(1000, 50000));
  const neighbour_lists undirected = lists_of(vertices, random_edges(vertices, vertices, 3, 1), true);
  const std::vector<std::uint32_t> distances = expected_distances(undirected, 0);
  ASSERT_EQ(distances.back(), unreachable);
  expect_in_all_forms(undirected, {0, 5, vertices - 1});
  expect_in_all_forms(lists_of(vertices, random_edges(vertices, vertices * 2, 3, 2), false), {0, 5});
}

TEST(breadth_first, of_paths_that_end_at_any_level_of_a_turn) {
  // The host reads every 16 levels; paths end before, at and after such a level, and three frontiers take turns.
  for (const vertex_id length : {1u, 2u, 3u, 14u, 15u, 16u, 17u, 18u, 33u, 50u}) {
    std::vector<vertex_pair> edges;
    for (vertex_id v = 0; v + 1 < length; ++v) edges.emplace_back(v, v + 1);
    expect_in_all_forms(lists_of(length, edges, false), {0, length - 1});
    expect_in_all_forms(lists_of(length, edges, true), {length / 2});
  }
}

TEST(breadth_first, of_stars_from_centre_and_leaf) {
  for (const vertex_id leaves : {64u, 65u, 300u}) {
    expect_in_all_forms(lists_of(leaves + 1, star_edges(leaves), true), {0, leaves});
    expect_in_all_forms(lists_of(leaves + 1, star_edges(leaves), false), {0, leaves});
  }
}

TEST(breadth_first, over_hubs_that_share_their_neighbours) {
  // Two centres: each leaf is found by many lanes at once, and counted once.
  std::vector<vertex_pair> edges = star_edges(300);
  for (vertex_id leaf = 1; leaf <= 300; ++leaf) edges.emplace_back(301, leaf);
  expect_in_all_forms(lists_of(302, edges, true), {0, 1, 301});
}

TEST(breadth_first, of_a_frontier_with_more_vertices_than_threads_run_at_once) {
  // A centre, its children, and a child of each: none of the latter is found if a warp takes one turn only.
  const vertex_id children = describe_machine().multiprocessors * 2048 + 500;
  std::vector<vertex_pair> edges = star_edges(children);
  for (vertex_id child = 1; child <= children; ++child) edges.emplace_back(child, children + child);
  const neighbour_lists lists = lists_of(2 * children + 1, edges, false);
  const static_graph graph(lists);
  breadth_first_workspace workspace;
  expect_distances(graph.contiguous(), expected_distances(lists, 0), 0, workspace);
}

TEST(breadth_first, refuses_a_source_that_is_not_there) {
  const device_array<std::uint32_t> distances(34);
  const static_graph graph(lists_of(34, karate_club(), true));
  EXPECT_THROW(breadth_first(graph.contiguous(), 34, distances.data()), std::out_of_range);
  EXPECT_THROW(breadth_first(static_graph(neighbour_lists(0)).paged(), 0, distances.data()), std::out_of_range);
}

}  // namespace
}  // namespace warpheap::test::breadth_first_test
