// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

#include "batches.hpp"
#include "model.hpp"
#include "row_builder.hpp"

// What verifies the graph benchmark, and what its cases work on.

namespace warpheap::bench::graph_bench_test {

using ids = std::vector<vertex_id>;

// 0 -> 1, 2; 1 -> 0; 2 has none.
host_rows small() { return {{0, 2, 3, 3}, {1, 2, 0}}; }

TEST(graph_bench_model, follows_what_a_graph_does_right) {
  graph_model model(small());
  // Edge 2 -> 0 is new, 0 -> 1 present, 2 -> 2 a loop, and 2 -> 0 repeated.
  const edge_counts added{.offered = 4, .added = 1, .present = 1, .repeated = 1, .loops = 1};
  EXPECT_EQ(model.follow({2, 0, 2, 2}, {0, 1, 2, 0}, true, added, {{0, 2, 3, 4}, {1, 2, 0, 0}}), "");
  const edge_counts removed{.offered = 2, .removed = 1, .absent = 1};
  EXPECT_EQ(model.follow({0, 1}, {2, 2}, false, removed, {{0, 1, 2, 3}, {1, 0, 0}}), "");
  EXPECT_EQ(model.edges(), 3u);
}

TEST(graph_bench_model, tells_a_wrong_list_and_a_wrong_count) {
  const edge_counts one{.offered = 1, .added = 1};
  EXPECT_EQ(graph_model(small()).follow({2}, {0}, true, one, {{0, 2, 3, 4}, {1, 2, 0, 1}}),
            "the list of vertex 2 is wrong: it has 1 neighbours, and should have 1");
  EXPECT_EQ(graph_model(small()).follow({2}, {0}, true, {.offered = 1, .present = 1}, {{0, 2, 3, 4}, {1, 2, 0, 0}}),
            "the batch counts 0 edges as added, and should count 1");
  // An edge that nobody added or removed.
  EXPECT_EQ(graph_model(small()).follow({2}, {0}, true, one, {{0, 2, 2, 3}, {1, 2, 0}}),
            "the list of vertex 1 is wrong: it has 0 neighbours, and should have 1");
  EXPECT_EQ(graph_model(small()).compare({{0, 2, 3}, {1, 2, 0}}), "the number of vertices is another one");
}

TEST(graph_bench_model, takes_a_refused_run_whole_or_not_at_all) {
  const edge_counts refused{.offered = 2, .refused = 2};
  EXPECT_EQ(graph_model(small()).follow({2, 2}, {0, 1}, true, refused, small()), "");
  const edge_counts half{.offered = 2, .added = 1, .refused = 1};
  EXPECT_NE(graph_model(small()).follow({2, 2}, {0, 1}, true, half, {{0, 2, 3, 4}, {1, 2, 0, 0}}), "");
  // A list that stays as it was without a refusal is an error.
  EXPECT_NE(graph_model(small()).follow({2}, {0}, true, {.offered = 1, .added = 1}, small()), "");
}

TEST(graph_bench_model, ranks_and_triangles_of_a_graph_that_is_known) {
  // Two vertices that point at each other, and one that both lack: its rank goes to all.
  const graph_model pair({{0, 1, 2, 2}, {1, 0}});
  const std::vector<double> ranks = pair.page_rank(0.5, 1);
  EXPECT_NEAR(ranks[0], 0.5 / 3 + 0.5 * (1.0 / 3 + 1.0 / 9), 1e-15);
  EXPECT_NEAR(ranks[2], 0.5 / 3 + 0.5 * (1.0 / 9), 1e-15);
  // Four vertices of which each two share an edge.
  const graph_model complete({{0, 3, 6, 9, 12}, {1, 2, 3, 0, 2, 3, 0, 1, 3, 0, 1, 2}});
  EXPECT_EQ(complete.triangles(), 4u);
}

struct read_back {
  std::set<std::pair<vertex_id, vertex_id>> edges;
  explicit read_back(const csr_view<>& rows) {
    std::vector<std::uint64_t> offsets(std::uint64_t{rows.vertices()} + 1);
    device_copy(offsets.data(), rows.offsets(), offsets.size() * sizeof(std::uint64_t));
    ids neighbours(offsets.back());
    device_copy(neighbours.data(), rows.neighbours(), neighbours.size() * sizeof(vertex_id));
    for (vertex_id v = 0; v < rows.vertices(); ++v) {
      for (std::uint64_t i = offsets[v]; i < offsets[v + 1]; ++i) {
        EXPECT_TRUE(i == offsets[v] || neighbours[i - 1] < neighbours[i]);
        edges.emplace(v, neighbours[i]);
      }
    }
  }
};

TEST(graph_bench_rows, are_the_union_of_both_lists_without_loops_and_repeats) {
  if (!machine_available()) GTEST_SKIP() << "no device";
  for (const bool mirrored : {false, true}) {
    // Vertices without edges are first, last and in between.
    const ids from{3, 3, 5, 4, 3}, to{5, 4, 3, 4, 5}, more_from{5, 8}, more_to{4, 5};
    const device_array<vertex_id> sources(from), targets(to), more_sources(more_from), more_targets(more_to);
    std::set<std::pair<vertex_id, vertex_id>> expected;
    const auto expect = [&](const ids& a, const ids& b) {
      for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i] != b[i]) expected.emplace(a[i], b[i]);
        if (a[i] != b[i] && mirrored) expected.emplace(b[i], a[i]);
      }
    };
    expect(from, to);
    expect(more_from, more_to);
    row_builder builder(11);
    EXPECT_EQ(
        builder.build({sources.data(), targets.data(), 5}, {more_sources.data(), more_targets.data(), 2}, mirrored),
        expected.size());
    EXPECT_EQ(read_back(builder.rows()).edges, expected);
    EXPECT_EQ(builder.build({nullptr, nullptr, 0}, {nullptr, nullptr, 0}, mirrored), 0u);
    EXPECT_TRUE(read_back(builder.rows()).edges.empty());
  }
}

