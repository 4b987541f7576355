// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// What bump promises beyond the conformance suite: its exhaustion is exact, whatever the threads do at the limit.

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <support/random.hpp>
#include <support/scale.hpp>
#include <support/schedules.hpp>
#include <warpheap/designs/bump/bump.hpp>
#include <warpheap/heap.hpp>

namespace warpheap::test::bump_test {
namespace {

struct tally {
  std::uint64_t granted;  // bytes of granted blocks, rounded as bump rounds
  std::uint64_t refused;  // requests
};

/// Threads ask for mixed sizes until each was refused a granule.
struct drain_kernel {
  WARPHEAP_FN void operator()(heap_ref<bump> heap, tally* sums, std::uint64_t seed, std::uint64_t largest) const {
    random_stream random{seed, grid_thread_index()};
    std::uint64_t granted = 0;
    std::uint64_t refused = 0;
    for (bool full = false; !full;) {
      const std::uint64_t bytes = random.size(largest);
      if (heap.malloc(bytes) != nullptr) {
        granted += align_up(bytes, 16);
      } else {
        // Too large for what is left, or none is left: only a granule tells.
        ++refused;
        full = heap.malloc(16) == nullptr;
        if (!full) granted += 16;
      }
    }
    atomic_view{sums->granted}.fetch_add(granted, memory_order::relaxed, thread_scope::device);
    atomic_view{sums->refused}.fetch_add(refused, memory_order::relaxed, thread_scope::device);
  }
};

TEST(bump, hands_out_every_granule_before_it_refuses_one) {
  const std::uint64_t size = this_backend == backend::host ? 100'008 : 32'000'008;
  for_each_schedule([&](std::uint64_t seed) {
    for (const std::uint64_t largest : {16, 300, 5000}) {
      const heap<bump> heap{size};
      const device_array<tally> sums(1);
      launch(grid_shape::covering(scaled(512, 1 << 16), 128), drain_kernel{}, heap.ref(), sums.data(), seed, largest);
      EXPECT_EQ(sums.at(0).granted, align_down(size, 16)) << "sizes up to " << largest;
      EXPECT_GT(sums.at(0).refused, 0u);
      EXPECT_EQ(heap.statistics().live_bytes, align_down(size, 16)) << "the offset says other than the grants";
    }
  });
}

/// Odd threads ask for all of a heap that is not empty, again and again, which moves the offset past the limit for a
/// moment each time; even ones for granules, which they must get.
struct greedy_neighbours_kernel {
  WARPHEAP_FN void operator()(heap_ref<bump> heap, tally* sums, std::uint64_t too_large) const {
    for (int round = 0; round < 4; ++round) {
      const bool greedy = grid_thread_index() % 2 == 1;
      const bool served = heap.malloc(greedy ? too_large : 16) != nullptr;
      if (greedy && served) check_failed("bump granted more than it has");
      if (served) atomic_view{sums->granted}.fetch_add(16, memory_order::relaxed, thread_scope::device);
      if (!served && !greedy) atomic_view{sums->refused}.fetch_add(1, memory_order::relaxed, thread_scope::device);
    }
  }
};

struct one_granule_kernel {
  WARPHEAP_FN void operator()(heap_ref<bump> heap) const {
    require(heap.malloc(16) != nullptr, "an empty bump heap refused a granule");
  }
};

TEST(bump, serves_small_requests_beside_too_large_ones) {
  const grid_shape grid = grid_shape::covering(scaled(512, 1 << 16), 128);
  const std::uint64_t needed = grid.blocks * grid.threads / 2 * 4 * 16;
  for_each_schedule([&](std::uint64_t) {
    // Exactly enough: one lost granule and somebody is refused.
    const heap<bump> heap{16 + needed};
    const device_array<tally> sums(1);
    launch({1, 1}, one_granule_kernel{}, heap.ref());
    launch(grid, greedy_neighbours_kernel{}, heap.ref(), sums.data(), 16 + needed);
    EXPECT_EQ(sums.at(0).refused, 0u);
    EXPECT_EQ(sums.at(0).granted, needed);
  });
}

/// Lanes ask together for sizes whose sum no 64-bit number holds, or only just.
struct huge_sums_kernel {
  WARPHEAP_FN void operator()(heap_ref<bump> heap, tally* sums, std::uint64_t bytes) const {
    const bool modest = lane_index() == warp_width / 2;
    const bool served = heap.malloc(modest ? 16 : bytes) != nullptr;
    if (served) atomic_view{sums->granted}.fetch_add(modest ? 16 : 1, memory_order::relaxed, thread_scope::device);
    if (!served) atomic_view{sums->refused}.fetch_add(1, memory_order::relaxed, thread_scope::device);
  }
};

TEST(bump, sums_of_a_group_do_not_overflow) {
  for_each_schedule([&](std::uint64_t) {
    for (const std::uint64_t bytes : {std::uint64_t{1} << 59, (std::uint64_t{1} << 59) - 15, std::uint64_t{1} << 56,
                                      std::uint64_t{1} << 60, std::uint64_t{1} << 63, unlimited, unlimited - 15}) {
      const heap<bump> heap{4096};
      const device_array<tally> sums(1);
      const std::uint64_t warps = 4;
      launch(grid_shape{1, static_cast<std::uint32_t>(warps * warp_width)}, huge_sums_kernel{}, heap.ref(), sums.data(),
             bytes);
      EXPECT_EQ(sums.at(0).granted, warps * 16) << "with requests of " << bytes;
      EXPECT_EQ(sums.at(0).refused, warps * (warp_width - 1)) << "with requests of " << bytes;
    }
  });
}

/// Each lane of a warp asks for another size and notes where its block begins.
struct mixed_group_kernel {
  WARPHEAP_FN void operator()(heap_ref<bump> heap, std::uint64_t* starts) const {
    starts[grid_thread_index()] = reinterpret_cast<std::uint64_t>(heap.malloc(1 + grid_thread_index() * 7));
  }
};

TEST(bump, packs_the_blocks_of_a_group_without_gaps) {
  const heap<bump> heap{1 << 20};
  const std::uint64_t lanes = warp_width;
  const device_array<std::uint64_t> starts(lanes);
  launch(grid_shape{1, static_cast<std::uint32_t>(lanes)}, mixed_group_kernel{}, heap.ref(), starts.data());
  std::map<std::uint64_t, std::uint64_t> bytes_at;
  for (std::uint64_t lane = 0; lane < lanes; ++lane) bytes_at[starts.at(lane)] = align_up(1 + lane * 7, 16);
  ASSERT_EQ(bytes_at.size(), lanes);
  std::uint64_t next = bytes_at.begin()->first;
  for (const auto& [start, bytes] : bytes_at) {
    EXPECT_EQ(start, next) << "a gap or an overlap of neighbours";
    next = start + bytes;
  }
  EXPECT_EQ(heap.statistics().live_bytes, next - bytes_at.begin()->first);
}

/// Aligned blocks take what the worst place needs, and no more.
struct aligned_kernel {
  WARPHEAP_FN void operator()(heap_ref<bump> heap, tally* sums) const {
    if (heap.aligned_malloc(4096, 100) == nullptr) {
      atomic_view{sums->refused}.fetch_add(1, memory_order::relaxed, thread_scope::device);
    }
  }
};

TEST(bump, aligned_blocks_fit_wherever_the_offset_stands) {
  const std::uint64_t threads = 64;
  const heap<bump> exact{threads * (112 + 4096 - 16)};
  const device_array<tally> sums(1);
  launch(grid_shape{1, static_cast<std::uint32_t>(threads)}, aligned_kernel{}, exact.ref(), sums.data());
  EXPECT_EQ(sums.at(0).refused, 0u);
}

}  // namespace
}  // namespace warpheap::test::bump_test
