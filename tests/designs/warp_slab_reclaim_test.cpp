// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// How slabs of warp_slab come to serve another class, and what becomes of those that stay.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <support/random.hpp>
#include <support/schedules.hpp>
#include <vector>
#include <warpheap/designs/warp_slab/warp_slab.hpp>
#include <warpheap/heap.hpp>

namespace warpheap::test::warp_slab_reclaim_test {
namespace {

constexpr std::uint64_t mib = 1 << 20;

/// A block of `bytes` for each of `count` threads.
struct take_each {
  WARPHEAP_FN void operator()(heap_ref<warp_slab> heap, std::uint64_t bytes, std::uint64_t count, void** kept) const {
    const std::uint64_t i = grid_thread_index();
    if (i < count) kept[i] = heap.malloc(bytes);
  }
};
struct give_each {
  WARPHEAP_FN void operator()(heap_ref<warp_slab> heap, std::uint64_t count, void** kept) const {
    const std::uint64_t i = grid_thread_index();
    if (i < count) heap.free(kept[i]);
  }
};

/// Frees each block of `kept` but those in units whose number is a multiple of `stays`.
struct give_most {
  WARPHEAP_FN void operator()(heap_ref<warp_slab> heap, const void* base, std::uint64_t stays, void** kept) const {
    void*& block = kept[grid_thread_index()];
    const auto offset = static_cast<const std::byte*>(block) - static_cast<const std::byte*>(base);
    if (static_cast<std::uint64_t>(offset) / slab_classes::unit_bytes % stays == 0) return;
    heap.free(block);
    block = nullptr;
  }
};

/// Blocks of `bytes` for all of `kept`, several for each thread.
struct take_many {
  WARPHEAP_FN void operator()(heap_ref<warp_slab> heap, std::uint64_t bytes, std::uint64_t count, void** kept) const {
    for (std::uint64_t i = grid_thread_index(); i < count; i += grid_threads()) kept[i] = heap.malloc(bytes);
  }
};
struct give_many {
  WARPHEAP_FN void operator()(heap_ref<warp_slab> heap, std::uint64_t count, void** kept) const {
    for (std::uint64_t i = grid_thread_index(); i < count; i += grid_threads()) heap.free(kept[i]);
  }
};

grid_shape grid_of(const device_array<void*>& kept) { return grid_shape::covering(kept.size(), 256); }

void take(const heap<warp_slab>& from, std::uint64_t bytes, const device_array<void*>& kept) {
  launch(grid_of(kept), take_each{}, from.ref(), bytes, kept.size(), kept.data());
}
void give(const heap<warp_slab>& to, const device_array<void*>& kept) {
  launch(grid_of(kept), give_each{}, to.ref(), kept.size(), kept.data());
}
std::uint64_t count_served(const device_array<void*>& kept) {
  std::uint64_t served = 0;
  for (const void* block : kept.to_host()) served += block != nullptr ? 1 : 0;
  return served;
}

// In a heap whose makers share regions, slabs of other sizes leave a class as much room as it finds in a new heap. An
// H200 saw 28,320 blocks where there had been 43,680, when slabs lay wherever the last one ended.
TEST(warp_slab_reclaim, slabs_of_other_sizes_leave_no_gaps) {
  const scoped_schedule guard{in_turn_on_one_worker()};
  constexpr std::uint64_t size = 256 * mib;
  constexpr std::uint64_t bytes = 12288;  // slabs of 24 units
  const device_array<void*> all(size / bytes), some(2048);
  const heap<warp_slab> unused{size};
  take(unused, bytes, all);
  const std::uint64_t room = count_served(all);
  EXPECT_GE(room * bytes, size * 9 / 10);
  const heap<warp_slab> used{size};
  for (const std::uint64_t other : {48, 1536, 3584, 10240}) {
    take(used, other, some);
    EXPECT_EQ(count_served(some), some.size());
    give(used, some);
  }
  take(used, bytes, all);
  EXPECT_EQ(count_served(all), room);
}

// What a class is given depends on the slabs that it has, not on those that it once had.
TEST(warp_slab_reclaim, a_class_that_had_the_heap_begins_anew) {
  constexpr std::uint64_t size = 4 * mib;
  constexpr std::uint64_t bytes = 1024;
  for_each_schedule([&](std::uint64_t) {
    const heap<warp_slab> heap{size};
    const device_array<void*> all(size / bytes), one(1), some(warp_width);
    take(heap, bytes, all);
    EXPECT_EQ(count_served(all), all.size());
    give(heap, all);
    take(heap, size, one);
    EXPECT_EQ(count_served(one), 1);
    give(heap, one);
    EXPECT_EQ(heap.allocator_statistics().of(bytes).slabs, 0);
    take(heap, bytes, some);
    EXPECT_EQ(count_served(some), some.size());
    EXPECT_LE(heap.allocator_statistics().of(bytes).slabs, 2);
    give(heap, some);
  });
}

// Some slabs stay, spread over the table. All that they have free is found afterwards, by whoever looks, and so are the
// others' units.
TEST(warp_slab_reclaim, slabs_that_stay_lose_nothing) {
  constexpr std::uint64_t size = 2 * mib;
  constexpr std::uint64_t bytes = 256;
  for (const std::uint64_t stays : {2, 64}) {
    for_each_schedule([&](std::uint64_t) {
      const heap<warp_slab> heap{size};
      const device_array<void*> kept(size / bytes), others(size / 2 / 1024), again(size / bytes);
      take(heap, bytes, kept);
      const std::uint64_t before = heap.allocator_statistics().of(bytes).slabs;
      void* base = kept.at(0);
      for (void* const block : kept.to_host()) base = block < base ? block : base;
      launch(grid_of(kept), give_most{}, heap.ref(), static_cast<const void*>(base), stays, kept.data());
      const std::uint64_t stay = count_served(kept);
      // More than is free, so that all empty slabs are taken back; then as many as there are.
      take(heap, 1024, others);
      EXPECT_LT(heap.allocator_statistics().of(bytes).slabs, before);
      take(heap, bytes, again);
      const warp_slab_statistics full = heap.allocator_statistics();
      EXPECT_EQ(full.of(bytes).free_blocks, 0) << "refused, though there were blocks";
      EXPECT_EQ(full.free_units, 0) << "refused, though there were units";
      EXPECT_EQ(stay + count_served(again) + 4 * count_served(others) + 4 * full.of(1024).free_blocks, size / bytes);
      for (const device_array<void*>* each : {&again, &others, &kept}) give(heap, *each);
      EXPECT_EQ(heap.statistics().live_bytes, 0);
      const device_array<void*> one(1);
      take(heap, size, one);
      EXPECT_EQ(count_served(one), 1) << "the whole heap as one block";
    });
  }
}

// Thousands of blocks of one size are freed, and many warps want blocks of another size at once: all wait while one of
// them has the lock, and they help it. Twice, so that the first size gets slabs of units that were taken back.
TEST(warp_slab_reclaim, a_heap_of_one_size_becomes_one_of_another) {
  constexpr std::uint64_t size = this_backend == backend::cuda ? 64 * mib : 2 * mib;
  constexpr std::uint64_t small = 128;
  constexpr std::uint64_t large = 2048;
  for_each_schedule([&](std::uint64_t) {
    const heap<warp_slab> heap{size};
    const device_array<void*> blocks(size / small), others(size / large);
    for (int turn = 0; turn < 2; ++turn) {
      launch(grid_shape{32, 64}, take_many{}, heap.ref(), small, blocks.size(), blocks.data());
      EXPECT_EQ(count_served(blocks), blocks.size());
      launch(grid_shape{32, 64}, give_many{}, heap.ref(), blocks.size(), blocks.data());
      take(heap, large, others);
      EXPECT_EQ(count_served(others), others.size());
      const warp_slab_statistics full = heap.allocator_statistics();
      EXPECT_EQ(full.of(small).slabs, 0);
      EXPECT_EQ(full.free_units, 0);
      std::vector<void*> each = others.to_host();
      std::sort(each.begin(), each.end());
      EXPECT_EQ(std::adjacent_find(each.begin(), each.end()), each.end()) << "two threads have one block";
      give(heap, others);
      EXPECT_EQ(heap.statistics().live_bytes, 0);
    }
  });
}

// The first class that has an empty slab has too few units for one of five.
TEST(warp_slab_reclaim, as_many_slabs_are_taken_back_as_it_takes) {
  constexpr std::uint64_t size = 2 * mib;
  for_each_schedule([&](std::uint64_t) {
    const heap<warp_slab> heap{size};
    const device_array<void*> first(256), rest(size / 256), one(1);
    take(heap, 64, first);
    take(heap, 256, rest);
    EXPECT_LT(count_served(rest), rest.size()) << "the heap is full";
    give(heap, first);
    give(heap, rest);
    take(heap, 320, one);
    EXPECT_EQ(count_served(one), 1);
    give(heap, one);
  });
}

/// Each thread holds up to `places` blocks of sizes at random, more than there are, and writes its number into each.
struct trade {
  static constexpr int places = 6;
  WARPHEAP_FN void operator()(heap_ref<warp_slab> heap, std::uint64_t seed, int steps, std::uint64_t* faults) const {
    random_stream random{seed, grid_thread_index()};
    constexpr std::uint64_t sizes[] = {64, 256, 1024, 5000, 40000};
    std::uint64_t* held[places] = {};
    for (int step = 0; step < steps; ++step) {
      std::uint64_t*& block = held[random.below(places)];
      // All want the same few sizes for a while, then others.
      const std::uint64_t bytes = sizes[(step / 8 + random.below(2)) % 5];
      if (block == nullptr) {
        block = static_cast<std::uint64_t*>(heap.malloc(bytes));
        if (block != nullptr) *block = grid_thread_index();
      } else {
        give_back(heap, block, faults);
      }
    }
    for (std::uint64_t*& block : held) {
      if (block != nullptr) give_back(heap, block, faults);
    }
  }

 private:
  WARPHEAP_FN static void give_back(heap_ref<warp_slab> heap, std::uint64_t*& block, std::uint64_t* faults) {
    if (*block != grid_thread_index()) {
      atomic_view{*faults}.fetch_add(1, memory_order::relaxed, thread_scope::device);
    }
    heap.free(block);
    block = nullptr;
  }
};

// Classes that grow and shrink by turns, in a heap that is too small for all.
TEST(warp_slab_reclaim, classes_trade_slabs_while_threads_go_on) {
  constexpr std::uint64_t size = 2 * mib;
  for_each_schedule([&](std::uint64_t seed) {
    const heap<warp_slab> heap{size};
    const device_array<std::uint64_t> faults(1);
    device_fill(faults.data(), 0, sizeof(std::uint64_t));
    launch(grid_shape{4, 64}, trade{}, heap.ref(), seed, 80, faults.data());
    EXPECT_EQ(faults.at(0), 0) << "blocks overlap";
    EXPECT_EQ(heap.statistics().live_bytes, 0);
    const device_array<void*> one(1);
    take(heap, size, one);
    EXPECT_EQ(count_served(one), 1) << "the whole heap as one block";
  });
}

}  // namespace
}  // namespace warpheap::test::warp_slab_reclaim_test
