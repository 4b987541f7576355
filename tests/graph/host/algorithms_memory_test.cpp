// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// A workspace keeps its memory: the second call of an algorithm allocates nothing.

#include <gtest/gtest.h>

#include <cstdint>
#include <support/fail_after.hpp>
#include <warpheap/graph/algorithms.hpp>
#include <warpheap/platform.hpp>

#include "../static_graphs.hpp"

namespace warpheap::test::algorithms_memory_test {
namespace {

/// Calls that take device memory while `operation` runs.
template <class Operation>
std::uint64_t allocations(Operation operation) {
  const host::fail_after plan(host::fail_after::all_later, host::device_calls::memory);
  operation();
  return plan.calls();
}

TEST(algorithms_memory, a_second_page_rank_allocates_nothing) {
  const static_graph graph(lists_of(400, random_edges(400, 2000, 2, 1), true));
  const device_array<float> ranks(400);
  page_rank_workspace workspace;
  for (const rank_flow flow : {rank_flow::push, rank_flow::pull}) {
    const auto run = [&] { page_rank(graph.paged(), {.flow = flow}, ranks.data(), workspace); };
    EXPECT_GT(allocations(run), 0u);
    EXPECT_EQ(allocations(run), 0u);
  }
}

TEST(algorithms_memory, a_second_triangle_count_allocates_nothing) {
  const static_graph graph(lists_of(400, random_edges(400, 2000, 2, 1), true));
  triangle_workspace workspace;
  const auto run = [&] { triangle_count(graph.unordered_paged(), {}, workspace); };
  EXPECT_GT(allocations(run), 0u);
  EXPECT_EQ(allocations(run), 0u);
}

TEST(algorithms_memory, a_second_search_allocates_nothing) {
  const static_graph graph(lists_of(400, random_edges(400, 2000, 2, 1), true));
  const device_array<std::uint32_t> distances(400);
  breadth_first_workspace workspace;
  const auto run = [&] { breadth_first(graph.paged(), 0, distances.data(), workspace); };
  EXPECT_GT(allocations(run), 0u);
  EXPECT_EQ(allocations(run), 0u);
}

}  // namespace
}  // namespace warpheap::test::algorithms_memory_test
