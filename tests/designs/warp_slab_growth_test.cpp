// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// How large the classes of warp_slab become, and where in them warps come to have their blocks.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <designs/warp_slab_kernels.hpp>
#include <map>
#include <support/random.hpp>
#include <support/scale.hpp>
#include <support/schedules.hpp>
#include <vector>
#include <warpheap/designs/warp_slab/warp_slab.hpp>
#include <warpheap/heap.hpp>

namespace warpheap::test::warp_slab_growth_test {
namespace {

// How many warps have their blocks side by side.
std::uint64_t warps_with_a_word(const device_array<void*>& kept, std::uint64_t bytes) {
  std::uint64_t whole = 0;
  for (std::uint64_t first = 0; first < kept.size(); first += warp_width) {
    std::uint64_t lowest = ~std::uint64_t{0};
    std::uint64_t highest = 0;
    for (std::uint64_t i = first; i < first + warp_width; ++i) {
      const auto at = reinterpret_cast<std::uint64_t>(kept.at(i));
      lowest = std::min(lowest, at);
      highest = std::max(highest, at);
    }
    if (highest - lowest == (warp_width - 1) * bytes) ++whole;
  }
  return whole;
}

// At first warps share words, so some find the word of their cache entry taken later on. Such a warp moves to a free
// word.
TEST(warp_slab_growth, warps_come_to_have_words_of_their_own) {
  if constexpr (warp_width != 32) {
    GTEST_SKIP() << "a word has 32 blocks, for as many lanes";
  } else {
    constexpr std::uint64_t warps = 256;
    constexpr std::uint64_t threads = warps * warp_width;
    constexpr std::uint64_t bytes = 64;
    for_each_schedule([&](std::uint64_t) {
      if (current_schedule().fuzz) return;  // lanes that come one by one are no warp that takes a word
      const heap<warp_slab> heap{std::uint64_t{16} << 20};
      const device_array<void*> kept(threads);
      for (int round = 0; round < 4; ++round) {
        launch(grid_shape::covering(threads, 128), take_one{}, heap.ref(), bytes, round == 0 ? 20 : 32, kept.data());
        if (round == 3) {
          EXPECT_GE(warps_with_a_word(kept, bytes), warps * 15 / 16);
        }
        launch(grid_shape::covering(threads, 128), give_one{}, heap.ref(), kept.data());
      }
      synchronise();
      EXPECT_EQ(heap.statistics().live_bytes, 0);
    });
  }
}

// Warps whose cached words have too little find what is free, although half of the heap is not the class's yet. When
// they looked at neighbouring words only, this class had the whole heap after five rounds.
TEST(warp_slab_growth, a_class_does_not_outgrow_what_is_used) {
  if constexpr (warp_width != 32) GTEST_SKIP() << "the bound is that of warps which take whole words";
  constexpr std::uint64_t threads = 15616;
  constexpr std::uint64_t bytes = 1024;
  for_each_schedule([&](std::uint64_t) {
    if (current_schedule().fuzz) return;  // lanes that come one by one make more of it
    const heap<warp_slab> heap{std::uint64_t{32} << 20};
    const device_array<void*> kept(threads);
    for (int round = 0; round < 5; ++round) {
      launch(grid_shape::covering(threads, 256), take_one{}, heap.ref(), bytes, warp_width, kept.data());
      launch(grid_shape::covering(threads, 256), give_one{}, heap.ref(), kept.data());
    }
    synchronise();
    // A class that grows again and again grows by half of what it has.
    EXPECT_LE(heap.allocator_statistics().of(bytes).blocks, threads * 3 / 2 + threads / 8);
    EXPECT_EQ(heap.statistics().live_bytes, 0);
  });
}

// What a class is given beyond need in the launch in which it begins is a small part of it.
TEST(warp_slab_growth, a_first_launch_takes_little_more_than_it_asks_for) {
  if constexpr (warp_width != 32) GTEST_SKIP() << "the bound is that of warps which take whole words";
  constexpr std::uint64_t threads = 4096;
  for_each_schedule([&](std::uint64_t) {
    if (current_schedule().fuzz) return;  // lanes that come one by one make more of it
    for (const std::uint64_t bytes : {16, 64, 320, 1024}) {
      const heap<warp_slab> heap{std::uint64_t{16} << 20};
      const device_array<void*> kept(threads);
      launch(grid_shape::covering(threads, 256), take_one{}, heap.ref(), bytes, warp_width, kept.data());
      synchronise();
      const warp_slab_statistics after = heap.allocator_statistics();
      const std::uint64_t slab = after.of(bytes).blocks / after.of(bytes).slabs;
      EXPECT_LE(after.of(bytes).blocks, threads * 11 / 10 + slab) << bytes << " bytes";
    }
  });
}

/// Each thread takes and gives back blocks of some sizes, one at a time.
struct come_and_go {
  WARPHEAP_FN void operator()(heap_ref<warp_slab> heap, std::uint64_t bytes, int sizes, int times) const {
    for (int i = 0; i < times; ++i) {
      void* const block = heap.malloc(bytes << i % sizes);
      require(block != nullptr, "there is room");
      heap.free(block);
    }
  }
};

// Threads that run after others have ended take what these gave back, also in the launch in which the class begins. Of
// the heap's size each warp here has a record of its own of when it came.
TEST(warp_slab_growth, a_grid_of_more_threads_than_run_does_not_take_a_block_for_each) {
  if (looks_at_orders) GTEST_SKIP() << "it counts blocks, and the sanitizer looks at accesses";
  const scoped_schedule guard{in_turn_on_one_worker()};
  constexpr bool on_host = this_backend == backend::host;
  if (!on_host && scale_in_force() == work_scale::small) GTEST_SKIP() << "a grid of two million threads";
  constexpr std::uint64_t bytes = 64;
  constexpr std::uint64_t at_once = std::uint64_t{1} << 18;
  constexpr std::uint64_t threads = on_host ? at_once + at_once / 4 : 8 * at_once;
  const heap<warp_slab> heap{std::uint64_t{on_host ? 2 : 8} << 30};
  launch(grid_shape::covering(threads, 256), come_and_go{}, heap.ref(), bytes, 1, 1);
  synchronise();
  // On a GPU about `at_once` threads have a block at a time, and the class grows until most words are a quarter free.
  EXPECT_LE(heap.allocator_statistics().of(bytes).blocks, on_host ? at_once + at_once / 8 : threads / 2 + at_once / 8);
  EXPECT_EQ(heap.statistics().live_bytes, 0);
}

/// Each thread takes a block of one size and one of another, and keeps both.
struct take_two {
  WARPHEAP_FN void operator()(heap_ref<warp_slab> heap, std::uint64_t bytes) const {
    const void* const one = heap.malloc(bytes);
    const void* const other = heap.malloc(2 * bytes);
    require(one != nullptr && other != nullptr, "there is room");
  }
};

// Threads that want two sizes do not malloc and free by turns, so no class is given half as much again.
TEST(warp_slab_growth, a_second_size_is_given_little_more_than_is_asked_for) {
  const scoped_schedule guard{in_turn_on_one_worker()};
  constexpr std::uint64_t threads = 1 << 14;
  constexpr std::uint64_t bytes = 64;
  const heap<warp_slab> heap{std::uint64_t{256} << 20};
  launch(grid_shape::covering(threads, 256), take_two{}, heap.ref(), bytes);
  synchronise();
  // Warps of a GPU draw at the same time, so the limit there is wider.
  constexpr std::uint64_t most = this_backend == backend::host ? threads * 9 / 8 : threads * 5 / 4;
  for (const std::uint64_t each : {bytes, 2 * bytes}) {
    EXPECT_LE(heap.allocator_statistics().of(each).blocks, most) << each << " bytes";
  }
}

/// Threads from `first` on take a block each.
struct take_from {
  WARPHEAP_FN void operator()(heap_ref<warp_slab> heap, std::uint64_t bytes, std::uint64_t first, void** kept) const {
    const std::uint64_t self = grid_thread_index();
    kept[self] = self < first ? nullptr : heap.malloc(bytes);
  }
};

// A class that lost all slabs begins once more, and not in each launch from then on: other warps that ask for as many
// blocks as are free take these.
TEST(warp_slab_growth, a_class_that_lost_its_slabs_does_not_begin_in_each_launch) {
  const scoped_schedule guard{in_turn_on_one_worker()};
  constexpr std::uint64_t threads = 1024;
  constexpr std::uint64_t bytes = 256;
  constexpr int launches = 12;
  const heap<warp_slab> heap{std::uint64_t{8} << 20};
  const std::uint64_t all = heap.size() / bytes;
  const device_array<void*> kept(all);
  const auto take = [&](std::uint64_t size, std::uint64_t first, std::uint64_t count) {
    launch(grid_shape::covering(first + count, 128), take_from{}, heap.ref(), size, first, kept.data());
    launch(grid_shape::covering(first + count, 128), give_one{}, heap.ref(), kept.data());
  };
  take(bytes, 0, threads);
  take(4 * bytes, 0, all / 4);
  for (int i = 1; i <= launches; ++i) take(bytes, i * threads, threads);
  synchronise();
  EXPECT_LE(heap.allocator_statistics().of(bytes).blocks, 3 * threads);
  EXPECT_EQ(heap.statistics().live_bytes, 0);
}

/// Two warps fill slabs of one size, and the first gives a few blocks back. Then a warp at the end of a large grid
/// wants more blocks of that size than came back, and others of a size that nobody had.
struct want_two_sizes {
  static constexpr std::uint32_t last = (1u << 18) / warp_width + 64;  // more warps than run at once

