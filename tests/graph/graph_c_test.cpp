// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The C interface of graphs: each function against a small graph whose figures are known, and each way to fail.

#include <gtest/gtest.h>
#include <warpheap/graph/graph.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "graph_from_c.h"
#include "karate_club.hpp"

namespace warpheap::test::graph_c_test {
namespace {

// Elements in device memory, by the interface's own functions.
template <class T>
class c_array {
 public:
  explicit c_array(std::uint64_t size) : size_(size) {
    EXPECT_EQ(wh_graph_array_make(size * sizeof(T), &data_), WH_GRAPH_OK) << wh_graph_error();
  }
  explicit c_array(const std::vector<T>& values) : c_array(values.size()) {
    EXPECT_EQ(wh_graph_array_copy(data_, values.data(), size_ * sizeof(T)), WH_GRAPH_OK) << wh_graph_error();
  }
  c_array(const c_array&) = delete;
  c_array& operator=(const c_array&) = delete;
  ~c_array() { wh_graph_array_end(data_); }

  T* data() const { return static_cast<T*>(data_); }
  std::vector<T> values() const {
    std::vector<T> here(size_);
    EXPECT_EQ(wh_graph_array_copy(here.data(), data_, size_ * sizeof(T)), WH_GRAPH_OK) << wh_graph_error();
    return here;
  }

 private:
  void* data_ = nullptr;
  std::uint64_t size_;
};

using ids = std::vector<std::uint32_t>;

class graph_c : public testing::Test {
 protected:
  void SetUp() override {
    if (wh_graph_device_available() == 0) GTEST_SKIP() << "no device";
  }
  void TearDown() override { wh_graph_destroy(graph_); }

  wh_graph* make(std::uint32_t vertices, std::uint32_t flags = 0, std::uint64_t heap_bytes = std::uint64_t{16} << 20) {
    wh_graph_options options{};
    options.heap_bytes = heap_bytes;
    options.flags = flags;
    options.most_vertices = 100;
    wh_graph_destroy(graph_);
    graph_ = nullptr;
    EXPECT_EQ(wh_graph_create(vertices, &options, &graph_), WH_GRAPH_OK) << wh_graph_error();
    return graph_;
  }
  wh_graph_edge_counts add(const ids& sources, const ids& targets) {
    const c_array<std::uint32_t> from(sources), to(targets);
    wh_graph_edge_counts counts{};
    EXPECT_EQ(wh_graph_add_edges(graph_, from.data(), to.data(), nullptr, sources.size(), &counts), WH_GRAPH_OK)
        << wh_graph_error();
    return counts;
  }
  wh_graph* make_karate_club() {
    make(34, WH_GRAPH_UNDIRECTED);
    ids sources, targets;
    for (const auto& [from, to] : karate_club()) {
      sources.push_back(from);
      targets.push_back(to);
    }
    EXPECT_EQ(add(sources, targets).added, 156u);
    return graph_;
  }
  ids neighbours(std::uint32_t vertex) {
    const c_array<std::uint32_t> list(100);
    std::uint64_t count = 0;
    EXPECT_EQ(wh_graph_neighbours(graph_, vertex, list.data(), 100, &count), WH_GRAPH_OK) << wh_graph_error();
    ids values = list.values();
    values.resize(count);
    return values;
  }

