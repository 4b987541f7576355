// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// A checked heap among many threads: it finds nothing where nothing is wrong, stays whole when threads err together,
// and refuses nothing for the sake of its quarantine.

#include <gtest/gtest.h>

#include <algorithm>
#include <allocator/checked_faults.hpp>
#include <allocator/conformance/churn.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <support/schedules.hpp>
#include <vector>
#include <warpheap/designs/warp_slab/warp_slab.hpp>
#include <warpheap/heap.hpp>

namespace warpheap::test::checked_races_test {
namespace {

template <class A>
class checked_races : public testing::Test {};
using designs = testing::Types<checked<warp_slab>, checked<warp_slab, four_in_quarantine>>;
TYPED_TEST_SUITE(checked_races, designs, );

void expect_nothing(const findings& found) {
  for (const std::string& text : found.texts()) ADD_FAILURE() << text;
}

// Threads take and free blocks of mixed sizes, with room and without: nothing of that is a fault.
TYPED_TEST(checked_races, churn_is_no_fault) {
  for (const std::uint64_t bytes : {this_backend == backend::host ? 2_MiB : 512_MiB, 256_KiB}) {
    for_each_schedule([&](std::uint64_t seed) {
      findings found;
      trial<TypeParam> t{found, bytes};
      t.run(scaled(512, 1 << 14), churn_kernel{false}, seed, scaled(24, 64));
      expect_no_fault(t.heap());
      EXPECT_EQ(t.heap().statistics().live_bytes, 0u);
      expect_whole(t.heap());
      expect_no_fault(t.heap());
      expect_nothing(found);
    });
  }
}

// All threads free the same blocks, each beginning with another.
struct free_all_kernel {
  template <class A>
  WARPHEAP_FN void operator()(heap_ref<A> heap, void** blocks, std::uint64_t count) const {
    for (std::uint64_t i = 0; i < count; ++i) heap.free(blocks[(i + grid_thread_index() / 3) % count]);
  }
};
struct take_each_kernel {
  template <class A>
  WARPHEAP_FN void operator()(heap_ref<A> heap, void** blocks, std::uint64_t bytes) const {
    blocks[grid_thread_index()] = heap.malloc(bytes);
  }
};

// Each block is taken back once, so what can be had afterwards is each byte once.
TYPED_TEST(checked_races, of_threads_that_free_a_block_together_one_does) {
  constexpr std::uint64_t bytes = 100;
  // As many as any of the quarantines holds: a block that left it and was handed out again is its new owner's.
  constexpr std::uint32_t count = 4;
  for_each_schedule([&](std::uint64_t) {
    findings found;
    trial<TypeParam> t{found, 256_KiB};
    const device_array<void*> blocks(count);
    launch({1, count}, take_each_kernel{}, t.heap().ref(), blocks.data(), bytes);
    launch({4, 64}, free_all_kernel{}, t.heap().ref(), blocks.data(), count);
    const std::optional<memory_fault> fault = t.heap().first_fault();
    ASSERT_TRUE(fault.has_value());
    EXPECT_EQ(fault->kind, fault_kind::double_free);
    EXPECT_EQ(fault->bytes, bytes);
    const std::vector<void*> freed = blocks.to_host();
    EXPECT_NE(std::find(freed.begin(), freed.end(), fault->pointer), freed.end());
    EXPECT_EQ(t.heap().statistics().live_bytes, 0u);
    // The watched heap sees blocks that are handed out twice.
    block_list list = list_for(t, 64);
    EXPECT_GT(t.fill(list, 64), 0u);
    t.give_back(list, 64);
    expect_whole(t.heap());
    expect_nothing(found);
  });
}

// All threads at once free pointers that lead to no block, each thread one of its own.
struct all_err_kernel {
  template <class A>
  WARPHEAP_FN void operator()(heap_ref<A> heap, std::uint32_t* memory) const {
    heap.free(memory + grid_thread_index());
  }
};

TYPED_TEST(checked_races, of_faults_at_once_one_is_kept_whole) {
  constexpr std::uint32_t threads = 64;
  for_each_schedule([&](std::uint64_t) {
    heap<TypeParam> heap{256_KiB};
    const device_array<std::uint32_t> memory(4 * threads);
    for (int round = 0; round < 4; ++round) {
      launch({4, threads}, all_err_kernel{}, heap.ref(), memory.data());
      const std::optional<memory_fault> fault = heap.first_fault();
      ASSERT_TRUE(fault.has_value());
      EXPECT_EQ(fault->kind, fault_kind::foreign_pointer);
      EXPECT_EQ(fault->pointer, memory.data() + fault->block_index * threads + fault->thread_index);
      heap.clear_fault();
    }
    expect_no_fault(heap);
  });
}

// Threads fill the heap together, although blocks lie in quarantine when they begin.
TYPED_TEST(checked_races, the_quarantine_takes_no_room) {
  constexpr std::uint64_t bytes = 1000;
  for_each_schedule([&](std::uint64_t) {
    findings found;
    trial<TypeParam> t{found, 256_KiB};
    block_list list = list_for(t, bytes);
    const std::uint64_t first = t.fill(list, bytes);
    for (int round = 0; round < 3; ++round) {
      t.give_back(list, bytes);
      EXPECT_EQ(t.heap().statistics().live_bytes, 0u);
      EXPECT_EQ(t.fill(list, bytes), first);
    }
    t.give_back(list, bytes);
    expect_whole(t.heap());
    expect_no_fault(t.heap());
    expect_nothing(found);
  });
}

// One thread asks for all of the heap, which another size had.
TYPED_TEST(checked_races, what_was_freed_can_be_had_as_one_block) {
  findings found;
  trial<TypeParam> t{found, 1_MiB};
  for (const std::uint64_t bytes : {16, 700, 50'000}) {
    block_list list = list_for(t, bytes);
    t.fill(list, bytes);
    EXPECT_EQ(err(t.heap(), takes{t.heap().size() - 16}), nullptr);
    t.give_back(list, bytes);
    void* const all = err(t.heap(), takes{t.heap().size() - 16});
    ASSERT_NE(all, nullptr);
    EXPECT_EQ(err(t.heap(), takes{1}), nullptr);
    err(t.heap(), frees{all});
  }
  expect_no_fault(t.heap());
  expect_nothing(found);
}

}  // namespace
}  // namespace warpheap::test::checked_races_test