  WARPHEAP_FN static std::uint64_t size_of(int lane) { return lane < warp_width / 2 ? 512 : 1024; }
  WARPHEAP_FN void operator()(heap_ref<warp_slab> heap, void** kept, std::uint32_t* ready) const {
    const std::uint32_t warp = grid_warp_index();
    const int lane = lane_index();
    const atomic_view done{*ready};
    if (warp < 2) {
      void* block = heap.malloc(512);
      if (warp == 0 && lane % 4 == 0) {
        heap.free(block);
        block = nullptr;
      }
      kept[warp * warp_width + static_cast<std::uint32_t>(lane)] = block;
      done.fetch_add(1, memory_order::release, thread_scope::device);
    } else if (warp == last) {
      for (backoff wait; done.load(memory_order::acquire, thread_scope::device) != 2 * warp_width;) wait.pause();
      kept[2 * warp_width + lane] = heap.malloc(size_of(lane));
    }
  }
};

// A lane that is not served by a look has no part in what the lanes of another size draw.
TEST(warp_slab_growth, a_warp_that_comes_late_gets_blocks_of_the_sizes_that_it_wants) {
  const heap<warp_slab> heap{std::uint64_t{64} << 20};
  const device_array<void*> kept(3 * warp_width);
  const device_array<std::uint32_t> ready(1);
  launch(grid_shape{want_two_sizes::last + 1, warp_width}, want_two_sizes{}, heap.ref(), kept.data(), ready.data());
  const std::vector<void*> blocks = kept.to_host();
  std::map<std::uint64_t, std::uint64_t> ends;  // by address
  for (std::uint32_t i = 0; i < blocks.size(); ++i) {
    const auto at = reinterpret_cast<std::uint64_t>(blocks[i]);
    ASSERT_TRUE(at != 0 || i < warp_width) << i;
    if (at == 0) continue;
    const std::uint64_t size = i < 2 * warp_width ? 512 : want_two_sizes::size_of(static_cast<int>(i - 2 * warp_width));
    EXPECT_TRUE(ends.emplace(at, at + size).second) << "two threads have one block";
  }
  std::uint64_t end = 0;
  for (const auto& [at, after] : ends) {
    EXPECT_GE(at, end) << "a block lies in another one";
    end = after;
  }
}

// A warp draws new blocks without a look once a launch. What else it wants it takes of what came back: on the host,
// where a few blocks of the grid run at a time, hardly any size needs a block for each thread.
TEST(warp_slab_growth, warps_do_not_take_new_blocks_for_each_size_that_they_want) {
  if (looks_at_orders) GTEST_SKIP() << "it counts blocks, and the sanitizer looks at accesses";
  const scoped_schedule guard{in_turn_on_one_worker()};
  constexpr int sizes = 3;  // so many blocks of 16 to 64 bytes are less than half of the heap, if all are there at once
  const heap<warp_slab> heap{std::uint64_t{4} << 20};
  launch(grid_shape::covering(1 << 14, 256), come_and_go{}, heap.ref(), std::uint64_t{16}, sizes, 4 * sizes);
  synchronise();
  std::uint64_t all = 0;
  for (const auto& each : heap.allocator_statistics().classes) all += each.blocks * each.block_bytes;
  EXPECT_LE(all, this_backend == backend::host ? heap.size() / 4 : heap.size() * 3 / 4);
  EXPECT_EQ(heap.statistics().live_bytes, 0);
}

// What was enough for one launch and is not for the next has varied, by a small part.
TEST(warp_slab_growth, a_class_that_grows_in_a_later_launch_grows_by_little) {
  constexpr std::uint64_t threads = 8192;
  constexpr std::uint64_t more = threads / 16;
  constexpr std::uint64_t bytes = 1024;
  for_each_schedule([&](std::uint64_t) {
    if (current_schedule().fuzz) return;  // lanes that come one by one make more of it
    const heap<warp_slab> heap{std::uint64_t{64} << 20};
    const device_array<void*> kept(threads), later(more);
    launch(grid_shape::covering(threads, 256), take_one{}, heap.ref(), bytes, warp_width, kept.data());
    const std::uint64_t first = heap.allocator_statistics().of(bytes).blocks;
    launch(grid_shape::covering(more, 256), take_one{}, heap.ref(), bytes, warp_width, later.data());
    const std::uint64_t second = heap.allocator_statistics().of(bytes).blocks;
    EXPECT_GE(second, threads + more);
    EXPECT_LT(second, first * 3 / 2) << "it grew by half";
    for (const device_array<void*>* blocks : {&kept, &later}) {
      for (void* block : blocks->to_host()) ASSERT_NE(block, nullptr);
    }
  });
}

/// Each thread takes a block of a size at random.
struct take_any {
  WARPHEAP_FN void operator()(heap_ref<warp_slab> heap, std::uint64_t most, std::uint64_t seed, void** kept) const {
    random_stream random{seed, grid_thread_index()};
    kept[grid_thread_index()] = heap.malloc(1 + random.below(most));
  }
};

// Where sizes are random each launch wants a little more or less of one. So a class comes to have what the launch with
// the most requests took of it, and an eighth at most that a later launch made ahead of need.
TEST(warp_slab_growth, sizes_at_random_take_little_more_in_later_launches) {
  if constexpr (warp_width != 32)
    GTEST_SKIP() << "the bound is that of warps which ask for many blocks of a size at once";
  constexpr std::uint64_t threads = 16384;
  constexpr std::uint64_t later = 7;
  for_each_schedule([&](std::uint64_t seed) {
    if (current_schedule().fuzz) return;  // lanes that come one by one see less of a class, and draw more
    const heap<warp_slab> heap{std::uint64_t{256} << 20};
    const device_array<void*> kept(threads);
    std::uint64_t first = 0;
    for (std::uint64_t round = 0; round <= later; ++round) {
      launch(grid_shape::covering(threads, 256), take_any{}, heap.ref(), std::uint64_t{1024},
             seed * (later + 1) + round, kept.data());
      launch(grid_shape::covering(threads, 256), give_one{}, heap.ref(), kept.data());
      for (void* block : kept.to_host()) ASSERT_NE(block, nullptr);
      const warp_slab_statistics after = heap.allocator_statistics();
      const std::uint64_t units = after.units - after.free_units;
      if (round == 0) first = units;
      EXPECT_LE(units, first * 9 / 8) << "after launch " << round;
    }
  });
}

/// Each thread holds up to `places` blocks, and mallocs or frees one of them by turns.
struct hold_some {
  static constexpr int places = 4;
  WARPHEAP_FN void operator()(heap_ref<warp_slab> heap, std::uint64_t bytes, std::uint64_t seed, int steps) const {
    random_stream random{seed, grid_thread_index()};
    void* held[places] = {};
    for (int step = 0; step < steps; ++step) {
      void*& block = held[random.below(places)];
      if (block == nullptr) {
        block = heap.malloc(bytes);
      } else {
        heap.free(block);
        block = nullptr;
      }
    }
    for (void* const block : held) heap.free(block);
  }
};

// Threads that malloc and free by turns find what they want at once where much of a class is free, so it has room.
TEST(warp_slab_growth, a_class_whose_blocks_come_and_go_has_room) {
  constexpr std::uint64_t threads = 1024;
  constexpr std::uint64_t bytes = 256;
  for_each_schedule([&](std::uint64_t seed) {
    const heap<warp_slab> heap{std::uint64_t{64} << 20};
    launch({1, threads}, hold_some{}, heap.ref(), bytes, seed, 64);
    const warp_slab_statistics after = heap.allocator_statistics();
    // Half of the places are in use at a time.
    EXPECT_GE(after.of(bytes).blocks, threads * hold_some::places / 2 * 9 / 8);
    EXPECT_EQ(after.of(bytes).free_blocks, after.of(bytes).blocks);
  });
}

}  // namespace
}  // namespace warpheap::test::warp_slab_growth_test
