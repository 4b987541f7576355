// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// faimGraph's pages: each has one owner, all come back, and a refusal is true.

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <stdexcept>
#include <support/busy_device.hpp>
#include <support/random.hpp>
#include <support/scale.hpp>
#include <support/schedules.hpp>
#include <utility>
#include <vector>
#include <warpheap/graph/page_queue.hpp>

namespace warpheap::test::page_queue_test {
namespace {

constexpr std::uint32_t page_bytes = 64;

struct take_kernel {
  WARPHEAP_FN void operator()(page_queue_ref heap, void** pages) const {
    const std::uint64_t self = grid_thread_index();
    pages[self] = heap.malloc(self % 2 == 0 ? page_bytes : 1);
    if (pages[self] != nullptr) *static_cast<std::uint64_t*>(pages[self]) = self;
  }
};

struct give_kernel {
  WARPHEAP_FN void operator()(page_queue_ref heap, void** pages) const {
    const std::uint64_t self = grid_thread_index();
    if (pages[self] != nullptr) require(*static_cast<std::uint64_t*>(pages[self]) == self, "a page with two owners");
    heap.free(pages[self]);
  }
};

// Threads outnumber the pages: so many get one as there are, and no page is handed out twice.
TEST(page_queue, hands_out_each_page_once_and_all_of_them) {
  for_each_schedule([](std::uint64_t) {
    const std::uint32_t pages = 200;
    page_queue_heap heap{pages * page_bytes + 17, page_bytes};
    EXPECT_EQ(heap.size(), pages * page_bytes);
    const device_array<void*> taken(256);
    for (int round = 0; round < 3; ++round) {
      if (round == 2) heap.reset();
      launch({4, 64}, take_kernel{}, heap.ref(), taken.data());
      std::set<void*> distinct;
      for (void* const page : taken.to_host()) {
        if (page == nullptr) continue;
        distinct.insert(page);
        EXPECT_EQ(reinterpret_cast<std::uint64_t>(page) % page_bytes, 0u);
      }
      ASSERT_EQ(distinct.size(), pages);
      EXPECT_EQ(heap.statistics().live_bytes, heap.size());
      launch({4, 64}, give_kernel{}, heap.ref(), taken.data());
      EXPECT_EQ(heap.statistics().live_bytes, 0u);
    }
  });
}

// Each thread holds a few pages, marks them, and looks for the marks of others. There is a page for each.
struct churn_kernel {
  WARPHEAP_FN void operator()(page_queue_ref heap, std::uint64_t seed, int steps) const {
    constexpr int places = 4;
    random_stream random{seed, grid_thread_index()};
    std::uint64_t* held[places] = {};
    for (int step = 0; step < steps; ++step) {
      std::uint64_t*& page = held[random.below(places)];
      if (page == nullptr) {
        page = static_cast<std::uint64_t*>(heap.malloc(page_bytes));
        require(page != nullptr, "refused with a page for each");
        for (std::uint64_t i = 0; i < page_bytes / 8; ++i) page[i] = grid_thread_index();
      } else {
        for (std::uint64_t i = 0; i < page_bytes / 8; ++i) require(page[i] == grid_thread_index(), "two owners");
        heap.free(page);
        page = nullptr;
      }
    }
    for (std::uint64_t* const page : held) heap.free(page);
  }
};

TEST(page_queue, serves_all_who_have_a_right_to_a_page) {
  for_each_schedule([](std::uint64_t seed) {
    const std::uint64_t blocks = scaled(4, 1024);
    const page_queue_heap heap{blocks * 64 * 4 * page_bytes, page_bytes};
    launch({blocks, 64}, churn_kernel{}, heap.ref(), seed, 24);
    EXPECT_EQ(heap.statistics().live_bytes, 0u);
  });
}

struct too_large_kernel {
  WARPHEAP_FN void operator()(page_queue_ref heap, std::uint32_t* right) const {
    heap.free(nullptr);
    right[0] = heap.malloc(page_bytes + 1) == nullptr && heap.usable_size(nullptr) == page_bytes ? 1 : 0;
  }
};

// Its memory is mapped, and a fill that ran after its end would end the context.
TEST(page_queue, ends_after_what_was_started_before) {
  const busy_device busy;
  busy.begin();
  { const page_queue_heap heap(64 * page_bytes, page_bytes); }
  {
    page_queue_heap heap(64 * page_bytes, page_bytes);
    busy.begin();
    heap.reset();
    const page_queue_heap moved = std::move(heap);
    EXPECT_EQ(moved.size(), 64 * page_bytes);
  }
  EXPECT_NO_THROW(synchronise());
}

TEST(page_queue, refuses_what_is_no_page) {
  const page_queue_heap heap{page_bytes, page_bytes};
  const device_array<std::uint32_t> right(1);
  launch({1, 1}, too_large_kernel{}, heap.ref(), right.data());
  EXPECT_EQ(right.at(0), 1u);
  EXPECT_THROW(page_queue_heap(1 << 20, 48), std::invalid_argument);
  EXPECT_THROW(page_queue_heap(1 << 20, 8), std::invalid_argument);
  EXPECT_THROW(page_queue_heap(63, 64), std::invalid_argument);
  EXPECT_THROW(page_queue_heap(std::uint64_t{1} << 60, 64), std::invalid_argument);
}

}  // namespace
}  // namespace warpheap::test::page_queue_test
