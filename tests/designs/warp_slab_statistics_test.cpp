// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// warp_slab's figures stay true when a heap changes its size: slabs are as they were made.

#include <gtest/gtest.h>

#include <cstdint>
#include <designs/warp_slab_kernels.hpp>
#include <warpheap/designs/warp_slab/warp_slab.hpp>
#include <warpheap/heap.hpp>

namespace warpheap::test::warp_slab_statistics_test {
namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;
constexpr int lanes = warp_width < 10 ? warp_width : 10;

void expect_blocks_in_use(const heap<warp_slab>& of, std::uint64_t bytes) {
  const warp_slab_statistics now = of.allocator_statistics();
  EXPECT_EQ(now.of(bytes).blocks - now.of(bytes).free_blocks, std::uint64_t{lanes}) << bytes << " bytes";
  EXPECT_EQ(now.live_bytes(), of.statistics().live_bytes) << bytes << " bytes";
}

// A small heap has smaller slabs, and keeps them in a place that is large.
TEST(warp_slab_statistics, slabs_of_a_small_heap_are_counted_as_they_are) {
  for (const std::uint64_t bytes : {16, 80, 500, 2048}) {
    heap<warp_slab> of{mib};
    const device_array<void*> kept(warp_width);
    launch({1, warp_width}, take_one{}, of.ref(), bytes, lanes, kept.data());
    expect_blocks_in_use(of, bytes);
    of.relocate(8 * mib);
    expect_blocks_in_use(of, bytes);
    of.relocate(16 * mib);
    expect_blocks_in_use(of, bytes);
  }
}

// After a reset slabs are as the present place has them.
TEST(warp_slab_statistics, a_reset_makes_slabs_of_the_present_size) {
  heap<warp_slab> of{mib};
  const device_array<void*> kept(warp_width);
  launch({1, warp_width}, take_one{}, of.ref(), std::uint64_t{80}, lanes, kept.data());
  of.relocate(8 * mib);
  of.reset();
  launch({1, warp_width}, take_one{}, of.ref(), std::uint64_t{80}, lanes, kept.data());
  expect_blocks_in_use(of, 80);
  const warp_slab_statistics now = of.allocator_statistics();
  EXPECT_EQ(now.of(80).blocks, now.of(80).slabs * slab_classes::blocks(slab_classes::of(80).of_class));
}

}  // namespace
}  // namespace warpheap::test::warp_slab_statistics_test
