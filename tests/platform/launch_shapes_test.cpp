// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Grids of all shapes: each thread runs once and knows its place; blocks share storage that starts as zero.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <support/schedules.hpp>
#include <vector>
#include <warpheap/platform.hpp>

namespace warpheap::launch_shapes_test {
namespace {

constexpr grid_shape shapes[] = {{1, 1},    {1, 7},   {3, 32},  {2, 33},  {5, 31},    {1, 1024},
                                 {2, 1000}, {100, 1}, {4, 256}, {17, 96}, {2000, 32}, {1, 129}};

struct place {
  std::uint32_t runs;
  std::uint32_t thread;
  std::uint32_t block_size;
  int lane;
  std::uint64_t block;
  std::uint64_t blocks;
  std::uint64_t grid_size;
  std::uint32_t warp;
};

struct record_place {
  WARPHEAP_FN void operator()(place* places) const {
    place& mine = places[block_index() * block_threads() + thread_index()];
    atomic_view{mine.runs}.fetch_add(1, memory_order::relaxed, thread_scope::device);
    mine.thread = thread_index();
    mine.block_size = block_threads();
    mine.lane = lane_index();
    mine.block = block_index();
    mine.blocks = grid_blocks();
    mine.grid_size = grid_threads();
    mine.warp = grid_warp_index();
  }
};

TEST(launch_shapes, each_thread_runs_once_and_knows_its_place) {
  for (const grid_shape shape : shapes) {
    SCOPED_TRACE(std::to_string(shape.blocks) + " blocks of " + std::to_string(shape.threads));
    device_array<place> places(shape.blocks * shape.threads);
    launch(shape, record_place{}, places.data());
    const std::vector<place> found = places.to_host();
    for (std::uint64_t i = 0; i < found.size(); ++i) {
      ASSERT_EQ(found[i].runs, 1u) << i;
      ASSERT_EQ(found[i].thread, i % shape.threads);
      ASSERT_EQ(found[i].block, i / shape.threads);
      ASSERT_EQ(found[i].lane, static_cast<int>(i % shape.threads % warp_width));
      ASSERT_EQ(found[i].block_size, shape.threads);
      ASSERT_EQ(found[i].blocks, shape.blocks);
      ASSERT_EQ(found[i].grid_size, shape.blocks * shape.threads);
      // Numbered on from warp to warp, and from the last of a block to the first of the next.
      ASSERT_EQ(found[i].warp, i == 0 ? 0u : found[i - 1].warp + (found[i].lane == 0 ? 1u : 0u));
    }
  }
}

struct record_launch {
  WARPHEAP_FN void operator()(std::uint64_t* numbers) const { numbers[grid_thread_index()] = launch_number(); }
};

TEST(launch_shapes, threads_know_their_launch_from_the_ones_before) {
  constexpr grid_shape shape{7, 40};
  std::vector<std::uint64_t> before;
  for (int i = 0; i < 5; ++i) {
    device_array<std::uint64_t> numbers(shape.blocks * shape.threads);
    launch(shape, record_launch{}, numbers.data());
    const std::vector<std::uint64_t> found = numbers.to_host();
    EXPECT_EQ(found, std::vector<std::uint64_t>(found.size(), found.front()));
    EXPECT_EQ(std::count(before.begin(), before.end(), found.front()), 0);
    before.push_back(found.front());
  }
}

TEST(launch_shapes, a_grid_of_no_blocks_does_nothing) {
  device_array<place> places(1);
  launch(grid_shape{0, 32}, record_place{}, places.data());
  launch(grid_shape::covering(0), record_place{}, places.data());
  synchronise();
  EXPECT_EQ(places.at(0).runs, 0u);
}

TEST(launch_shapes, covering_has_enough_threads) {
  static_assert(grid_shape::covering(1).blocks == 1 && grid_shape::covering(256).blocks == 1);
  static_assert(grid_shape::covering(257).blocks == 2 && grid_shape::covering(1000, 100).blocks == 10);
}

TEST(launch_shapes, a_block_of_too_many_threads_is_refused) {
  device_array<place> places(1);
  EXPECT_THROW(launch(grid_shape{1, 1025}, record_place{}, places.data()), launch_failure);
  EXPECT_THROW(launch(grid_shape{1, 0}, record_place{}, places.data()), launch_failure);
  launch(grid_shape{1, 1}, record_place{}, places.data());  // and the next launch works
  EXPECT_EQ(places.at(0).runs, 1u);
}

// Keeps 96 values alive, more than the 64 registers that each of 1,024 threads can have.
template <std::uint32_t LargestBlock>
struct keep_many_values {
  static constexpr std::uint32_t largest_block = LargestBlock;

