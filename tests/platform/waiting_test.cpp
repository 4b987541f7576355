// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Waiting through backoff: a spin lock between lanes of one warp and between blocks counts right, and waits between
// blocks that are under way end.

#include <gtest/gtest.h>

#include <cstdint>
#include <support/schedules.hpp>
#include <warpheap/platform.hpp>

namespace warpheap::waiting_test {
namespace {

// One lock, and what it guards: plain memory.
struct guarded {
  std::uint32_t lock;
  std::uint32_t count;
};

struct count_under_lock {
  WARPHEAP_FN void operator()(guarded* shared, int times) const {
    const atomic_view<std::uint32_t> lock{shared->lock};
    for (int i = 0; i < times; ++i) {
      {
        backoff wait;
        while (lock.exchange(1, memory_order::acquire, thread_scope::device) != 0) wait.pause();
      }
      ++shared->count;
      lock.store(0, memory_order::release, thread_scope::device);
    }
  }
};

TEST(waiting, a_lock_counts_right_within_a_warp) {
  test::for_each_schedule([](std::uint64_t) {
    device_array<guarded> shared(1);
    launch(grid_shape{1, warp_width}, count_under_lock{}, shared.data(), 20);
    EXPECT_EQ(shared.at(0).count, 20u * warp_width);
  });
}

TEST(waiting, a_lock_counts_right_between_blocks) {
  test::for_each_schedule([](std::uint64_t) {
    device_array<guarded> shared(1);
    launch(grid_shape{6, 64}, count_under_lock{}, shared.data(), 3);
    EXPECT_EQ(shared.at(0).count, 6u * 64 * 3);
  });
}

// Block 1 publishes, block 0 waits for it: both are under way at once.
struct publish_between_blocks {
  WARPHEAP_FN void operator()(std::uint32_t* flag, std::uint32_t* data, std::uint32_t* out) const {
    const atomic_view<std::uint32_t> ready{*flag};
    if (block_index() == 1) {
      data[thread_index()] = thread_index() + 1;
      sync_block();
      if (thread_index() == 0) ready.store(1, memory_order::release, thread_scope::device);
    } else {
      backoff wait;
      while (ready.load(memory_order::acquire, thread_scope::device) == 0) wait.pause();
      out[thread_index()] = data[thread_index()];
    }
  }
};

TEST(waiting, a_block_waits_for_another) {
  test::for_each_schedule([](std::uint64_t) {
    device_array<std::uint32_t> flag(1);
    device_array<std::uint32_t> data(64);
    device_array<std::uint32_t> out(64);
    launch(grid_shape{2, 64}, publish_between_blocks{}, flag.data(), data.data(), out.data());
    EXPECT_EQ(out.to_host(), data.to_host());
    EXPECT_EQ(out.at(63), 64u);
  });
}

TEST(waiting, works_outside_kernels) {
  backoff wait;
  for (int i = 0; i < 3; ++i) wait.pause();
}

}  // namespace
}  // namespace warpheap::waiting_test
