// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// warp_slab tells for each byte of its arena, and around it, what it is, as a model does that knows the live blocks.

#include <gtest/gtest.h>

#include <cstdint>
#include <support/random.hpp>
#include <support/schedules.hpp>
#include <vector>
#include <warpheap/allocator.hpp>
#include <warpheap/designs/warp_slab/warp_slab.hpp>

namespace warpheap::test::warp_slab_locate_test {
namespace {

constexpr std::uint64_t unit = slab_classes::unit_bytes;
constexpr std::uint64_t units = 256;
constexpr std::uint64_t step = 16;  // looks lie so far apart, one at a multiple and one right before the next

// A block and how much of it is its owner's; freed: null.
struct known_block {
  void* block;
  std::uint64_t bytes;
};

struct initialise_kernel {
  WARPHEAP_FN void operator()(warp_slab slabs) const { slabs.initialise(); }
};
// Takes blocks of slabs of all kinds, and runs of several units.
struct take_some_kernel {
  WARPHEAP_FN void operator()(warp_slab slabs, known_block* kept, std::uint64_t seed) const {
    const std::uint64_t self = grid_thread_index();
    random_stream random{seed, self};
    const std::uint64_t bytes = self == 7 ? 5 * unit : self == 70 ? 9 * unit - 100 : random.size(9000);
    void* const block = slabs.malloc(bytes);
    kept[self] = {block, block == nullptr ? 0 : slabs.usable_size(block)};
  }
};
struct free_some_kernel {
  WARPHEAP_FN void operator()(warp_slab slabs, known_block* kept, std::uint64_t every) const {
    known_block& mine = kept[grid_thread_index()];
    if (mine.block == nullptr || grid_thread_index() % every != 0) return;
    slabs.free(mine.block);
    mine = {};
  }
};
struct locate_kernel {
  WARPHEAP_FN void operator()(warp_slab slabs, std::uint64_t from, std::uint64_t looks, block_location* seen) const {
    for (std::uint64_t i = grid_thread_index(); i < looks; i += grid_threads()) {
      seen[2 * i] = slabs.locate(reinterpret_cast<const void*>(from + i * step));
      seen[2 * i + 1] = slabs.locate(reinterpret_cast<const void*>(from + i * step + step - 1));
    }
  }
};

// Takes one run of units.
struct take_run_kernel {
  WARPHEAP_FN void operator()(warp_slab slabs, known_block* kept, std::uint64_t bytes) const {
    if (grid_thread_index() != 0) return;
    void* const block = slabs.malloc(bytes);
    kept[0] = {block, block == nullptr ? 0 : slabs.usable_size(block)};
  }
};

class located : public testing::Test {
 protected:
  // The arena lies in the middle, so that what is around it can be asked for, too.
  located() : memory_((units + 4) * unit), metadata_(warp_slab::metadata_bytes(units * unit) + 256), kept_(128) {
    const std::uint64_t begin = align_up(reinterpret_cast<std::uint64_t>(memory_.data()), unit) + unit;
    const std::uint64_t metadata = align_up(reinterpret_cast<std::uint64_t>(metadata_.data()), 256);
    place_ = {reinterpret_cast<std::byte*>(begin), units * unit, units * unit, reinterpret_cast<std::byte*>(metadata)};
    launch({4, 32}, initialise_kernel{}, slabs());
  }
  warp_slab slabs() const { return warp_slab{place_}; }
  known_block* kept() const { return kept_.data(); }
  std::uint64_t begin() const { return reinterpret_cast<std::uint64_t>(place_.data); }
  void take(std::uint64_t seed) { launch({4, 32}, take_some_kernel{}, slabs(), kept_.data(), seed); }
  void take_run(std::uint64_t bytes) { launch({1, 32}, take_run_kernel{}, slabs(), kept_.data(), bytes); }
  void free_each(std::uint64_t every) { launch({4, 32}, free_some_kernel{}, slabs(), kept_.data(), every); }

