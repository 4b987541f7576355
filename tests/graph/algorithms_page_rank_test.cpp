// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// PageRank against the definition in double precision on the host, for both ways of adding and both forms of lists.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <support/scale.hpp>
#include <vector>
#include <warpheap/graph/algorithms.hpp>
#include <warpheap/platform.hpp>

#include "static_graphs.hpp"

namespace warpheap::test::page_rank_test {
namespace {

constexpr double no_tolerance = 0;

/// The ranks after `iterations` from `ranks` on, as the definition says.
std::vector<double> expected_ranks(const neighbour_lists& lists, std::vector<double> ranks, std::uint32_t iterations,
                                   double alpha = 0.85) {
  const auto vertices = static_cast<double>(lists.size());
  for (std::uint32_t i = 0; i < iterations; ++i) {
    std::vector<double> next(lists.size(), 0);
    double dangling = 0;
    for (std::size_t v = 0; v < lists.size(); ++v) {
      if (lists[v].empty()) dangling += ranks[v];
      for (const vertex_id to : lists[v]) next[to] += ranks[v] / static_cast<double>(lists[v].size());
    }
    for (double& rank : next) rank = (1 - alpha) / vertices + alpha * (rank + dangling / vertices);
    ranks = next;
  }
  return ranks;
}
std::vector<double> expected_ranks(const neighbour_lists& lists, std::uint32_t iterations, double alpha = 0.85) {
  return expected_ranks(lists, std::vector<double>(lists.size(), 1.0 / static_cast<double>(lists.size())), iterations,
                        alpha);
}

void expect_close(const std::vector<float>& ranks, const std::vector<double>& expected) {
  ASSERT_EQ(ranks.size(), expected.size());
  double worst = 0;
  double sum = 0;
  for (std::size_t v = 0; v < ranks.size(); ++v) {
    worst = std::max(worst, std::abs(static_cast<double>(ranks[v]) - expected[v]) / expected[v]);
    sum += static_cast<double>(ranks[v]);
  }
  EXPECT_LT(worst, 1e-4);
  EXPECT_NEAR(sum, 1, 1e-5);
}

/// Runs `page_rank` with ranks of its own.
template <adjacency G>
std::vector<float> ranks_of(const G& graph, const page_rank_options& options, page_rank_result* result = nullptr) {
  const device_array<float> ranks(graph.vertices());
  const page_rank_result got = page_rank(graph, options, ranks.data());
  if (result != nullptr) *result = got;
  return ranks.to_host();
}

/// Compares all forms of lists and, if the graph is undirected, both flows.
void expect_all_close(const neighbour_lists& lists, bool undirected, std::uint32_t iterations = 20) {
  const static_graph graph(lists);
  page_rank_options options{.fixed_iterations = iterations};
  const std::vector<double> expected = expected_ranks(lists, iterations);
  for (const rank_flow flow : {rank_flow::push, rank_flow::pull}) {
    if (flow == rank_flow::pull && !undirected) continue;
    options.flow = flow;
    const std::vector<float> contiguous = ranks_of(graph.contiguous(), options);
    expect_close(contiguous, expected);
    // Sums of integers do not depend on the order, so each form of lists gives the same bits.
    EXPECT_EQ(ranks_of(graph.paged(), options), contiguous);
    EXPECT_EQ(ranks_of(graph.unordered(), options), contiguous);
  }
}

TEST(page_rank, equals_the_definition_on_undirected_graphs_with_hubs) {
  const auto vertices = static_cast<vertex_id>(scaled(1200, 40000));
  expect_all_close(lists_of(vertices, random_edges(vertices, vertices * 4, 3, 1), true), true);
}

TEST(page_rank, equals_the_definition_on_directed_graphs_with_dangling_vertices) {
  const auto vertices = static_cast<vertex_id>(scaled(1200, 40000));
  // Few edges of few sources: most vertices have none of their own and get ranks.
  expect_all_close(lists_of(vertices, random_edges(vertices, vertices / 2, 2, 2), false), false);
}

TEST(page_rank, equals_the_definition_on_stars) {
  // Lists about as long as a span, as one more, and as several.
  for (const vertex_id leaves : {1u, 63u, 64u, 65u, 128u, 700u}) {
    expect_all_close(lists_of(leaves + 1, star_edges(leaves), true), true, 3);
    expect_all_close(lists_of(leaves + 1, star_edges(leaves), false), false, 3);
  }
}

TEST(page_rank, adds_each_share_to_a_hub_however_small) {
  // On a GPU a million equal shares, which a float would add up with an error of half a percent.
  const auto leaves = static_cast<vertex_id>(scaled(4000, 1000000));
  const neighbour_lists lists = lists_of(leaves + 1, star_edges(leaves), true);
  const static_graph graph(lists);
  for (const rank_flow flow : {rank_flow::push, rank_flow::pull}) {
    expect_close(ranks_of(graph.contiguous(), {.fixed_iterations = 2, .flow = flow}), expected_ranks(lists, 2));
  }
}

TEST(page_rank, of_isolated_vertices_is_even) { expect_all_close(neighbour_lists(100), true); }

TEST(page_rank, of_no_vertex_and_of_one) {
  page_rank_result result{};
  EXPECT_TRUE(ranks_of(static_graph(neighbour_lists(0)).contiguous(), {}, &result).empty());
  EXPECT_EQ(result.iterations, 0u);
  EXPECT_TRUE(result.converged);
  const std::vector<float> one = ranks_of(static_graph(neighbour_lists(1)).paged(), {}, &result);
  EXPECT_EQ(one, std::vector<float>{1});
  EXPECT_EQ(result.iterations, 1u);
  EXPECT_TRUE(result.converged);
}

TEST(page_rank, ends_with_the_first_iteration_that_meets_the_tolerance) {
  const neighbour_lists lists = lists_of(300, random_edges(300, 900, 2, 3), true);
  const static_graph graph(lists);
  for (const double tolerance : {1e-4, 1e-6, 1e-8}) {
    page_rank_result result{};
    const std::vector<float> ranks = ranks_of(graph.contiguous(), {.tolerance = tolerance}, &result);
    ASSERT_TRUE(result.converged);
    ASSERT_GT(result.iterations, 1u);
    const auto change = [&](std::uint32_t iteration) {
      const std::vector<double> before = expected_ranks(lists, iteration - 1);
      const std::vector<double> after = expected_ranks(lists, iteration);
      double sum = 0;
      for (std::size_t v = 0; v < after.size(); ++v) sum += std::abs(after[v] - before[v]);
      return sum;
    };
    EXPECT_LT(change(result.iterations), tolerance * 300);
    EXPECT_GE(change(result.iterations - 1), tolerance * 300);
    EXPECT_NEAR(result.change, change(result.iterations), 1e-6);
    expect_close(ranks, expected_ranks(lists, result.iterations));  // no iteration after it has run
  }
}

TEST(page_rank, says_that_it_did_not_converge) {
  const static_graph graph(lists_of(300, random_edges(300, 900, 2, 3), true));
  page_rank_result result{};
  ranks_of(graph.contiguous(), {.tolerance = 1e-8, .max_iterations = 3}, &result);
  EXPECT_EQ(result.iterations, 3u);
  EXPECT_FALSE(result.converged);
  ranks_of(graph.contiguous(), {.tolerance = no_tolerance, .max_iterations = 11}, &result);
  EXPECT_EQ(result.iterations, 11u);
  EXPECT_FALSE(result.converged);
  const std::vector<float> at_start = ranks_of(graph.contiguous(), {.max_iterations = 0}, &result);
  EXPECT_EQ(result.iterations, 0u);
  EXPECT_FALSE(result.converged);
  EXPECT_EQ(at_start, std::vector<float>(300, 1.0f / 300));
}

TEST(page_rank, fixed_iterations_ignore_the_tolerance) {
  const neighbour_lists lists = lists_of(200, random_edges(200, 500, 2, 4), true);
  const static_graph graph(lists);
  page_rank_result result{};
  const std::vector<float> ranks = ranks_of(graph.contiguous(), {.tolerance = 1, .fixed_iterations = 20}, &result);
  EXPECT_EQ(result.iterations, 20u);
  EXPECT_TRUE(result.converged);
  expect_close(ranks, expected_ranks(lists, 20));
}

TEST(page_rank, from_its_own_result_converges_at_once) {
  const neighbour_lists lists = lists_of(500, random_edges(500, 1500, 3, 5), true);
  const static_graph graph(lists);
  const device_array<float> ranks(500);
  page_rank_workspace workspace;
  page_rank_options options{.tolerance = 1e-8};
  const page_rank_result cold = page_rank(graph.paged(), options, ranks.data(), workspace);
  EXPECT_GT(cold.iterations, 5u);
  options.warm_start = true;
  const page_rank_result warm = page_rank(graph.paged(), options, ranks.data(), workspace);
  EXPECT_EQ(warm.iterations, 1u);
  EXPECT_TRUE(warm.converged);
  expect_close(ranks.to_host(), expected_ranks(lists, cold.iterations + 1));
}

TEST(page_rank, starts_from_given_numbers_of_any_sum) {
  const neighbour_lists lists = lists_of(300, random_edges(300, 600, 1, 6), false);
  const static_graph graph(lists);
  random_stream random{8, 8};
  std::vector<float> given(300);
  for (float& each : given) each = static_cast<float>(random.below(1000));
  const double sum = std::accumulate(given.begin(), given.end(), 0.0);
  std::vector<double> start(given.begin(), given.end());
  for (double& each : start) each /= sum;
  const device_array<float> ranks(given);
  page_rank(graph.contiguous(), {.fixed_iterations = 2, .warm_start = true}, ranks.data());
  expect_close(ranks.to_host(), expected_ranks(lists, start, 2));
}

TEST(page_rank, refuses_options_and_starts_that_mean_nothing) {
  const static_graph graph(lists_of(40, star_edges(39), true));
  const auto run = [&](const page_rank_options& options, float at_last) {
    std::vector<float> start(40, at_last == 0 ? 0 : 1);
    start.back() = at_last;
    const device_array<float> ranks(start);
    EXPECT_THROW(page_rank(graph.contiguous(), options, ranks.data()), std::invalid_argument);
    for (std::size_t v = 0; v + 1 < start.size(); ++v) EXPECT_EQ(ranks.at(v), start[v]);
  };
  run({.alpha = 1.5}, 1);
  run({.alpha = -0.1}, 1);
  run({.alpha = std::nan("")}, 1);
  run({.tolerance = -1}, 1);
  run({.tolerance = std::nan("")}, 1);
  for (const float bad : {-1.0f, std::numeric_limits<float>::infinity(), std::nanf(""), 0.0f}) {
    run({.warm_start = true}, bad);
  }
}

TEST(page_rank, of_other_alphas) {
  const neighbour_lists lists = lists_of(200, random_edges(200, 500, 2, 9), false);
  const static_graph graph(lists);
  for (const double alpha : {0.0, 0.5, 1.0}) {
    const std::vector<float> ranks = ranks_of(graph.contiguous(), {.alpha = alpha, .fixed_iterations = 3});
    const std::vector<double> expected = expected_ranks(lists, 3, alpha);
    for (std::size_t v = 0; v < ranks.size(); ++v) {
      EXPECT_NEAR(static_cast<double>(ranks[v]), expected[v], 1e-4 * expected[v]) << "vertex " << v;
    }
  }
}

TEST(page_rank, in_one_workspace_for_graphs_of_any_size) {
  page_rank_workspace workspace;
  for (const vertex_id vertices : {40u, 300u, 90u, 700u}) {
    const neighbour_lists lists = lists_of(vertices, random_edges(vertices, vertices * 3, 2, vertices), true);
    const static_graph graph(lists);
    const device_array<float> ranks(vertices);
    for (const rank_flow flow : {rank_flow::push, rank_flow::pull}) {
      page_rank(graph.paged(), {.fixed_iterations = 9, .flow = flow}, ranks.data(), workspace);
      expect_close(ranks.to_host(), expected_ranks(lists, 9));
    }
  }
}

}  // namespace
}  // namespace warpheap::test::page_rank_test
