// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// What warp_slab promises beyond the conformance suite: alignment in any memory, small heaps, cache entries that are
// shared, and runs.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <designs/warp_slab_kernels.hpp>
#include <support/random.hpp>
#include <support/scale.hpp>
#include <support/schedules.hpp>
#include <vector>
#include <warpheap/designs/warp_slab/warp_slab.hpp>
#include <warpheap/heap.hpp>

namespace warpheap::test::warp_slab_test {
namespace {

using classes = slab_classes;

// An arena as plain memory gives it, aligned to 4 KiB and no more.
class plain_arena {
 public:
  explicit plain_arena(std::uint64_t bytes)
      : data_(bytes + 2 * classes::unit_bytes), metadata_(warp_slab::metadata_bytes(bytes) + 256) {
    const std::uint64_t at = align_up(reinterpret_cast<std::uint64_t>(data_.data()), classes::unit_bytes) + 4096;
    const std::uint64_t metadata = align_up(reinterpret_cast<std::uint64_t>(metadata_.data()), 256);
    place_ = {reinterpret_cast<std::byte*>(at), bytes, bytes, reinterpret_cast<std::byte*>(metadata)};
  }
  const arena& place() const { return place_; }

 private:
  device_array<std::byte> data_, metadata_;
  arena place_;
};

struct initialise_kernel {
  WARPHEAP_FN void operator()(warp_slab slabs) const { slabs.initialise(); }
};
struct take_aligned_kernel {
  WARPHEAP_FN void operator()(warp_slab slabs, std::uint64_t alignment, void** blocks) const {
    blocks[grid_thread_index()] = slabs.aligned_malloc(alignment, 100);
  }
};

TEST(warp_slab, blocks_are_aligned_in_memory_that_is_not) {
  const std::uint64_t bytes = 64 * classes::unit_bytes;
  for (std::uint64_t alignment = 16; alignment <= 64 << 10; alignment *= 2) {
    const plain_arena memory{bytes};
    const warp_slab slabs{memory.place()};
    launch({1, 32}, initialise_kernel{}, slabs);
    const device_array<void*> blocks{4};
    launch({1, 4}, take_aligned_kernel{}, slabs, alignment, blocks.data());
    for (void* const block : blocks.to_host()) {
      const auto at = reinterpret_cast<std::uint64_t>(block);
      const auto begin = reinterpret_cast<std::uint64_t>(memory.place().data);
      ASSERT_NE(block, nullptr) << "aligned to " << alignment;
      EXPECT_EQ(at % alignment, 0u) << "aligned to " << alignment;
      EXPECT_TRUE(at >= begin && at + 100 <= begin + bytes);
    }
  }
}

// Blocks of several classes, and runs, all of which need an attempt to find memory.
struct take_all_kinds_kernel {
  WARPHEAP_FN void operator()(warp_slab slabs, warp_slab_layout::control* heap, std::uint64_t attempts,
                              void** blocks) const {
    const std::uint64_t i = grid_thread_index();
    if (i == 0) heap->attempts = attempts;
    sync(low_bits(warp_width));
    blocks[i] = slabs.malloc(i % 8 == 0 ? classes::largest_bytes + 1 : std::uint64_t{16} << i % 8);
  }
};

// A number of an attempt that wrapped would look older than a refusal that never was: then a heap that is nearly empty
// refuses.
TEST(warp_slab, the_number_of_attempts_wraps_never) {
  for (const std::uint64_t attempts : {0x7fff'fffeu, 0x8000'0005u, 0xffff'fffeu}) {
    const std::uint64_t bytes = 256 * classes::unit_bytes;
    const plain_arena memory{bytes};
    const warp_slab slabs{memory.place()};
    launch({1, 32}, initialise_kernel{}, slabs);
    const device_array<void*> blocks{32};
    auto* const control = reinterpret_cast<warp_slab_layout::control*>(memory.place().metadata);
    launch({1, 32}, take_all_kinds_kernel{}, slabs, control, attempts, blocks.data());
    for (void* const block : blocks.to_host()) EXPECT_NE(block, nullptr) << "after " << attempts << " attempts";
  }
}

// Thread i takes a block of `bytes[i]`, or frees it.
struct take_sizes {
  WARPHEAP_FN void operator()(heap_ref<warp_slab> heap, const std::uint64_t* bytes, void** kept, bool give) const {
    const std::uint64_t i = grid_thread_index();
    if (give) {
      heap.free(kept[i]);
    } else {
      kept[i] = heap.malloc(bytes[i]);
    }
  }
};

TEST(warp_slab, statistics_tell_of_each_class) {
  constexpr std::uint64_t threads = 128;
  constexpr std::uint64_t unit = classes::unit_bytes;
  heap<warp_slab> heap{std::uint64_t{16} << 20};
  const std::uint64_t units = heap.size() / unit;
  EXPECT_EQ(heap.allocator_statistics().free_units, units);

  // 100 blocks of 48 bytes, 25 of 5,000 (so of 5,120), 3 of 100,000 (so of 7 units).
  std::vector<std::uint64_t> sizes(threads, 48);
  std::fill(sizes.begin() + 100, sizes.begin() + 125, 5000);
  std::fill(sizes.begin() + 125, sizes.end(), 100'000);
  const device_array<std::uint64_t> bytes(threads);
  device_copy(bytes.data(), sizes.data(), threads * sizeof(std::uint64_t));
  const device_array<void*> kept(threads);
  launch({1, threads}, take_sizes{}, heap.ref(), bytes.data(), kept.data(), false);

  const warp_slab_statistics full = heap.allocator_statistics();
  EXPECT_EQ(full.units, units);
  EXPECT_EQ(full.of(48).blocks - full.of(48).free_blocks, 100);
  EXPECT_EQ(full.of(48).blocks, full.of(48).slabs * 1024);  // in three units each
  EXPECT_EQ(full.of(5000).block_bytes, 5120);
  EXPECT_EQ(full.of(5000).blocks - full.of(5000).free_blocks, 25);
  EXPECT_EQ(full.large_blocks, 3);
  EXPECT_EQ(full.large_units, 21);
  EXPECT_EQ(full.live_bytes(), 100 * 48 + 25 * 5120 + 21 * unit);
  EXPECT_EQ(full.live_bytes(), heap.statistics().live_bytes);
  std::uint64_t found = full.free_units + full.large_units;
  for (std::uint32_t c = 0; c < classes::count; ++c) found += full.classes[c].slabs * classes::units(c);
  EXPECT_EQ(found, units);

  launch({1, threads}, take_sizes{}, heap.ref(), bytes.data(), kept.data(), true);
  EXPECT_EQ(heap.allocator_statistics().live_bytes(), 0);
  EXPECT_EQ(heap.allocator_statistics().of(48).blocks, heap.allocator_statistics().of(48).free_blocks);
}

// In a small heap slabs are small, so that it holds one for each of many sizes.
TEST(warp_slab, a_small_heap_serves_many_sizes) {
  const std::vector<std::uint64_t> sizes{16, 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512};
  const device_array<std::uint64_t> bytes(sizes.size());
  device_copy(bytes.data(), sizes.data(), sizes.size() * sizeof(std::uint64_t));
  for_each_schedule([&](std::uint64_t) {
    const heap<warp_slab> heap{16 * classes::unit_bytes};
    const device_array<void*> kept(sizes.size());
    launch({1, static_cast<std::uint32_t>(sizes.size())}, take_sizes{}, heap.ref(), bytes.data(), kept.data(), false);
    for (void* block : kept.to_host()) ASSERT_NE(block, nullptr);
    for (const std::uint64_t size : sizes) {
      EXPECT_EQ(heap.allocator_statistics().of(size).blocks, classes::unit_bytes / size) << size << " bytes";
    }
    launch({1, static_cast<std::uint32_t>(sizes.size())}, take_sizes{}, heap.ref(), bytes.data(), kept.data(), true);
    EXPECT_EQ(heap.statistics().live_bytes, 0);
  });
}

/// Takes a block again and again, of one size in half of the warps and of the other in those whose cache entries are
/// the same ones, but for a lane in each that wants what the others of its warp do not. Counts the blocks that somebody
/// else had, too, or that are of another size.
struct share_cache_entries {
  WARPHEAP_FN void operator()(heap_ref<warp_slab> heap, std::uint32_t* faults) const {
    const std::uint64_t warp = grid_thread_index() / warp_width;
    const bool large = (warp % 64 < 32) != (lane_index() == static_cast<int>(warp % warp_width));
    const std::uint64_t bytes = large ? 80 : 16;
    for (std::uint32_t round = 0; round < 12; ++round) {
      const auto mark = static_cast<std::uint32_t>(grid_thread_index() << 8 | round);
      auto* const block = static_cast<std::uint32_t*>(heap.malloc(bytes));
      bool whole = block != nullptr && heap.usable_size(block) == bytes;
      if (whole) {
        const std::uint64_t last = bytes / sizeof(std::uint32_t) - 1;
        block[0] = mark;
        block[last] = mark;
        fence(memory_order::seq_cst, thread_scope::device);
        whole = block[0] == mark && block[last] == mark;
      }
      if (!whole) atomic_view{*faults}.fetch_add(1, memory_order::relaxed, thread_scope::device);
      heap.free(block);
    }
  }
};

// In a heap this small, warp w + 32 has its cache entry for 16 bytes where warp w has it for 80. So they claim blocks
// of each other's class all the time, and put them back.
TEST(warp_slab, classes_that_share_cache_entries_lose_nothing) {
  for_each_schedule([&](std::uint64_t seed) {
    const heap<warp_slab> heap{std::uint64_t{1} << 20};
    const device_array<std::uint32_t> faults(1);
    for (std::uint64_t launches = scaled(3, 3); launches != 0; --launches) {
      launch({8, 8 * warp_width}, share_cache_entries{}, heap.ref(), faults.data());
    }
    EXPECT_EQ(faults.to_host().front(), 0u) << "seed " << seed;
    const warp_slab_statistics after = heap.allocator_statistics();
    for (const std::uint64_t bytes : {16, 80}) EXPECT_EQ(after.of(bytes).free_blocks, after.of(bytes).blocks);
  });
}

/// Takes a block of a random size up to 8 KiB, and keeps it.
struct take_mixed {
  WARPHEAP_FN void operator()(heap_ref<warp_slab> heap, std::uint64_t salt, std::uint32_t* refused) const {
    random_stream random{salt, grid_thread_index()};
    const atomic_view view{*refused};
    if (heap.malloc(1 + random.below(8192)) == nullptr) view.fetch_add(1, memory_order::relaxed, thread_scope::device);
  }
};

// A heap that gets full under warps that want a dozen sizes each: one warp searches and takes slabs back for all, and
// whoever counts those that only wait (the host's watchdog) must not count it.
TEST(warp_slab, a_warp_that_works_for_all_is_not_waiting) {
  schedule by_turns = current_schedule();
  by_turns.workers = 1;
  const scoped_schedule guard{by_turns};
  for (std::uint64_t salt = 1; salt <= 2; ++salt) {
    const heap<warp_slab> heap{std::uint64_t{8} << 20};
    const device_array<std::uint32_t> refused(1);
    // Until most of a round is refused: of some small sizes one slab lasts for hundreds of rounds.
    std::uint32_t before = 0;
    for (std::uint64_t round = 0; refused.to_host().front() - before < 224; ++round) {
      ASSERT_LT(round, 1000u) << "more was handed out than there is";
      before = refused.to_host().front();
      launch({1, 256}, take_mixed{}, heap.ref(), salt << 16 | round, refused.data());
    }
  }
}

constexpr std::uint64_t unit_bytes = slab_classes::unit_bytes;

/// Each thread takes a run and keeps it.
struct take_run {
  WARPHEAP_FN void operator()(heap_ref<warp_slab> heap, std::uint64_t bytes, void** kept) const {
    kept[grid_thread_index()] = heap.malloc(bytes);
  }
};

// Twice as many ask as there is room for. Runs that fill leaves of the set of units are taken by whoever comes, others
// by those who hold the lock in turn; both give out all that there is.
TEST(warp_slab, runs_fill_a_heap) {
  for (const std::uint64_t units : {5, 8, 9, 16, 64, 100}) {
    for_each_schedule([&](std::uint64_t seed) {
      const heap<warp_slab> heap{64 * std::max<std::uint64_t>(units, 8) * unit_bytes};
      const std::uint64_t bytes = units * unit_bytes - 100;
      const std::uint64_t there = heap.size() / (units * unit_bytes);
      for (const std::uint64_t threads : {std::uint64_t{1}, std::uint64_t{48}}) {
        const grid_shape grid = grid_shape::covering(2 * there, threads);
        const device_array<void*> kept(grid.blocks * grid.threads);
        launch(grid, take_run{}, heap.ref(), bytes, kept.data());
        std::vector<void*> runs = kept.to_host();
        std::erase(runs, nullptr);
        EXPECT_EQ(runs.size(), there) << units << " units, " << threads << " threads a block";
        std::ranges::sort(runs);
        for (std::size_t i = 1; i < runs.size(); ++i) {
          EXPECT_GE(static_cast<std::byte*>(runs[i]) - static_cast<std::byte*>(runs[i - 1]),
                    static_cast<std::ptrdiff_t>(units * unit_bytes));
        }
        launch(grid, give_one{}, heap.ref(), kept.data());
      }
      const device_array<void*> all(1);
      launch({1, 1}, take_run{}, heap.ref(), heap.size(), all.data());
      EXPECT_NE(all.to_host().front(), nullptr) << "the units are not one again, seed " << seed;
    });
  }
}

/// Takes a run and gives it back, again and again; counts what was refused.
struct churn_runs {
  WARPHEAP_FN void operator()(heap_ref<warp_slab> heap, std::uint64_t bytes, std::uint32_t* refused) const {
    for (int round = 0; round < 20; ++round) {
      void* const run = heap.malloc(bytes);
      if (run == nullptr) atomic_view{*refused}.fetch_add(1, memory_order::relaxed, thread_scope::device);
      heap.free(run);
    }
  }
};

// A run for each thread: whatever the others hold, there is one left.
TEST(warp_slab, a_run_that_is_there_is_not_refused) {
  for (const std::uint64_t units : {8, 32, 64}) {
    for_each_schedule([&](std::uint64_t) {
      constexpr std::uint64_t threads = 96;
      const heap<warp_slab> heap{threads * units * unit_bytes};
      const device_array<std::uint32_t> refused(1);
      for (const std::uint64_t in_block : {std::uint64_t{1}, std::uint64_t{48}}) {
        launch(grid_shape::covering(threads, in_block), churn_runs{}, heap.ref(), units * unit_bytes, refused.data());
      }
      EXPECT_EQ(refused.to_host().front(), 0u) << units << " units";
    });
  }
}

/// Half of the warps ask for more than is left, in vain, and the others for runs of a few units, of which there are
/// enough.
struct refused_beside_served_kernel {
  WARPHEAP_FN void operator()(heap_ref<warp_slab> heap, std::uint64_t large, int rounds, std::uint64_t* wrong) const {
    const bool asks_in_vain = grid_thread_index() / warp_width % 2 == 0;
    for (int round = 0; round < rounds; ++round) {
      // Different sizes, so that lanes wait for the lock one by one.
      const std::uint64_t own = 3 + 2 * (grid_thread_index() % 4);
      void* const block = heap.malloc(asks_in_vain ? large : own * classes::unit_bytes);
      if ((block == nullptr) != asks_in_vain) {
        atomic_view{*wrong}.fetch_add(1, memory_order::relaxed, thread_scope::device);
      }
      heap.free(block);
    }
  }
};

// A refusal tells those who wait for no more than it was about: a run of fewer units may be there.
TEST(warp_slab, a_refused_run_refuses_no_smaller_one) {
  constexpr std::uint64_t size = std::uint64_t{64} << 20;  // more than all want together
  for_each_schedule(
      [&](std::uint64_t) {
        const heap<warp_slab> heap{size};
        const device_array<void*> kept(32);
        launch({1, 32}, take_one{}, heap.ref(), std::uint64_t{64}, 1, kept.data());  // so that not all is free
        const device_array<std::uint64_t> wrong(1);
        launch({4, 128}, refused_beside_served_kernel{}, heap.ref(), heap.size(), 2, wrong.data());
        EXPECT_EQ(wrong.at(0), 0u);
      },
      4);
}

}  // namespace
}  // namespace warpheap::test::warp_slab_test
