// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Queues that live in chunks of the heap take what they hold; static ones take what they could hold. At the capacity
// that the paper gives its queues, the virtualised ones take at most a hundredth.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <support/schedules.hpp>
#include <warpheap/designs/ouroboros/ouroboros.hpp>
#include <warpheap/heap.hpp>

namespace warpheap::test::ouroboros_queue_memory_test {
namespace {

constexpr std::uint64_t paper_entries = 2'000'000;

// As many bytes as 2,000,000 chunks have: below, static queues of chunks are made smaller than the paper's.
constexpr std::uint64_t heap_bytes = std::uint64_t{16} << 30;

struct take_kernel {
  template <class A>
  WARPHEAP_FN void operator()(heap_ref<A> heap, void** blocks, std::uint64_t count, std::uint64_t bytes) const {
    for (std::uint64_t i = grid_thread_index(); i < count; i += grid_threads()) blocks[i] = heap.malloc(bytes);
  }
};

struct free_kernel {
  template <class A>
  WARPHEAP_FN void operator()(heap_ref<A> heap, void** blocks, std::uint64_t count, std::uint64_t every) const {
    for (std::uint64_t i = grid_thread_index() * every; i < count; i += grid_threads() * every) heap.free(blocks[i]);
  }
};

/// Memory of the queues of a heap in which nothing was asked for, and after many blocks were freed.
struct queue_memory {
  std::uint64_t empty;
  std::uint64_t used;
};

// Takes `count` blocks of `bytes` and frees each `every`th.
template <class A>
queue_memory measure(std::uint64_t count, std::uint64_t bytes, std::uint64_t every) {
  const heap<A> heap{heap_bytes, {.reserve_bytes = heap_bytes}};
  queue_memory result{.empty = heap.allocator_statistics().queue_bytes(), .used = 0};
  const device_array<void*> blocks(count);
  launch(grid_shape::covering(4096), take_kernel{}, heap.ref(), blocks.data(), count, bytes);
  EXPECT_EQ(heap.allocator_statistics().of(bytes).live_pages, count);
  launch(grid_shape::covering(4096), free_kernel{}, heap.ref(), blocks.data(), count, every);
  const ouroboros_statistics after = heap.allocator_statistics();
  EXPECT_EQ(after.of(bytes).live_pages, count - divide_up(count, every));
  EXPECT_GE(after.of(bytes).queue_entries, divide_up(count, every)) << "not all of what was freed is in the queue";
  EXPECT_EQ(after.live_bytes(), heap.statistics().live_bytes);
  result.used = after.queue_bytes();
  std::printf("%s: queues of %llu B when empty, of %llu B with %llu entries\n", A::name,
              static_cast<unsigned long long>(result.empty), static_cast<unsigned long long>(result.used),
              static_cast<unsigned long long>(after.of(bytes).queue_entries));
  return result;
}

/// The three kinds of queue, with the same items.
template <class S, class Va, class Vl>
void expect_a_hundredth(std::uint64_t count, std::uint64_t bytes, std::uint64_t every) {
  const scoped_schedule guard{in_turn_on_one_worker()};
  const queue_memory s = measure<S>(count, bytes, every);
  EXPECT_EQ(s.used, s.empty) << "static queues changed";
  // Ten page sizes, as the paper has, with queues of that capacity and entries of 4 bytes.
  EXPECT_GE(s.empty, 10 * paper_entries * sizeof(std::uint32_t)) << "these queues are smaller than the paper's";
  for (const queue_memory& each : {measure<Va>(count, bytes, every), measure<Vl>(count, bytes, every)}) {
    EXPECT_LE(each.empty * 100, s.empty);
    EXPECT_LE(each.used * 100, s.empty);
  }
}

class ouroboros_queue_memory : public testing::Test {
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "AddressSanitizer's notes of 16 GiB take 2 GiB of memory";
#endif
    if (this_backend == backend::cuda && describe_machine().memory_bytes < heap_bytes + heap_bytes / 4) {
      GTEST_SKIP() << "this GPU has no 20 GiB of memory";
    }
  }
};

// The paper's larger number of blocks, 100,000, all freed one by one.
TEST_F(ouroboros_queue_memory, virtual_queues_of_pages_take_a_hundredth) {
  expect_a_hundredth<ouroboros_s_p, ouroboros_va_p, ouroboros_vl_p>(100'000, 16, 1);
}

// Half of them: each chunk of two pages has a free one.
TEST_F(ouroboros_queue_memory, virtual_queues_of_chunks_take_a_hundredth) {
  expect_a_hundredth<ouroboros_s_c, ouroboros_va_c, ouroboros_vl_c>(100'000, 4096, 2);
}

/// Each thread frees its block, one of two, and takes another, `rounds` times; `refused` counts the blocks that were
/// not to be had.
struct recycle_kernel {
  template <class A>
  WARPHEAP_FN void operator()(heap_ref<A> heap, void** blocks, std::uint64_t bytes, int rounds,
                              std::uint64_t* refused) const {
    void*& mine = blocks[2 * grid_thread_index() + 1];
    for (int i = 0; i < rounds; ++i) {
      heap.free(mine);
      mine = heap.malloc(bytes);
      if (mine == nullptr) atomic_view{*refused}.fetch_add(1, memory_order::relaxed, thread_scope::device);
    }
  }
};

// A queue of hints has one for each chunk at most. In a heap of 32 chunks that is less than a chunk holds, however
// often segments fill up: so the queue has one open, and two in reserve.
template <class A>
void expect_small_queues() {
  constexpr std::uint64_t bytes = 2000;
  constexpr std::uint64_t small_heap = std::uint64_t{256} << 10;
  constexpr std::uint64_t count = 128;  // all that the heap has room for
  schedule plan = current_schedule();
  plan.order = schedule::policy::stalling;
  plan.workers = 1;
  const std::uint64_t seeds = this_backend == backend::host ? seeds_to_try(20) : 1;
  for (plan.seed = 1; plan.seed <= seeds; ++plan.seed) {
    SCOPED_TRACE(std::string{A::name} + ", " + describe(plan));
    const scoped_schedule guard{plan};
    const heap<A> heap{small_heap};
    const device_array<void*> blocks(count);
    const device_array<std::uint64_t> refused(1);
    launch({1, 64}, take_kernel{}, heap.ref(), blocks.data(), count, bytes);
    launch({1, 64}, free_kernel{}, heap.ref(), blocks.data(), count, std::uint64_t{2});
    launch({1, count / 2}, recycle_kernel{}, heap.ref(), blocks.data(), bytes, 24, refused.data());
    EXPECT_EQ(refused.at(0), 0u);
    EXPECT_LE(heap.allocator_statistics().of(bytes).queue_chunks, 3u);
  }
}

TEST(ouroboros_queues, stay_small_in_small_heaps) {
  expect_small_queues<ouroboros_va_c>();
  expect_small_queues<ouroboros_vl_c>();
}

}  // namespace
}  // namespace warpheap::test::ouroboros_queue_memory_test
