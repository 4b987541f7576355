// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Vertices come and go.

#include <gtest/gtest.h>

#include <cstdint>
#include <graph/model.hpp>
#include <set>
#include <stdexcept>
#include <warpheap/designs/warp_slab/warp_slab.hpp>

namespace warpheap::test::vertices_test {
namespace {

template <class Layout>
class graph_vertices : public testing::Test {};
using layouts = testing::Types<contiguous<>, contiguous<slack<>, list_order::unordered, float>, paged<>>;
TYPED_TEST_SUITE(graph_vertices, layouts, );

// Removes vertices from the model, and counts the edges that go.
vertex_counts remove_from(graph_model& model, const std::vector<vertex_id>& ids) {
  vertex_counts counts;
  std::set<vertex_id> leaving;
  for (const vertex_id v : ids) {
    const bool is_there = v < model.lists.size() && !model.gone[v] && leaving.insert(v).second;
    ++(is_there ? counts.removed : counts.invalid);
  }
  for (vertex_id v = 0; v < model.lists.size(); ++v) {
    const std::size_t before = model.lists[v].size();
    std::erase_if(model.lists[v],
                  [&](const auto& edge) { return leaving.contains(v) || leaving.contains(edge.first); });
    counts.removed_edges += before - model.lists[v].size();
    model.changed[v] = model.changed[v] || before != model.lists[v].size() || leaving.contains(v);
  }
  for (const vertex_id v : leaving) model.gone[v] = true;
  return counts;
}

TYPED_TEST(graph_vertices, rounds_of_added_and_removed_vertices_agree_with_the_model) {
  if (!machine_available()) GTEST_SKIP() << "no device";
  for (const bool undirected : {false, true}) {
    const heap<> memory{std::uint64_t{16} << 20};
    const graph_options options{.undirected = undirected, .most_vertices = 1000};
    graph<heap<>, TypeParam> tested{memory, 40, options};
    graph_model model(40, options);
    random_stream random(undirected ? 1 : 2, 6);
    for (int round = 0; round < 5; ++round) {
      const edge_batch more = some_edges(random, model, 800);
      ASSERT_EQ(device_batch(more).add_to(tested), model.add(more));
      std::vector<vertex_id> ids;
      for (int i = 0; i < 12; ++i) ids.push_back(static_cast<vertex_id>(random.below(model.lists.size() + 2)));
      const device_array<vertex_id> given(ids);
      ASSERT_EQ(tested.remove_vertices(given.data(), ids.size()), remove_from(model, ids));
      ASSERT_NO_FATAL_FAILURE(expect_equal(tested, model));
      expect_changed(tested, model);

      const auto count = static_cast<vertex_id>(random.below(100));
      const std::uint64_t version = tested.version();
      ASSERT_EQ(tested.add_vertices(count), model.lists.size());
      EXPECT_EQ(tested.version() != version, count != 0);
      model.lists.resize(model.lists.size() + count);
      model.changed.resize(model.lists.size());
      model.gone.resize(model.lists.size());
      ASSERT_NO_FATAL_FAILURE(expect_equal(tested, model));
    }
    tested.clear();
    graph_model fresh(tested.vertices(), options);
    const edge_batch more = some_edges(random, fresh, 800);
    ASSERT_EQ(device_batch(more).add_to(tested), fresh.add(more));
    ASSERT_NO_FATAL_FAILURE(expect_equal(tested, fresh));
  }
}

TEST(graph_vertices, more_than_was_reserved_is_refused) {
  if (!machine_available()) GTEST_SKIP() << "no device";
  const heap<> memory{std::uint64_t{4} << 20};
  graph<heap<>> tested{memory, 10, {.most_vertices = 20}};
  EXPECT_EQ(tested.add_vertices(10), 10u);
  EXPECT_THROW(tested.add_vertices(1), std::length_error);
  EXPECT_THROW(tested.add_vertices(~vertex_id{0}), std::length_error);
  EXPECT_EQ(tested.vertices(), 20u);
  using small_graph = graph<heap<>>;
  EXPECT_THROW(small_graph(memory, 21, {.most_vertices = 20}), std::length_error);
}

}  // namespace
}  // namespace warpheap::test::vertices_test