  WARPHEAP_FN void operator()(std::uint32_t* sums, std::uint32_t turns) const {
    std::uint32_t values[96];
    for (std::uint32_t i = 0; i < 96; ++i) values[i] = i + thread_index();
    for (std::uint32_t turn = 0; turn < turns; ++turn) {
      for (std::uint32_t i = 0; i < 96; ++i) values[i] = values[i] * 5 + values[(i + 7) % 96];
    }
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0; i < 96; ++i) sum += values[i] ^ i;
    sums[grid_thread_index()] = sum;
  }
};

TEST(launch_shapes, a_body_that_says_its_largest_block_starts_with_it) {
  device_array<std::uint32_t> large(1024);
  device_array<std::uint32_t> small(1024);
  launch(grid_shape{1, 1024}, keep_many_values<1024>{}, large.data(), 10u);
  launch(grid_shape{1, 1024}, keep_many_values<1024>{}, small.data(), 0u);
  synchronise();
  EXPECT_NE(large.to_host(), small.to_host());
  launch(grid_shape{1, 1}, keep_many_values<32>{}, small.data(), 10u);
  EXPECT_EQ(small.at(0), large.at(0));
}

TEST(launch_shapes, a_block_larger_than_a_body_says_is_refused_with_a_reason) {
  device_array<std::uint32_t> sums(64);
  try {
    launch(grid_shape{1, 33}, keep_many_values<32>{}, sums.data(), 1u);
    FAIL() << "33 threads started where the body is for 32";
  } catch (const launch_failure& failure) {
    EXPECT_NE(std::string{failure.what()}.find("up to 32 threads, not 33"), std::string::npos) << failure.what();
  }
  launch(grid_shape{0, 33}, keep_many_values<32>{}, sums.data(), 1u);  // a grid of no blocks does nothing
}

// Arguments are copied: a lane that changes its own changes no other's.
struct change_arguments {
  WARPHEAP_FN void operator()(std::uint32_t* out, place argument) const {
    argument.runs += thread_index();
    out[grid_thread_index()] = argument.runs;
  }
};

TEST(launch_shapes, lanes_have_their_own_arguments) {
  device_array<std::uint32_t> out(256);
  place argument{};
  argument.runs = 100;
  launch(grid_shape{2, 128}, change_arguments{}, out.data(), argument);
  const std::vector<std::uint32_t> found = out.to_host();
  for (std::uint32_t i = 0; i < 256; ++i) ASSERT_EQ(found[i], 100 + i % 128);
}

struct tile {
  std::uint64_t sums[8];
  alignas(16) std::uint32_t values[1024];
};

// Checks that the storage starts as zero, adds up in it, and leaves it dirty for the next block.
struct sum_in_shared {
  WARPHEAP_FN void operator()(tile& shared, std::uint64_t* out, std::uint32_t* faults) const {
    const std::uint32_t me = thread_index();
    bool clean = shared.values[me] == 0;
    for (const std::uint64_t sum : shared.sums) clean = clean && sum == 0;
    if (!clean || reinterpret_cast<std::uintptr_t>(shared.values) % 16 != 0) {
      atomic_view{*faults}.fetch_add(1, memory_order::relaxed, thread_scope::device);
    }
    sync_block();
    shared.values[me] = me + 1;
    sync_block();
    const std::uint32_t other = shared.values[(me + 1) % block_threads()];
    atomic_view{shared.sums[me % 8]}.fetch_add(other, memory_order::relaxed, thread_scope::block);
    sync_block();
    if (me != 0) return;
    std::uint64_t sum = 0;
    for (const std::uint64_t part : shared.sums) sum += part;
    out[block_index()] = sum;
  }
};

TEST(launch_shapes, blocks_have_storage_of_their_own) {
  test::for_each_schedule([](std::uint64_t) {
    for (const grid_shape shape : {grid_shape{20, 64}, grid_shape{6, 1000}, grid_shape{9, 33}, grid_shape{3, 1}}) {
      device_array<std::uint64_t> out(shape.blocks);
      device_array<std::uint32_t> faults(1);
      launch_with_shared<tile>(shape, sum_in_shared{}, out.data(), faults.data());
      EXPECT_EQ(faults.at(0), 0u);
      for (const std::uint64_t sum : out.to_host()) {
        ASSERT_EQ(sum, std::uint64_t{shape.threads} * (shape.threads + 1) / 2);
      }
    }
  });
}

}  // namespace
}  // namespace warpheap::launch_shapes_test
