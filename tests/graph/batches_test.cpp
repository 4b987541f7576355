// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Batches as a whole: rows, edge lists, empty batches, batches too large, and graphs that move.

#include <gtest/gtest.h>

#include <cstdint>
#include <graph/model.hpp>
#include <stdexcept>
#include <utility>
#include <warpheap/designs/warp_slab/warp_slab.hpp>

namespace warpheap::test::batches_test {
namespace {

template <class Layout>
class graph_batches : public testing::Test {};
using layouts = testing::Types<contiguous<>, contiguous<slack<>, list_order::ascending, float>,
                               contiguous<power_of_two, list_order::unordered>, paged<>>;
TYPED_TEST_SUITE(graph_batches, layouts, );

constexpr std::uint64_t heap_bytes = std::uint64_t{16} << 20;

TYPED_TEST(graph_batches, rows_go_in_and_come_out) {
  if (!machine_available()) GTEST_SKIP() << "no device";
  const heap<> memory{heap_bytes};
  const graph_options options{.most_vertices = 500};
  graph<heap<>, TypeParam> first{memory, 500, options};
  graph<heap<>, TypeParam> second{memory, 500, options};
  graph_model model(500, options);
  random_stream random(1, 7);
  edge_batch batch = some_edges(random, model, 3000);
  for (int i = 0; i < 300; ++i) batch.add(9, static_cast<vertex_id>(random.below(500)), 5);
  ASSERT_EQ(device_batch(batch).add_to(first), model.add(batch));
  const edge_batch other = some_edges(random, model, 100);
  device_batch(other).add_to(second);
  const auto rows = first.to_csr();
  edge_counts counts;
  if constexpr (std::is_void_v<typename TypeParam::weight_type>) {
    counts = second.assign_csr(rows.offsets.data(), rows.neighbours.data(), first.edges());
  } else {
    counts = second.assign_csr(rows.offsets.data(), rows.neighbours.data(), first.edges(), rows.weights.data());
  }
  EXPECT_EQ(counts, (edge_counts{.offered = first.edges(), .added = first.edges()}));
  ASSERT_NO_FATAL_FAILURE(expect_equal(second, model));
  second.clear_changed();
  // The lists take batches as others do.
  model.changed.assign(500, false);
  const edge_batch more = some_edges(random, model, 2000);
  ASSERT_EQ(device_batch(more).add_to(second), model.add(more));
  ASSERT_NO_FATAL_FAILURE(expect_equal(second, model));
  expect_changed(second, model);
}

// Some batches are served by one block, larger ones by a kernel for each stage.
TYPED_TEST(graph_batches, of_one_edge_up_to_more_than_a_block_serves) {
  if (!machine_available()) GTEST_SKIP() << "no device";
  for (const bool undirected : {false, true}) {
    const heap<> memory{heap_bytes};
    const graph_options options{.undirected = undirected, .most_vertices = 700};
    graph<heap<>, TypeParam> tested{memory, 700, options};
    graph_model model(700, options);
    random_stream random(3, undirected ? 1 : 0);
    for (const std::uint64_t size : {1, 2, 31, 33, 127, 128, 129, 255, 256, 257, 900, 1, 5}) {
      SCOPED_TRACE(std::to_string(size) + " edges");
      edge_batch more = some_edges(random, model, size);
      if (size == 256 || size == 127) {  // all of one source, among them those that make its list a long one
        for (auto& source : more.sources) source = 7;
      }
      ASSERT_EQ(device_batch(more).add_to(tested), model.add(more));
      ASSERT_NO_FATAL_FAILURE(expect_equal(tested, model));
      ASSERT_EQ(device_batch(more).add_to(tested), model.add(more)) << "added twice";
      edge_batch fewer = some_edges(random, model, size / 2 + 1);
      for (std::uint64_t i = 0; i < size / 3; ++i) fewer.add(more.sources[i], more.targets[i]);
      ASSERT_EQ(device_batch(fewer).remove_from(tested), model.remove(fewer));
      ASSERT_NO_FATAL_FAILURE(expect_equal(tested, model));
      expect_changed(tested, model);
    }
  }
}

TYPED_TEST(graph_batches, tell_where_their_time_goes_if_asked) {
  if (!machine_available()) GTEST_SKIP() << "no device";
  constexpr bool has_small = TypeParam::is_contiguous && TypeParam::is_ascending;
  const heap<> memory{heap_bytes};
  graph<heap<>, TypeParam> tested{memory, 700, {.most_vertices = 700}};
  graph_model model(700, {.most_vertices = 700});
  random_stream random(4, 4);
  const edge_batch large = some_edges(random, model, 900);
  const edge_batch small = some_edges(random, model, 20);
  device_batch(small).add_to(tested);
  batch_times times;
  tested.time_batches(&times);
  EXPECT_EQ(times.sum(), 0.0);
  device_batch(large).add_to(tested);
  for (const double stage : {times.sort, times.mark, times.allocate, times.move, times.settle}) EXPECT_GT(stage, 0);
  EXPECT_EQ(times.at_once, 0.0);
  const batch_times first = times;
  device_batch(small).remove_from(tested);
  EXPECT_EQ(times.at_once > 0, has_small);
  EXPECT_EQ(times.sort > first.sort, !has_small);
  EXPECT_GT(times.sum(), first.sum());
  tested.time_batches(nullptr);
  const double all = times.sum();
  device_batch(large).remove_from(tested);
  EXPECT_EQ(times.sum(), all);
}

TYPED_TEST(graph_batches, an_edge_list_replaces_all_edges) {
  if (!machine_available()) GTEST_SKIP() << "no device";
  const heap<> memory{heap_bytes};
  const graph_options options{.most_vertices = 100};
  graph<heap<>, TypeParam> tested{memory, 100, options};
  random_stream random(1, 8);
  for (int round = 0; round < 2; ++round) {
    graph_model model(100, options);
    const edge_batch batch = some_edges(random, model, 400);
    const device_batch given(batch);
    edge_counts counts;
    if constexpr (std::is_void_v<typename TypeParam::weight_type>) {
      counts = tested.assign_edges(given.sources.data(), given.targets.data(), batch.size());
    } else {
      counts = tested.assign_edges(given.sources.data(), given.targets.data(), batch.size(), given.weights.data());
    }
    EXPECT_EQ(counts, model.add(batch));
    ASSERT_NO_FATAL_FAILURE(expect_equal(tested, model));
  }
}

TYPED_TEST(graph_batches, wrong_rows_leave_no_edge) {
  if (!machine_available()) GTEST_SKIP() << "no device";
  struct rows {
    std::vector<std::uint64_t> offsets;
    std::vector<vertex_id> neighbours;
    bool needs_order = false;
  };
  const heap<> memory{heap_bytes};
  {
    graph<heap<>, TypeParam> tested{memory, 3, {.most_vertices = 3}};
    for (const rows& wrong :
         {rows{{0, 2, 1, 3}, {0, 1, 2}}, rows{{0, 1, 2, 4}, {0, 1, 2}}, rows{{1, 1, 2, 3}, {0, 1, 2}},
          rows{{0, 1, 2, 3}, {0, 3, 2}}, rows{{0, 9, 9, 3}, {0, 1, 2}}, rows{{0, 2, 2, 3}, {1, 0, 2}, true},
          rows{{0, 2, 2, 3}, {1, 1, 2}, true}}) {
      if (wrong.needs_order && !TypeParam::is_ascending) continue;
      const device_array<std::uint64_t> offsets(wrong.offsets);
      const device_array<vertex_id> neighbours(wrong.neighbours);
      EXPECT_THROW(tested.assign_csr(offsets.data(), neighbours.data(), 3), std::invalid_argument);
      EXPECT_EQ(tested.edges(), 0u);
      EXPECT_EQ(tested.to_csr().offsets.to_host(), (std::vector<std::uint64_t>{0, 0, 0, 0}));
    }
    const device_array<std::uint64_t> offsets(std::vector<std::uint64_t>{0, 2, 2, 3});
    const device_array<vertex_id> neighbours(std::vector<vertex_id>{1, 2, 0});
    EXPECT_EQ(tested.assign_csr(offsets.data(), neighbours.data(), 3).added, 3u);
    EXPECT_EQ(tested.to_csr().neighbours.to_host(), (std::vector<vertex_id>{1, 2, 0}));
  }
  EXPECT_EQ(memory.statistics().live_bytes, 0u);
}

TEST(graph_batches, empty_batches_and_graphs_do_nothing) {
  if (!machine_available()) GTEST_SKIP() << "no device";
  const heap<> memory{heap_bytes};
  graph<heap<>> tested{memory};
  EXPECT_EQ(tested.add_edges(nullptr, nullptr, 0), edge_counts{});
  EXPECT_EQ(tested.remove_edges(nullptr, nullptr, 0), edge_counts{});
  EXPECT_EQ(tested.remove_vertices(nullptr, 0), vertex_counts{});
  const device_array<vertex_id> ids(3);
  EXPECT_EQ(tested.add_edges(ids.data(), ids.data(), 3), (edge_counts{.offered = 3, .invalid = 3}));
  EXPECT_EQ(tested.remove_vertices(ids.data(), 3), (vertex_counts{.invalid = 3}));
  EXPECT_EQ(tested.edges(), 0u);
  EXPECT_EQ(tested.to_csr().offsets.to_host(), std::vector<std::uint64_t>{0});
  EXPECT_EQ(tested.version(), 0u);
  EXPECT_EQ(tested.changed_vertices().size(), 0u);
  EXPECT_THROW(tested.add_edges(ids.data(), ids.data(), std::uint64_t{1} << 30), std::length_error);
}

TEST(graph_batches, missing_weights_are_zero) {
  if (!machine_available()) GTEST_SKIP() << "no device";
  const heap<> memory{heap_bytes};
  graph<heap<>, contiguous<power_of_two, list_order::ascending, double>> tested{memory, 2, {.most_vertices = 2}};
  const device_array<vertex_id> sources(std::vector<vertex_id>{0, 1});
  const device_array<vertex_id> targets(std::vector<vertex_id>{1, 0});
  EXPECT_EQ(tested.add_edges(sources.data(), targets.data(), 2).added, 2u);
  EXPECT_EQ(tested.to_csr().weights.to_host(), (std::vector<double>{0, 0}));
}

TEST(graph_batches, a_graph_moves_with_its_edges) {
  if (!machine_available()) GTEST_SKIP() << "no device";
  const heap<> memory{heap_bytes};
  {
    graph<heap<>> first{memory, 10, {.most_vertices = 10}};
    graph_model model(10, {});
    edge_batch batch;
    batch.add(1, 2);
    batch.add(3, 4);
    ASSERT_EQ(device_batch(batch).add_to(first), model.add(batch));
    const graph<heap<>> second{std::move(first)};
    expect_equal(second, model);
  }
  EXPECT_EQ(memory.statistics().live_bytes, 0u);
}

}  // namespace
}  // namespace warpheap::test::batches_test