  // Compares what `locate` says, from a unit before the arena to one past it.
  void expect_all_told() {
    const std::uint64_t begin = reinterpret_cast<std::uint64_t>(place_.data);
    const std::uint64_t from = begin - unit;
    const std::uint64_t looks = (units + 2) * unit / step;
    const device_array<block_location> seen(2 * looks);
    launch({8, 128}, locate_kernel{}, slabs(), from, looks, seen.data());
    std::vector<block_location> expected(2 * looks, block_location::free);
    for (std::uint64_t i = 0; i < unit / step * 2; ++i) {
      expected[i] = block_location::outside;
      expected[expected.size() - 1 - i] = block_location::outside;
    }
    for (const known_block& each : kept_.to_host()) {
      if (each.block == nullptr) continue;
      const std::uint64_t first = (reinterpret_cast<std::uint64_t>(each.block) - from) / step * 2;
      for (std::uint64_t i = 0; i < each.bytes / step * 2; ++i) expected[first + i] = block_location::inside;
      expected[first] = block_location::block;
    }
    const std::vector<block_location> told = seen.to_host();
    for (std::uint64_t i = 0; i < told.size(); ++i) {
      ASSERT_EQ(told[i], expected[i]) << "look " << i % 2 << " at unit " << i / 2 * step / unit << " - 1, byte "
                                      << i / 2 * step % unit;
    }
  }
  std::uint64_t live() const {
    std::uint64_t count = 0;
    for (const known_block& each : kept_.to_host()) count += each.block != nullptr;
    return count;
  }

 private:
  device_array<std::byte> memory_, metadata_;
  device_array<known_block> kept_;
  arena place_;
};

TEST_F(located, nothing_is_a_block_in_an_empty_heap) { expect_all_told(); }

TEST_F(located, blocks_of_slabs_and_runs) {
  take(1);
  ASSERT_EQ(live(), 128u);
  expect_all_told();
}

TEST_F(located, what_was_freed_is_free) {
  take(2);
  free_each(3);
  expect_all_told();
  free_each(7);
  expect_all_told();
  free_each(1);
  expect_all_told();
  take(3);
  expect_all_told();
}

// Nobody takes blocks meanwhile, so one that was freed is free from then on.
struct free_and_locate_kernel {
  WARPHEAP_FN void operator()(warp_slab slabs, known_block* kept, std::uint64_t* late) const {
    void* const block = kept[grid_thread_index()].block;
    // Where slabs of all sizes lie in 256 units, one of 20 units sometimes has no place.
    if (block == nullptr) return;
    slabs.free(block);
    if (slabs.locate(block) == block_location::free) return;
    atomic_view{*late}.fetch_add(1, memory_order::relaxed, thread_scope::device);
  }
};
TEST_F(located, a_block_is_free_when_its_free_returns) {
  for_each_schedule([&](std::uint64_t seed) {
    take(seed);
    const device_array<std::uint64_t> late(1);
    launch({4, 32}, free_and_locate_kernel{}, slabs(), kept(), late.data());
    EXPECT_EQ(late.at(0), 0u) << "lanes returned before their blocks were free";
  });
}

TEST_F(located, a_run_longer_than_a_leaf_of_the_set_of_units) {
  take_run(70 * unit);
  ASSERT_EQ(live(), 1u);
  expect_all_told();
  free_each(1);
  expect_all_told();
}

// Takes blocks of slabs of five units each.
struct take_of_large_slabs_kernel {
  WARPHEAP_FN void operator()(warp_slab slabs, known_block* kept) const {
    void* const block = slabs.malloc(320);
    kept[grid_thread_index()] = {block, block == nullptr ? 0 : slabs.usable_size(block)};
  }
};
// A slab that is taken back leaves nothing of itself in any of its units.
TEST_F(located, a_run_over_units_that_were_of_slabs) {
  launch({4, 32}, take_of_large_slabs_kernel{}, slabs(), kept());
  ASSERT_EQ(live(), 128u);
  free_each(1);
  take_run(units * unit);
  ASSERT_EQ(live(), 1u);
  // The way back to the begin of a run is long, so only a part is looked at: where slabs lie first.
  constexpr std::uint64_t looks = 16 * unit / step;
  const device_array<block_location> seen(2 * looks);
  launch({8, 128}, locate_kernel{}, slabs(), begin(), looks, seen.data());
  const std::vector<block_location> told = seen.to_host();
  for (std::uint64_t i = 0; i < told.size(); ++i) {
    ASSERT_EQ(told[i], i == 0 ? block_location::block : block_location::inside) << "look " << i;
  }
  free_each(1);
  expect_all_told();
}

struct locate_null_kernel {
  WARPHEAP_FN void operator()(warp_slab slabs, block_location* seen) const { *seen = slabs.locate(nullptr); }
};
TEST_F(located, null_is_outside) {
  const device_array<block_location> seen(1);
  launch({1, 1}, locate_null_kernel{}, slabs(), seen.data());
  EXPECT_EQ(seen.at(0), block_location::outside);
}

}  // namespace
}  // namespace warpheap::test::warp_slab_locate_test
