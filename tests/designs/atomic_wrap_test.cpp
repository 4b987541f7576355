// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// A ring of bytes is never full, keeps within its heap, and reuses no byte before requests have gone around.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <support/random.hpp>
#include <support/schedules.hpp>
#include <vector>
#include <warpheap/designs/atomic_wrap/atomic_wrap.hpp>
#include <warpheap/heap.hpp>

namespace warpheap::test::atomic_wrap_test {
namespace {

constexpr std::uint64_t threads = 256;
constexpr std::uint64_t heap_bytes = 64 * 1024;

struct take_kernel {
  WARPHEAP_FN void operator()(heap_ref<atomic_wrap> heap, std::uint64_t* starts, std::uint64_t bytes) const {
    starts[grid_thread_index()] = reinterpret_cast<std::uint64_t>(heap.malloc(bytes));
  }
};

// A launch of requests of one size after the other: a third of the heap at most is distinct, whatever was before.
TEST(atomic_wrap, reuses_no_byte_before_requests_have_gone_around) {
  for_each_schedule([](std::uint64_t) {
    heap<atomic_wrap> ring{heap_bytes};
    const device_array<std::uint64_t> starts(threads);
    std::uint64_t low = ~std::uint64_t{0};
    std::uint64_t high = 0;
    for (int round = 0; round < 60; ++round) {                                       // many times around
      const std::uint64_t bytes = 16 * (1 + static_cast<std::uint64_t>(round) % 5);  // 20 KiB in all at most
      launch({threads / 64, 64}, take_kernel{}, ring.ref(), starts.data(), bytes);
      std::vector<std::uint64_t> seen = starts.to_host();
      std::sort(seen.begin(), seen.end());
      for (std::uint64_t i = 0; i < threads; ++i) {
        ASSERT_NE(seen[i], 0u) << "a ring was full";
        if (i == 0) continue;
        ASSERT_GE(seen[i], seen[i - 1] + bytes) << "blocks of a third of the heap overlap";
      }
      low = std::min(low, seen.front());
      high = std::max(high, seen.back() + bytes);
    }
    EXPECT_LE(high - low, heap_bytes) << "blocks lie outside the heap";
    EXPECT_GE(high - low, heap_bytes * 9 / 10) << "a part of the heap is never used";
  });
}

// The largest request is the whole heap, wherever the ring stands.
TEST(atomic_wrap, serves_the_whole_heap_and_no_more) {
  heap<atomic_wrap> ring{heap_bytes};
  const device_array<std::uint64_t> starts(1);
  std::uint64_t begin = 0;
  for (int round = 0; round < 9; ++round) {
    launch({1, 1}, take_kernel{}, ring.ref(), starts.data(), ring.size());
    const std::uint64_t at = starts.at(0);
    ASSERT_NE(at, 0u);
    if (round == 0) begin = at;
    ASSERT_EQ(at, begin);
    launch({1, 1}, take_kernel{}, ring.ref(), starts.data(), std::uint64_t{48});
    ASSERT_NE(starts.at(0), 0u);
    launch({1, 1}, take_kernel{}, ring.ref(), starts.data(), ring.size() + 1);
    ASSERT_EQ(starts.at(0), 0u) << "more than the heap";
  }
}

}  // namespace
}  // namespace warpheap::test::atomic_wrap_test
