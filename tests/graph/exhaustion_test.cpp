// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Graphs on a heap that refuses: each list is as it was or as it is to be, the counts tell, and nothing is lost.

#include <gtest/gtest.h>

#include <cstdint>
#include <graph/model.hpp>
#include <support/schedules.hpp>
#include <warpheap/designs/bulk/bulk.hpp>
#include <warpheap/designs/warp_slab/warp_slab.hpp>

namespace warpheap::test::exhaustion_test {
namespace {

// A heap of another kind than `heap<A>`: it passes on all calls but each `period`-th malloc, which it refuses.
template <class Design>
class stingy_heap {
 public:
  struct handle {
    heap_ref<Design> memory;
    std::uint32_t* calls;
    std::uint32_t period;

    WARPHEAP_FN void* malloc(std::uint64_t bytes) const {
      // Relaxed: any of the threads may be the one that is refused.
      const std::uint32_t call = atomic_view{*calls}.fetch_add(1u, memory_order::relaxed, thread_scope::device);
      return period != 0 && call % period == 0 ? nullptr : memory.malloc(bytes);
    }
    WARPHEAP_FN void free(void* block) const { memory.free(block); }
  };

  explicit stingy_heap(std::uint32_t period) : memory(std::uint64_t{16} << 20), calls_(1), period_(period) {}
  handle ref() const { return {memory.ref(), calls_.data(), period_}; }
  void refuse_each(std::uint32_t period) { period_ = period; }

  heap<Design> memory;

 private:
  device_array<std::uint32_t> calls_;
  std::uint32_t period_;
};

// The lists of a graph, by its rows.
template <class Graph>
std::vector<std::vector<vertex_id>> lists_of(const Graph& graph) {
  const auto rows = graph.to_csr();
  const auto offsets = rows.offsets.to_host();
  const auto neighbours = rows.neighbours.to_host();
  std::vector<std::vector<vertex_id>> lists(graph.vertices());
  for (vertex_id v = 0; v < graph.vertices(); ++v) {
    lists[v].assign(neighbours.begin() + static_cast<std::ptrdiff_t>(offsets[v]),
                    neighbours.begin() + static_cast<std::ptrdiff_t>(offsets[v + 1]));
    std::sort(lists[v].begin(), lists[v].end());
  }
  return lists;
}

// Adds a batch of which the heap may refuse parts. Each list has all of its edges of the batch or none of the new ones;
// the model is made to follow. Returns the number of refused edges.
template <class Graph>
std::uint64_t add_what_fits(Graph& graph, graph_model& model, const edge_batch& batch) {
  graph_model full = model;
  edge_counts expected = full.add(batch);
  const edge_counts counts = device_batch(batch).add_to(graph);
  const auto lists = lists_of(graph);
  std::uint64_t refused = 0;
  for (vertex_id v = 0; v < graph.vertices(); ++v) {
    if (lists[v].size() != full.lists[v].size()) {
      EXPECT_EQ(lists[v].size(), model.lists[v].size()) << "vertex " << v << " has a part of its edges";
      refused += full.lists[v].size() - model.lists[v].size();
    } else {
      model.lists[v] = full.lists[v];
      model.changed[v] = full.changed[v];
    }
  }
  expected.added -= refused;
  expected.refused = refused;
  EXPECT_EQ(counts, expected);
  expect_equal(graph, model);
  expect_changed(graph, model);
  return refused;
}

template <class Layout>
class exhausted_graph : public testing::Test {};
using layouts = testing::Types<contiguous<>, contiguous<slack<>, list_order::unordered, float>, paged<>,
                               paged<128, list_order::unordered>>;
TYPED_TEST_SUITE(exhausted_graph, layouts, );

TYPED_TEST(exhausted_graph, refused_lists_stay_as_they_are) {
  if (!machine_available()) GTEST_SKIP() << "no device";
  for (const std::uint32_t period : {1u, 2u, 5u}) {
    if (looks_at_orders && period != 2) continue;  // other counts, and no other order
    SCOPED_TRACE("each call of " + std::to_string(period));
    stingy_heap<warp_slab> memory{0};
    const graph_options options{.most_vertices = 1000};
    graph<stingy_heap<warp_slab>, TypeParam> tested{memory, 1000, options};
    graph_model model(1000, options);
    random_stream random(period, 4);
    add_what_fits(tested, model, some_edges(random, model, 1500));
    memory.refuse_each(period);
    std::uint64_t refused = 0;
    for (int round = 0; round < 3; ++round) {
      refused += add_what_fits(tested, model, some_edges(random, model, 2000));
      // What is removed needs no memory, though a long list would rather move to a new block.
      const edge_batch fewer = some_present_edges(random, model, 3);
      ASSERT_EQ(device_batch(fewer).remove_from(tested), model.remove(fewer));
      ASSERT_NO_FATAL_FAILURE(expect_equal(tested, model));
      expect_changed(tested, model);
    }
    EXPECT_GT(refused, 0u);
    const edge_batch all = some_present_edges(random, model, 1);
    ASSERT_EQ(device_batch(all).remove_from(tested), model.remove(all));
    EXPECT_EQ(tested.edges(), 0u);
    EXPECT_EQ(memory.memory.statistics().live_bytes, 0u);
  }
}

TYPED_TEST(exhausted_graph, a_full_heap_loses_nothing) {
  if (!machine_available()) GTEST_SKIP() << "no device";
  const heap<bulk> memory{std::uint64_t{1} << 20};
  const graph_options options{.most_vertices = 4000};
  graph<heap<bulk>, TypeParam> tested{memory, 4000, options};
  graph_model model(4000, options);
  random_stream random(1, 5);
  std::uint64_t refused = 0;
  for (int round = 0; round < 30 && refused == 0; ++round) {
    edge_batch batch;
    for (int i = 0; i < 30000; ++i) {
      batch.add(static_cast<vertex_id>(random.below(4000)), static_cast<vertex_id>(random.below(4000)));
    }
    refused += add_what_fits(tested, model, batch);
  }
  EXPECT_GT(refused, 0u);
  const edge_batch all = some_present_edges(random, model, 1);
  ASSERT_EQ(device_batch(all).remove_from(tested), model.remove(all));
  EXPECT_EQ(tested.edges(), 0u);
  EXPECT_EQ(memory.statistics().live_bytes, 0u);
  EXPECT_EQ(add_what_fits(tested, model, some_edges(random, model, 2000)), 0u);
}

}  // namespace
}  // namespace warpheap::test::exhaustion_test
