// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Random rounds of batches against the model.

#include <graph/model.hpp>
#include <support/scale.hpp>
#include <support/schedules.hpp>
#include <vector>

namespace warpheap::test {

/// Rounds of additions, removals and lookups on one graph, compared with the model after each.
template <class Design, class Layout>
void random_rounds(graph_options options, std::uint64_t seed) {
  heap<Design> memory{std::uint64_t{32} << 20};
  random_stream random(seed, 1);
  constexpr vertex_id vertices = 300;
  options.most_vertices = 4000;
  {
    graph<heap<Design>, Layout> tested{memory, vertices, options};
    graph_model model(vertices, options);
    const std::uint64_t rounds = scaled(6, 12);
    for (std::uint64_t round = 0; round < rounds; ++round) {
      SCOPED_TRACE("round " + std::to_string(round));
      const std::uint64_t version = tested.version();
      const edge_batch more = some_edges(random, model, random.below(round % 3 == 0 ? 3 : 2500));
      const edge_counts added = model.add(more);
      ASSERT_EQ(device_batch(more).add_to(tested), added);
      ASSERT_NO_FATAL_FAILURE(expect_equal(tested, model));
      ASSERT_EQ(tested.version() != version, added.added != 0);
      expect_changed(tested, model);

      const edge_batch fewer = some_present_edges(random, model, round % 2 == 0 ? 2 : 20);
      const edge_counts removed = model.remove(fewer);
      ASSERT_EQ(device_batch(fewer).remove_from(tested), removed);
      ASSERT_NO_FATAL_FAILURE(expect_equal(tested, model));
      expect_changed(tested, model);

      const edge_batch asked = some_edges(random, model, 200);
      const device_batch questions(asked);
      const device_array<std::uint8_t> found(asked.size());
      tested.has_edges(questions.sources.data(), questions.targets.data(), asked.size(), found.data());
      const auto answers = found.to_host();
      for (std::uint64_t i = 0; i < asked.size(); ++i) {
        const bool has = asked.sources[i] < vertices && model.lists[asked.sources[i]].contains(asked.targets[i]);
        ASSERT_EQ(answers[i] != 0, has) << "edge " << asked.sources[i] << " to " << asked.targets[i];
      }
    }
    const edge_batch all = some_present_edges(random, model, 1);
    ASSERT_EQ(device_batch(all).remove_from(tested), model.remove(all));
    ASSERT_NO_FATAL_FAILURE(expect_equal(tested, model));
    EXPECT_EQ(tested.memory().block_bytes, 0u);
    if constexpr (Design::capabilities.counts_live) {
      EXPECT_EQ(memory.statistics().live_bytes, 0u);
    }

    // The end of a graph gives its blocks back.
    const edge_batch last = some_edges(random, model, 500);
    ASSERT_EQ(device_batch(last).add_to(tested), model.add(last));
  }
  synchronise();
  if constexpr (Design::capabilities.counts_live) {
    EXPECT_EQ(memory.statistics().live_bytes, 0u);
  }
}

/// Long lists: one vertex gets thousands of neighbours, so lists are cut into chunks, and loses most of them.
template <class Design, class Layout>
void long_lists(std::uint64_t seed) {
  heap<Design> memory{std::uint64_t{32} << 20};
  random_stream random(seed, 2);
  constexpr vertex_id vertices = 2500;
  const graph_options options{.most_vertices = vertices};
  graph<heap<Design>, Layout> tested{memory, vertices, options};
  graph_model model(vertices, options);
  edge_batch ends;  // what comes next lies in the gaps between these
  for (const vertex_id target : {vertex_id{5}, vertex_id{1200}, vertex_id{2499}}) ends.add(8, target);
  ASSERT_EQ(device_batch(ends).add_to(tested), model.add(ends));
  for (int round = 0; round < 4; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    edge_batch more;
    for (vertex_id i = 0; round == 0 && i < 100; ++i) more.add(8, 3 * i + 600 * (i % 4), static_cast<float>(i));
    for (vertex_id i = 0; i < 900; ++i) {
      more.add(7, static_cast<vertex_id>(random.below(vertices)), static_cast<float>(i));
      if (i % 40 == 0) more.add(i, static_cast<vertex_id>(random.below(vertices)), 1);
    }
    ASSERT_EQ(device_batch(more).add_to(tested), model.add(more));
    ASSERT_NO_FATAL_FAILURE(expect_equal(tested, model));
    edge_batch few;  // a list with room takes a few more in its midst
    for (vertex_id i = 0; i < 3; ++i) few.add(7, static_cast<vertex_id>(random.below(vertices)), 2);
    ASSERT_EQ(device_batch(few).add_to(tested), model.add(few));
    ASSERT_NO_FATAL_FAILURE(expect_equal(tested, model));
    const edge_batch fewer = some_present_edges(random, model, round == 2 ? 1 : 6);
    ASSERT_EQ(device_batch(fewer).remove_from(tested), model.remove(fewer));
    ASSERT_NO_FATAL_FAILURE(expect_equal(tested, model));
    // One left: the list becomes small.
  }
}

}  // namespace warpheap::test