  wh_graph* graph_ = nullptr;
};

TEST_F(graph_c, serves_a_program_in_c) { EXPECT_EQ(graph_used_from_c(), 0) << wh_graph_error(); }

TEST_F(graph_c, counts_what_became_of_a_batch) {
  make(4, WH_GRAPH_UNDIRECTED);
  const std::uint64_t version = wh_graph_version(graph_);
  const auto counts = add({0, 0, 1, 2, 3, 9}, {1, 1, 0, 2, 0, 0});
  EXPECT_EQ(counts.offered, 12u);
  EXPECT_EQ(counts.added, 4u);
  EXPECT_EQ(counts.repeated, 4u);
  EXPECT_EQ(counts.loops + counts.invalid, 4u);
  EXPECT_GT(wh_graph_version(graph_), version);
  const c_array<std::uint32_t> from(ids{0, 1}), to(ids{3, 2});
  wh_graph_edge_counts gone{};
  ASSERT_EQ(wh_graph_remove_edges(graph_, from.data(), to.data(), 2, &gone), WH_GRAPH_OK);
  EXPECT_EQ(gone.removed, 2u);
  EXPECT_EQ(gone.absent, 2u);
  EXPECT_EQ(wh_graph_edges(graph_), 2u);
}

TEST_F(graph_c, finds_edges_degrees_and_neighbours) {
  make_karate_club();
  const c_array<std::uint32_t> from(ids{0, 33, 0, 50}), to(ids{1, 32, 33, 0});
  const c_array<std::uint8_t> found(4);
  ASSERT_EQ(wh_graph_has_edges(graph_, from.data(), to.data(), 4, found.data()), WH_GRAPH_OK);
  EXPECT_EQ(found.values(), (std::vector<std::uint8_t>{1, 1, 0, 0}));
  const c_array<std::uint32_t> degrees(34);
  ASSERT_EQ(wh_graph_degrees(graph_, degrees.data()), WH_GRAPH_OK);
  EXPECT_EQ(degrees.values()[0], 16u);
  EXPECT_EQ(degrees.values()[33], 17u);
  EXPECT_EQ(neighbours(11), ids{0});
  EXPECT_EQ(neighbours(16), (ids{5, 6}));
}

TEST_F(graph_c, gives_and_takes_rows) {
  make_karate_club();
  const c_array<std::uint64_t> offsets(35);
  const c_array<std::uint32_t> lists(156);
  ASSERT_EQ(wh_graph_to_csr(graph_, offsets.data(), lists.data(), nullptr, 156), WH_GRAPH_OK);
  EXPECT_EQ(offsets.values()[34], 156u);
  wh_graph* const first = graph_;
  graph_ = nullptr;
  make(34, WH_GRAPH_UNDIRECTED);
  wh_graph_edge_counts counts{};
  EXPECT_EQ(wh_graph_assign_csr(graph_, offsets.data(), lists.data(), nullptr, 156, &counts), WH_GRAPH_OK);
  wh_graph_destroy(first);
  EXPECT_EQ(counts.added, 156u);
  const c_array<std::uint32_t> again(156);
  ASSERT_EQ(wh_graph_to_csr(graph_, nullptr, again.data(), nullptr, 156), WH_GRAPH_OK);
  EXPECT_EQ(again.values(), lists.values());
  EXPECT_EQ(wh_graph_to_csr(graph_, nullptr, again.data(), nullptr, 155), WH_GRAPH_INVALID_ARGUMENT);
}

TEST_F(graph_c, keeps_weights) {
  make(3, WH_GRAPH_WEIGHTS);
  const c_array<std::uint32_t> from(ids{1, 0}), to(ids{2, 1});
  const c_array<float> weights(std::vector<float>{0.5f, 2});
  ASSERT_EQ(wh_graph_assign_edges(graph_, from.data(), to.data(), weights.data(), 2, nullptr), WH_GRAPH_OK);
  const c_array<float> out(2);
  ASSERT_EQ(wh_graph_to_csr(graph_, nullptr, nullptr, out.data(), 2), WH_GRAPH_OK);
  EXPECT_EQ(out.values(), (std::vector<float>{2, 0.5f}));
  EXPECT_EQ(neighbours(1), ids{2});
  make(3);
  EXPECT_EQ(wh_graph_add_edges(graph_, from.data(), to.data(), weights.data(), 2, nullptr), WH_GRAPH_INVALID_ARGUMENT);
  EXPECT_NE(std::string(wh_graph_error()).find("WH_GRAPH_WEIGHTS"), std::string::npos) << wh_graph_error();
  EXPECT_EQ(wh_graph_edges(graph_), 0u);
}

TEST_F(graph_c, adds_and_removes_vertices) {
  make_karate_club();
  std::uint32_t first = 0;
  ASSERT_EQ(wh_graph_add_vertices(graph_, 6, &first), WH_GRAPH_OK);
  EXPECT_EQ(first, 34u);
  EXPECT_EQ(wh_graph_vertices(graph_), 40u);
  const c_array<std::uint32_t> leaving(ids{33, 99});
  wh_graph_vertex_counts counts{};
  ASSERT_EQ(wh_graph_remove_vertices(graph_, leaving.data(), 2, &counts), WH_GRAPH_OK);
  EXPECT_EQ(counts.removed, 1u);
  EXPECT_EQ(counts.invalid, 1u);
  EXPECT_EQ(counts.removed_edges, 34u);
  EXPECT_EQ(wh_graph_add_vertices(graph_, 1000, nullptr), WH_GRAPH_TOO_LARGE);
  ASSERT_EQ(wh_graph_clear(graph_), WH_GRAPH_OK);
  EXPECT_EQ(wh_graph_edges(graph_), 0u);
}

TEST_F(graph_c, tells_which_vertices_changed) {
  make_karate_club();
  ASSERT_EQ(wh_graph_clear_changed(graph_), WH_GRAPH_OK);
  add({3, 20}, {25, 0});
  std::uint64_t count = 0;
  ASSERT_EQ(wh_graph_changed_vertices(graph_, nullptr, 0, &count), WH_GRAPH_OK);
  ASSERT_EQ(count, 4u);
  const c_array<std::uint32_t> changed(4);
  EXPECT_EQ(wh_graph_changed_vertices(graph_, changed.data(), 3, &count), WH_GRAPH_INVALID_ARGUMENT);
  ASSERT_EQ(wh_graph_changed_vertices(graph_, changed.data(), 4, &count), WH_GRAPH_OK);
  EXPECT_EQ(changed.values(), (ids{0, 3, 20, 25}));
}

TEST_F(graph_c, tells_its_memory_and_refuses_what_does_not_fit) {
  make(64, 0, std::uint64_t{1} << 20);
  ids sources, targets;
  for (std::uint32_t v = 0; v < 64; ++v) {
    for (std::uint32_t w = 0; w < 64; ++w) {
      if (v == w) continue;
      sources.push_back(v);
      targets.push_back(w);
    }
  }
  add(sources, targets);
  wh_graph_memory_figures figures{};
  ASSERT_EQ(wh_graph_memory(graph_, &figures), WH_GRAPH_OK);
  EXPECT_EQ(figures.live_bytes, wh_graph_edges(graph_) * 4);
  EXPECT_GE(figures.block_bytes, figures.live_bytes);
  EXPECT_GE(figures.heap_committed_bytes, figures.block_bytes);
  EXPECT_GT(figures.record_bytes, 0u);
  EXPECT_EQ(wh_graph_memory(graph_, nullptr), WH_GRAPH_INVALID_ARGUMENT);
}

TEST_F(graph_c, grows_its_heap) {
  make(10);
  wh_graph_memory_figures before{}, after{};
  ASSERT_EQ(wh_graph_memory(graph_, &before), WH_GRAPH_OK);
  ASSERT_EQ(wh_graph_grow_heap(graph_, std::uint64_t{64} << 20), WH_GRAPH_OK) << wh_graph_error();
  ASSERT_EQ(wh_graph_memory(graph_, &after), WH_GRAPH_OK);
  EXPECT_GE(after.heap_committed_bytes, before.heap_committed_bytes + (std::uint64_t{32} << 20));
}

TEST_F(graph_c, ranks_vertices) {
  make_karate_club();
  const c_array<float> ranks(34);
  wh_graph_page_rank_result result{};
  const wh_graph_page_rank_options options{0.85, 1e-6, 100, 0, 0};
  ASSERT_EQ(wh_graph_page_rank(graph_, &options, ranks.data(), &result), WH_GRAPH_OK);
  EXPECT_EQ(result.converged, 1u);
  const std::vector<float> cold = ranks.values();
  EXPECT_NEAR(std::accumulate(cold.begin(), cold.end(), 0.0), 1, 1e-5);
  EXPECT_NEAR(cold[33], 0.1009, 1e-3);  // as NetworkX 3.6 ranks
  EXPECT_NEAR(cold[0], 0.0970, 1e-3);
  const std::uint32_t iterations = result.iterations;
  const wh_graph_page_rank_options warm{0.85, 1e-6, 100, 0, 1};
  ASSERT_EQ(wh_graph_page_rank(graph_, &warm, ranks.data(), &result), WH_GRAPH_OK);
  EXPECT_LT(result.iterations, iterations);
  const wh_graph_page_rank_options wrong{1.5, 1e-6, 100, 0, 0};
  EXPECT_EQ(wh_graph_page_rank(graph_, &wrong, ranks.data(), nullptr), WH_GRAPH_INVALID_ARGUMENT);
}

TEST_F(graph_c, counts_triangles_and_finds_distances) {
  make_karate_club();
  std::uint64_t triangles = 0;
  const c_array<std::uint64_t> corners(34);
  ASSERT_EQ(wh_graph_triangle_count(graph_, corners.data(), &triangles), WH_GRAPH_OK);
  EXPECT_EQ(triangles, 45u);
  const auto each = corners.values();
  EXPECT_EQ(std::accumulate(each.begin(), each.end(), std::uint64_t{0}), 135u);
  const c_array<std::uint32_t> distances(34);
  wh_graph_breadth_first_result result{};
  ASSERT_EQ(wh_graph_breadth_first(graph_, 16, distances.data(), &result), WH_GRAPH_OK);
  EXPECT_EQ(result.reached, 34u);
  EXPECT_EQ(distances.values()[5], 1u);
  EXPECT_EQ(distances.values()[0], 2u);
  EXPECT_EQ(wh_graph_breadth_first(graph_, 34, distances.data(), nullptr), WH_GRAPH_INVALID_ARGUMENT);
  make(3);
  EXPECT_EQ(wh_graph_triangle_count(graph_, nullptr, &triangles), WH_GRAPH_INVALID_ARGUMENT);
}

TEST_F(graph_c, narrows_ids_and_makes_invalid_ones_of_those_that_do_not_fit) {
  const c_array<std::int64_t> wide(
      {0, 7, -1, std::int64_t{1} << 32, 0xfffffffe, std::numeric_limits<std::int64_t>::min()});
  const c_array<std::uint32_t> narrow(6);
  ASSERT_EQ(wh_graph_array_narrow(narrow.data(), wide.data(), 6), WH_GRAPH_OK);
  constexpr std::uint32_t invalid = 0xffffffff;
  EXPECT_EQ(narrow.values(), (ids{0, 7, invalid, invalid, 0xfffffffe, invalid}));
  const c_array<std::uint64_t> wider(6);
  ASSERT_EQ(wh_graph_array_widen(wider.data(), narrow.data(), 6), WH_GRAPH_OK);
  EXPECT_EQ(wider.values()[4], 0xfffffffeu);
  EXPECT_EQ(wh_graph_await_stream(0), WH_GRAPH_OK) << wh_graph_error();
}

TEST_F(graph_c, refuses_wrong_arguments_and_says_why) {
  wh_graph_options options{};
  options.design = "no_such_design";
  wh_graph* none = nullptr;
  EXPECT_EQ(wh_graph_create(1, &options, &none), WH_GRAPH_INVALID_ARGUMENT);
  EXPECT_NE(std::string(wh_graph_error()).find("no_such_design"), std::string::npos) << wh_graph_error();
  EXPECT_NE(std::string(wh_graph_error()).find(wh_graph_designs()), std::string::npos) << wh_graph_error();
  EXPECT_EQ(none, nullptr);
  options = {};
  options.flags = 1u << 31;
  EXPECT_EQ(wh_graph_create(1, &options, &none), WH_GRAPH_INVALID_ARGUMENT);
  EXPECT_EQ(wh_graph_create(1, nullptr, nullptr), WH_GRAPH_INVALID_ARGUMENT);
  options = {};
  options.heap_bytes = 1;
  EXPECT_EQ(wh_graph_create(1, &options, &none), WH_GRAPH_INVALID_ARGUMENT);
  options.heap_bytes = std::uint64_t{16} << 20;
  EXPECT_EQ(wh_graph_create(0xffffffff, &options, &none), WH_GRAPH_TOO_LARGE);
  EXPECT_EQ(wh_graph_clear(nullptr), WH_GRAPH_INVALID_ARGUMENT);
  make(3);
  EXPECT_EQ(wh_graph_add_edges(graph_, nullptr, nullptr, nullptr, 1, nullptr), WH_GRAPH_INVALID_ARGUMENT);
  EXPECT_EQ(wh_graph_add_edges(graph_, nullptr, nullptr, nullptr, 0, nullptr), WH_GRAPH_OK);
  std::uint64_t count = 0;
  EXPECT_EQ(wh_graph_neighbours(graph_, 3, nullptr, 0, &count), WH_GRAPH_INVALID_ARGUMENT);
  const c_array<std::uint32_t> one(ids{0});
  EXPECT_EQ(wh_graph_add_edges(graph_, one.data(), one.data(), nullptr, std::uint64_t{1} << 40, nullptr),
            WH_GRAPH_TOO_LARGE);
}

TEST_F(graph_c, keeps_the_text_of_an_error_for_its_thread) {
  EXPECT_EQ(wh_graph_clear(nullptr), WH_GRAPH_INVALID_ARGUMENT);
  const std::string own = wh_graph_error();
  std::thread([] {
    EXPECT_STREQ(wh_graph_error(), "");
    wh_graph* none = nullptr;
    wh_graph_options options{};
    options.design = "other";
    EXPECT_EQ(wh_graph_create(1, &options, &none), WH_GRAPH_INVALID_ARGUMENT);
  }).join();
  EXPECT_EQ(wh_graph_error(), own);
}

TEST_F(graph_c, lets_a_thread_use_a_graph_while_another_uses_another) {
  std::vector<std::thread> threads;
  std::vector<std::uint64_t> triangles(4);
  for (std::uint64_t& found : triangles) {
    threads.emplace_back([&found] {
      wh_graph_options options{};
      options.heap_bytes = std::uint64_t{16} << 20;
      options.flags = WH_GRAPH_UNDIRECTED;
      options.most_vertices = 100;
      wh_graph* own = nullptr;
      ASSERT_EQ(wh_graph_create(34, &options, &own), WH_GRAPH_OK) << wh_graph_error();
      for (const auto& [from, to] : karate_club()) {
        const c_array<std::uint32_t> source(ids{from}), target(ids{to});
        ASSERT_EQ(wh_graph_add_edges(own, source.data(), target.data(), nullptr, 1, nullptr), WH_GRAPH_OK);
      }
      ASSERT_EQ(wh_graph_triangle_count(own, nullptr, &found), WH_GRAPH_OK);
      wh_graph_destroy(own);
    });
  }
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(triangles, std::vector<std::uint64_t>(4, 45));
}

TEST_F(graph_c, serves_a_graph_without_vertices) {
  make(0, WH_GRAPH_UNDIRECTED);
  std::uint64_t triangles = 9;
  EXPECT_EQ(wh_graph_triangle_count(graph_, nullptr, &triangles), WH_GRAPH_OK) << wh_graph_error();
  EXPECT_EQ(triangles, 0u);
  EXPECT_EQ(wh_graph_page_rank(graph_, nullptr, nullptr, nullptr), WH_GRAPH_OK) << wh_graph_error();
  EXPECT_EQ(wh_graph_degrees(graph_, nullptr), WH_GRAPH_OK) << wh_graph_error();
  const c_array<std::uint64_t> offsets(1);
  EXPECT_EQ(wh_graph_to_csr(graph_, offsets.data(), nullptr, nullptr, 0), WH_GRAPH_OK) << wh_graph_error();
  EXPECT_EQ(offsets.values()[0], 0u);
}

}  // namespace
}  // namespace warpheap::test::graph_c_test