TEST(graph_bench_batches, draw_within_the_graph_and_the_same_again) {
  if (!machine_available()) GTEST_SKIP() << "no device";
  for (const bool skewed : {false, true}) {
    const batch_shape shape{.vertices = 1003, .count = 5000, .skewed = skewed, .sources = 10};
    const edge_batch batch = draw_batch(shape, 7);
    const ids sources = batch.sources.to_host(), targets = batch.targets.to_host();
    const std::set<vertex_id> distinct(sources.begin(), sources.end());
    EXPECT_LE(distinct.size(), 10u);
    EXPECT_GE(distinct.size(), 8u);
    EXPECT_EQ(*distinct.rbegin() - *distinct.begin() < 10, true);
    EXPECT_LT(*distinct.rbegin(), 1003u);
    for (const vertex_id target : targets) EXPECT_LT(target, 1003u);
    EXPECT_EQ(draw_batch(shape, 7).targets.to_host(), targets);
    EXPECT_NE(draw_batch(shape, 8).targets.to_host(), targets);
  }
}

TEST(graph_bench_batches, present_edges_are_edges_and_each_can_be_drawn) {
  if (!machine_available()) GTEST_SKIP() << "no device";
  const std::vector<std::uint64_t> places{0, 0, 2, 2, 3, 6, 6};
  const ids neighbours{4, 5, 0, 1, 2, 3};
  const device_array<std::uint64_t> offsets(places);
  const device_array<vertex_id> lists(neighbours);
  const csr_view<> rows(6, offsets.data(), lists.data());
  const edge_batch batch = draw_present(rows, 6, 500, 3);
  std::set<std::pair<vertex_id, vertex_id>> drawn;
  const ids sources = batch.sources.to_host(), targets = batch.targets.to_host();
  for (std::size_t i = 0; i < sources.size(); ++i) drawn.emplace(sources[i], targets[i]);
  EXPECT_EQ(drawn, read_back(rows).edges);
}

}  // namespace warpheap::bench::graph_bench_test
