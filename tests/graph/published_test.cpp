// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The graphs of the Ouroboros paper, against the model; and one that its heap cuts short.

#include <gtest/gtest.h>

#include <cstdint>
#include <graph/model.hpp>
#include <support/scale.hpp>
#include <warpheap/published_graphs.hpp>

namespace warpheap::test::published_test {
namespace {

template <class Graph>
struct parts;
template <class Heap, class Layout>
struct parts<graph<Heap, Layout>> {
  using heap_type = Heap;
};

template <class Graph>
class published_graph : public testing::Test {};
// The toolkit's heap is on a GPU only; the host has another one in its place.
using toolkit_graph = std::conditional_t<this_backend == backend::host, ouro_graph<ouroboros_s_c>, cuda_alloc_graph>;
using graphs = testing::Types<ouro_graph<>, ouro_graph<ouroboros_vl_c>, faim_graph<>,
                              faim_graph<64, list_order::ascending>, toolkit_graph>;
TYPED_TEST_SUITE(published_graph, graphs, );

TYPED_TEST(published_graph, rounds_agree_with_the_model) {
  if (!machine_available()) GTEST_SKIP() << "no device";
  constexpr vertex_id vertices = 200;
  const typename parts<TypeParam>::heap_type memory{std::uint64_t{16} << 20};
  const graph_options options{.most_vertices = vertices};
  TypeParam tested{memory, vertices, options};
  graph_model model(vertices, options);
  random_stream random(5, 1);
  for (std::uint64_t round = 0; round < scaled(3, 8); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const edge_batch more = some_edges(random, model, 2000);
    ASSERT_EQ(device_batch(more).add_to(tested), model.add(more));
    ASSERT_NO_FATAL_FAILURE(expect_equal(tested, model));
    const edge_batch fewer = some_present_edges(random, model, round % 2 == 0 ? 2 : 20);
    ASSERT_EQ(device_batch(fewer).remove_from(tested), model.remove(fewer));
    ASSERT_NO_FATAL_FAILURE(expect_equal(tested, model));
  }
  const edge_batch all = some_present_edges(random, model, 1);
  ASSERT_EQ(device_batch(all).remove_from(tested), model.remove(all));
  EXPECT_EQ(tested.edges(), 0u);
  EXPECT_EQ(tested.memory().block_bytes, 0u);
}

// Pages for a part of the edges: what is refused is counted, what went in is there, and all pages come back.
TEST(published_pages, that_run_out_refuse_whole_lists) {
  if (!machine_available()) GTEST_SKIP() << "no device";
  constexpr vertex_id vertices = 100;
  const page_queue_heap memory{vertices * 64 * 3 / 2};  // each list needs two pages, so a half of them gets both
  const graph_options options{.most_vertices = vertices};
  {
    faim_graph<> tested{memory, vertices, options};
    edge_batch batch;
    for (vertex_id v = 0; v < vertices; ++v) {
      for (vertex_id i = 1; i <= 20; ++i) batch.add(v, (v + i) % vertices, 0);
    }
    const edge_counts counts = device_batch(batch).add_to(tested);
    EXPECT_EQ(counts.offered, 20 * vertices);
    EXPECT_EQ(counts.added + counts.refused, counts.offered);
    EXPECT_GE(counts.added, vertices / 2 * 20);
    EXPECT_GT(counts.refused, 0u);
    EXPECT_EQ(counts.refused % 20, 0u) << "a list was cut";
    EXPECT_EQ(tested.edges(), counts.added);
    EXPECT_EQ(tested.memory().block_bytes, memory.statistics().live_bytes) << "pages of refused lists are lost";
    EXPECT_EQ(device_batch(batch).remove_from(tested).removed, counts.added);
    EXPECT_EQ(memory.statistics().live_bytes, 0u);
  }
}

}  // namespace
}  // namespace warpheap::test::published_test
