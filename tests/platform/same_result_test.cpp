// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// One program that uses most of the platform has the same result wherever it runs: the one that a plain loop on the
// host finds without the platform.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <support/schedules.hpp>
#include <vector>
#include <warpheap/platform.hpp>

namespace warpheap::same_result_test {
namespace {

constexpr std::uint32_t threads = 128;
constexpr std::uint64_t blocks = 12;
constexpr std::uint32_t buckets = 16;

struct result {
  std::uint64_t histogram[buckets];
  std::uint64_t checksum;
  std::uint32_t smallest;
  std::uint32_t largest;
  std::uint64_t by_block[blocks];
};

struct tile {
  std::uint32_t histogram[buckets];
  std::uint32_t values[threads];
};

struct everything {
  WARPHEAP_FN void operator()(tile& shared, std::uint64_t seed, result* out) const {
    constexpr thread_scope scope = thread_scope::device;
    const auto value = static_cast<std::uint32_t>(mix(seed ^ mix(grid_thread_index())));
    shared.values[thread_index()] = value;
    // Lanes of the same bucket count themselves with one addition, whoever happens to be together.
    const lane_mask together = active_group();
    const lane_mask same = match(together, value % buckets);
    if (is_leader(same)) {
      atomic_view{shared.histogram[value % buckets]}.fetch_add(static_cast<std::uint32_t>(group_size(same)),
                                                               memory_order::relaxed, thread_scope::block);
    }
    atomic_view{out->smallest}.fetch_min(value, memory_order::relaxed, scope);
    atomic_view{out->largest}.fetch_max(value, memory_order::relaxed, scope);
    sync_block();
    const std::uint32_t neighbour = shared.values[(thread_index() + 1) % threads];
    atomic_view{out->checksum}.fetch_xor(mix(neighbour ^ grid_thread_index()), memory_order::relaxed, scope);
    const lane_mask warp = low_bits(warp_width);
    const std::uint64_t sum = reduce(warp, std::uint64_t{neighbour}, plus{});
    if (is_leader(warp)) atomic_view{out->by_block[block_index()]}.fetch_add(sum, memory_order::relaxed, scope);
    if (thread_index() < buckets) {
      const std::uint64_t count = shared.histogram[thread_index()];
      atomic_view{out->histogram[thread_index()]}.fetch_add(count, memory_order::relaxed, scope);
    }
  }
};

result by_hand(std::uint64_t seed) {
  result expected{};
  expected.smallest = ~0u;
  const auto value = [seed](std::uint64_t thread) { return static_cast<std::uint32_t>(mix(seed ^ mix(thread))); };
  for (std::uint64_t thread = 0; thread < blocks * threads; ++thread) {
    const std::uint64_t block = thread / threads;
    const std::uint32_t neighbour = value(block * threads + (thread + 1) % threads);
    ++expected.histogram[value(thread) % buckets];
    expected.smallest = std::min(expected.smallest, value(thread));
    expected.largest = std::max(expected.largest, value(thread));
    expected.checksum ^= mix(neighbour ^ thread);
    expected.by_block[block] += neighbour;
  }
  return expected;
}

TEST(same_result, on_every_machine_and_schedule) {
  test::for_each_schedule([](std::uint64_t seed) {
    result start{};
    start.smallest = ~0u;
    device_array<result> out(std::vector<result>{start});
    launch_with_shared<tile>(grid_shape{blocks, threads}, everything{}, seed, out.data());
    const result found = out.at(0);
    const result expected = by_hand(seed);
    for (std::uint32_t i = 0; i < buckets; ++i) EXPECT_EQ(found.histogram[i], expected.histogram[i]) << "bucket " << i;
    for (std::uint64_t i = 0; i < blocks; ++i) EXPECT_EQ(found.by_block[i], expected.by_block[i]) << "block " << i;
    EXPECT_EQ(found.checksum, expected.checksum);
    EXPECT_EQ(found.smallest, expected.smallest);
    EXPECT_EQ(found.largest, expected.largest);
  });
}

// Both backends compare with these constants, so a host run and a GPU run are compared with each other too.
TEST(same_result, is_this_one) {
  result start{};
  start.smallest = ~0u;
  device_array<result> out(std::vector<result>{start});
  launch_with_shared<tile>(grid_shape{blocks, threads}, everything{}, std::uint64_t{2026}, out.data());
  const result found = out.at(0);
  EXPECT_EQ(found.checksum, 4198113974465683815u);
  EXPECT_EQ(found.smallest, 3890110u);
  EXPECT_EQ(found.largest, 4293961414u);
  EXPECT_EQ(found.histogram[7], 93u);
  EXPECT_EQ(found.by_block[11], 278819585660u);
}

}  // namespace
}  // namespace warpheap::same_result_test
