// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Graphs of the literature by name, and faimGraph's memory.

#include <gtest/gtest.h>

#include <cstdint>
#include <graph/model.hpp>
#include <stdexcept>
#include <support/scale.hpp>
#include <support/schedules.hpp>
#include <warpheap/published_graphs.hpp>

namespace warpheap::test::published_test {
namespace {

// Each thread takes and gives pages in turn, and marks those that it has.
struct churn {
  template <class Handle>
  WARPHEAP_FN void operator()(Handle heap, std::uint32_t steps, std::uint32_t* wrong, std::uint32_t* served) const {
    const auto own = static_cast<std::uint32_t>(grid_thread_index()) + 1;
    std::uint32_t* last = nullptr;
    for (std::uint32_t step = 0; step < steps; ++step) {
      auto* const page = static_cast<std::uint32_t*>(heap.malloc(64));
      if (page != nullptr) {
        for (std::uint32_t i = 0; i < 16; ++i) page[i] = own;
        atomic_view{*served}.fetch_add(1u, memory_order::relaxed, thread_scope::device);
      }
      if (last != nullptr) give(heap, last, own, wrong);
      last = page;
    }
    if (last != nullptr) give(heap, last, own, wrong);
  }
  template <class Handle>
  WARPHEAP_FN static void give(Handle heap, std::uint32_t* page, std::uint32_t own, std::uint32_t* wrong) {
    for (std::uint32_t i = 0; i < 16; ++i) {
      if (page[i] != own) atomic_view{*wrong}.fetch_add(1u, memory_order::relaxed, thread_scope::device);
    }
    heap.free(page);
  }
};

// One thread takes all pages and gives them back.
struct drain {
  template <class Handle>
  WARPHEAP_FN void operator()(Handle heap, void** taken, std::uint32_t* count) const {
    while (void* const page = heap.malloc(1)) taken[(*count)++] = page;
    for (std::uint32_t i = 0; i < *count; ++i) heap.free(taken[i]);
  }
};

TEST(page_queue, pages_have_one_owner_and_all_come_back) {
  if (!machine_available()) GTEST_SKIP() << "no device";
  for_each_schedule([](std::uint64_t) {
    // Fewer pages than threads may want at once, and no power of two of them.
    const page_queue<64> tested{100 * 64};
    const device_array<std::uint32_t> wrong(1);
    const device_array<std::uint32_t> served(1);
    launch({2, 64}, churn{}, tested.ref(), static_cast<std::uint32_t>(scaled(12, 200)), wrong.data(), served.data());
    EXPECT_EQ(wrong.at(0), 0u);
    EXPECT_GE(served.at(0), 100u);
    EXPECT_EQ(tested.stats().live_bytes, 0u);
    const device_array<void*> taken(200);
    const device_array<std::uint32_t> count(1);
    launch({1, 1}, drain{}, tested.ref(), taken.data(), count.data());
    EXPECT_EQ(count.at(0), 100u);
    EXPECT_EQ(tested.stats().live_bytes, 0u);
  });
}

TEST(page_queue, a_heap_without_a_page_is_refused) {
  EXPECT_THROW(page_queue<64>{63}, std::invalid_argument);
  EXPECT_THROW(page_queue<64>{std::uint64_t{1} << 40}, std::length_error);
}

template <class Graph, class Memory>
void a_few_rounds(const Memory& memory) {
  const graph_options options{.most_vertices = 200};
  Graph tested{memory, 200, options};
  graph_model model(200, options);
  random_stream random(1, 9);
  for (int round = 0; round < 3; ++round) {
    const edge_batch more = some_edges(random, model, 1500);
    ASSERT_EQ(device_batch(more).add_to(tested), model.add(more));
    const edge_batch fewer = some_present_edges(random, model, 3);
    ASSERT_EQ(device_batch(fewer).remove_from(tested), model.remove(fewer));
    ASSERT_NO_FATAL_FAILURE(expect_equal(tested, model));
  }
}

TEST(published_graphs, faim_graph_agrees_with_the_model) {
  if (!machine_available()) GTEST_SKIP() << "no device";
  const page_queue<64> memory{std::uint64_t{1} << 20};
  a_few_rounds<faim_graph<>>(memory);
  a_few_rounds<faim_graph<64, list_order::ascending>>(memory);
  EXPECT_EQ(memory.stats().live_bytes, 0u);
}

TEST(published_graphs, ouro_graph_agrees_with_the_model) {
  if (!machine_available()) GTEST_SKIP() << "no device";
  const heap<ouroboros_va_p> memory{std::uint64_t{16} << 20};
  a_few_rounds<ouro_graph<>>(memory);
  EXPECT_EQ(memory.stats().live_bytes, 0u);
}

#if !WARPHEAP_RUNS_ON_HOST
TEST(published_graphs, cuda_alloc_graph_agrees_with_the_model) {
  if (!machine_available()) GTEST_SKIP() << "no device";
  const heap<cuda_malloc> memory{std::uint64_t{16} << 20};
  a_few_rounds<cuda_alloc_graph>(memory);
}
#endif

}  // namespace
}  // namespace warpheap::test::published_test
