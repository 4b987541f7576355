// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The throughput-oriented allocator: the conformance suite with small chunks, so that the suite's heaps have many, and
// then what is special to it.

#include <gtest/gtest.h>

#include <allocator/conformance/fixture.hpp>
#include <cstdint>
#include <string>
#include <support/random.hpp>
#include <support/scale.hpp>
#include <support/schedules.hpp>
#include <warpheap/baselines.hpp>
#include <warpheap/designs/bulk/bulk.hpp>

namespace warpheap::test::bulk_test {
namespace {

/// Chunks of four pages: three bins of a page, or a bin of seven blocks of 2 KiB.
using small_chunks = bulk_allocator<buddy_tree, 4>;
const bool registered = register_conformance<small_chunks>();

/// The buddy system that the paper describes.
using paper_s_form = bulk_allocator<state_buddy, 4>;
static_assert(device_allocator<paper_s_form>);

/// Records tell the two forms apart by their names.
TEST(bulk, has_a_name_for_each_buddy_system) {
  EXPECT_STREQ(bulk::name, "bulk");
  EXPECT_STREQ(paper_s_form::name, "bulk_states");
}

/// Takes blocks of `bytes` until there are no more; counts those that begin at a page, and those that begin elsewhere.
struct fill_and_classify_kernel {
  template <class A>
  WARPHEAP_FN void operator()(heap_ref<A> heap, std::uint64_t bytes, void** blocks, std::uint64_t* taken,
                              std::uint64_t* of_pages) const {
    for (void* block = heap.malloc(bytes); block != nullptr; block = heap.malloc(bytes)) {
      const bool page = reinterpret_cast<std::uint64_t>(block) % 4096 == 0;
      if (page) atomic_view{*of_pages}.fetch_add(1, memory_order::relaxed, thread_scope::device);
      blocks[atomic_view{*taken}.fetch_add(1, memory_order::relaxed, thread_scope::device)] = block;
    }
  }
};
struct free_listed_kernel {
  template <class A>
  WARPHEAP_FN void operator()(heap_ref<A> heap, void* const* blocks, std::uint64_t count) const {
    for (std::uint64_t i = grid_thread_index(); i < count; i += grid_threads()) heap.free(blocks[i]);
  }
};
struct take_one_kernel {
  template <class A>
  WARPHEAP_FN void operator()(heap_ref<A> heap, std::uint64_t bytes, void** block) const {
    *block = heap.malloc(bytes);
  }
};

/// What a heap was filled with.
template <class A>
struct filling {
  filling(const heap<A>& of, std::uint64_t bytes) : blocks(of.size() / bytes + 1), taken(1), of_pages(1) {
    launch(grid_shape::covering(scaled(256, 1 << 14), 64), fill_and_classify_kernel{}, of.ref(), bytes, blocks.data(),
           taken.data(), of_pages.data());
  }
  std::uint64_t count() const { return taken.at(0); }
  void free_in(const heap<A>& of) {
    launch(grid_shape::covering(scaled(256, 1 << 14), 64), free_listed_kernel{}, of.ref(),
           static_cast<void* const*>(blocks.data()), count());
  }
  device_array<void*> blocks;
  device_array<std::uint64_t> taken;
  device_array<std::uint64_t> of_pages;
};

template <class A>
bool serves_one(const heap<A>& of, std::uint64_t bytes) {
  const device_array<void*> block(1);
  launch({1, 1}, take_one_kernel{}, of.ref(), bytes, block.data());
  void* const got = block.at(0);
  if (got == nullptr) return false;
  launch({1, 1}, free_listed_kernel{}, of.ref(), static_cast<void* const*>(block.data()), std::uint64_t{1});
  return reinterpret_cast<std::uint64_t>(got) % next_power_of_two(bytes) == 0;
}

/// A refusal that was noted before a free says nothing to a lane whose free has returned, whichever lane of its group
/// ends that note. The leader has to stand still at one place, so this takes many seeds.
TEST(bulk, an_old_refusal_ends_before_free_returns) {
  findings found;
  freed_memory_is_there_at_once<bulk>(found, 128);
  for (const std::string& text : found.texts()) ADD_FAILURE() << text;
}

constexpr std::uint64_t test_heap_bytes = std::uint64_t{2} << 20;

/// Up to 2 KiB no block begins at a page, above all do; a free has no other way to know.
TEST(bulk, addresses_tell_who_serves) {
  for (std::uint64_t bytes = 8; bytes <= 16384; bytes *= 2) {
    const heap<bulk> of{test_heap_bytes};
    filling<bulk> all{of, bytes};
    EXPECT_EQ(all.of_pages.at(0), bytes > 2048 ? all.count() : 0) << bytes;
    EXPECT_GT(all.count(), 0u) << bytes;
  }
}

/// Whole chunks lose at most 4 % to heads and tails, whatever the size; pages lose nothing.
TEST(bulk, heads_cost_at_most_four_percent) {
  for (std::uint64_t bytes = 8; bytes <= 2048; bytes *= 2) {
    const heap<bulk> of{test_heap_bytes};
    filling<bulk> all{of, bytes};
    // The arena may begin anywhere in a chunk, so it may hold one less.
    const std::uint64_t in_chunks = test_heap_bytes - (std::uint64_t{128} << 10);
    EXPECT_GE(all.count() * bytes * 100, in_chunks * 96) << bytes;
  }
  const heap<bulk> of{test_heap_bytes};
  for (std::uint64_t bytes = 4096; bytes <= 32768; bytes *= 2) {
    filling<bulk> all{of, bytes};
    EXPECT_GE((all.count() + 1) * bytes, test_heap_bytes - bytes) << bytes;
    all.free_in(of);
  }
}

template <class A>
void largest_block_is_there_again() {
  const std::uint64_t least = scaled_block(40);
  for_each_schedule(
      [least](std::uint64_t) {
        for (const std::uint64_t bytes : {std::uint64_t{1} << 20, std::uint64_t{1'500'000}}) {
          const heap<A> of{bytes};
          std::uint64_t largest = next_power_of_two(bytes);
          while (largest > 4096 && !serves_one(of, largest)) largest /= 2;
          EXPECT_GT(4 * largest, bytes) << "any range has an aligned block of more than a quarter of it";
          for (const std::uint64_t size : {least, std::uint64_t{1024}, std::uint64_t{9000}}) {
            filling<A> all{of, size};
            EXPECT_GT(all.count(), 0u);
            all.free_in(of);
            EXPECT_EQ(*of.statistics().live_bytes, 0u);
            EXPECT_TRUE(serves_one(of, largest)) << "after blocks of " << size << " in a heap of " << bytes;
          }
        }
      },
      2);
}

/// When all came back, bins and chunks do not keep the largest block apart, at any size of the heap.
TEST(bulk, largest_block_is_there_again) { largest_block_is_there_again<bulk>(); }
TEST(bulk, largest_block_is_there_again_with_small_chunks) { largest_block_is_there_again<small_chunks>(); }
TEST(bulk, largest_block_is_there_again_in_the_paper_s_form) { largest_block_is_there_again<paper_s_form>(); }

/// Threads of every multiprocessor fill a heap with one size, free all, and fill it with another: what one class and
/// one arena leave serves any other.
template <class A>
void memory_changes_its_class() {
  const std::uint64_t least = scaled_block(8);
  for_each_schedule(
      [least](std::uint64_t) {
        const heap<A> of{test_heap_bytes / 4};
        std::uint64_t first[9] = {};
        for (int round = 0; round < 2; ++round) {
          for (int c = 8; (std::uint64_t{8} << c) >= least; --c) {
            filling<A> all{of, std::uint64_t{8} << c};
            if (round == 0) first[c] = all.count();
            EXPECT_EQ(all.count(), first[c]) << "blocks of " << (8 << c) << " in round " << round;
            all.free_in(of);
          }
        }
      },
      2);
}
TEST(bulk, memory_changes_its_class) { memory_changes_its_class<bulk>(); }
TEST(bulk, memory_changes_its_class_with_small_chunks) { memory_changes_its_class<small_chunks>(); }

/// Each thread holds blocks and takes and frees them by turns in a heap that cannot hold them all, then all come back.
struct storm_kernel {
  template <class A>
  WARPHEAP_FN void operator()(heap_ref<A> heap, std::uint64_t steps) const {
    constexpr int most = 8;
    void* held[most] = {};
    for (std::uint64_t step = 0; step < steps; ++step) {
      void*& each = held[(step * 5 + grid_thread_index()) % most];
      if (each != nullptr) heap.free(each);
      each = heap.malloc(std::uint64_t{8} << (step + grid_thread_index() / 3) % 11);
    }
    for (void* const each : held) {
      if (each != nullptr) heap.free(each);
    }
  }
};

template <class A>
void storms_end() {
  for_each_schedule(
      [](std::uint64_t) {
        const heap<A> of{test_heap_bytes / 8};
        launch(grid_shape::covering(scaled(512, 1 << 16), 64), storm_kernel{}, of.ref(), scaled(16, 32));
        EXPECT_EQ(*of.statistics().live_bytes, 0u);
        EXPECT_TRUE(serves_one(of, 65536));
      },
      4);
}
/// Thousands fail while others free: nobody looks for ever, and no unit is lost.
TEST(bulk, storms_end) { storms_end<bulk>(); }
TEST(bulk, storms_end_with_small_chunks) { storms_end<small_chunks>(); }

/// The first thread takes a whole chunk as one block, writes to it and looks at it again; the others take and free
/// small blocks meanwhile, so that bins are made, and drained for the large block while others still look at their
/// heads.
struct look_at_the_drained_kernel {
  template <class A>
  WARPHEAP_FN void operator()(heap_ref<A> heap, std::uint64_t large, std::uint64_t small, std::uint64_t seed,
                              std::uint32_t steps, std::uint64_t* seen) const {
    random_stream random{seed, grid_thread_index()};
    for (std::uint32_t step = 0; step < steps; ++step) {
      const bool whole = grid_thread_index() == 0;
      // Others have time to come and go, so that now and then nobody has a block, and somebody is just looking for one.
      const std::uint64_t rest = whole ? 0 : random.below(200);
      for (std::uint64_t i = 0; i < rest; ++i) atomic_view{seen[2]}.load(memory_order::relaxed, thread_scope::device);
      auto* const block = static_cast<std::uint64_t*>(heap.malloc(whole ? large : small));
      if (block == nullptr) continue;
      if (whole) {
        atomic_view{seen[0]}.fetch_add(1, memory_order::relaxed, thread_scope::device);
        constexpr std::uint64_t words = 16;                                    // of a head
        const std::uint64_t value = 0x0101'0101'0101'0101 * (step % 100 + 1);  // as a head, one with many free blocks
        for (std::uint64_t at = 0; at < large / 8; at += 512) {
          for (std::uint64_t i = 0; i < words; ++i)
            atomic_view{block[at + i]}.store(value, memory_order::relaxed, thread_scope::device);
        }
        for (std::uint64_t at = 0; at < large / 8; at += 512) {
          for (std::uint64_t i = 0; i < words; ++i) {
            if (atomic_view{block[at + i]}.load(memory_order::relaxed, thread_scope::device) == value) continue;
            atomic_view{seen[1]}.fetch_add(1, memory_order::relaxed, thread_scope::device);
          }
        }
      }
      heap.free(block);
    }
  }
};

/// Nobody touches the head of a bin that was returned, though its memory is somebody's block by then; and nothing is
/// lost. `small` blocks in a heap of `chunks` chunks.
void heads_stay_until_nobody_looks(schedule::policy order, std::uint64_t chunks, std::uint64_t small) {
  std::uint64_t taken = 0;
  for_each_seed(order, 40, [&](std::uint64_t seed) {
    const std::uint64_t large = 16384;
    const heap<small_chunks> of{chunks * large + 3 * 4096};  // so many chunks, wherever it begins
    const device_array<std::uint64_t> seen(3);
    launch({24, 1}, look_at_the_drained_kernel{}, of.ref(), large, small, seed, 100u, seen.data());
    taken += seen.at(0);
    ASSERT_EQ(seen.at(1), 0u);
    ASSERT_EQ(*of.statistics().live_bytes, 0u);
    ASSERT_EQ(filling<small_chunks>(of, large).count(), chunks) << "memory is lost";
  });
  EXPECT_GT(taken, 0u) << "the large block was never to be had";
}

/// The one chunk comes and goes all the time.
TEST(bulk, heads_stay_until_nobody_looks) { heads_stay_until_nobody_looks(schedule::policy::random, 1, 64); }
/// With units in a second chunk, one who looks at a head of the first can stand still while that is drained, taken and
/// written to.
TEST(bulk, heads_stay_for_one_who_stands_still) { heads_stay_until_nobody_looks(schedule::policy::stalling, 2, 2048); }

/// All threads of a block ask for blocks of one size and free them, then of the next size.
struct one_size_after_another_kernel {
  template <class A>
  WARPHEAP_FN void operator()(heap_ref<A> heap, std::uint32_t phases, std::uint32_t* refused) const {
    for (std::uint32_t phase = 0; phase < phases; ++phase) {
      void* const block = heap.malloc(std::uint64_t{8} << phase % 3);
      if (block == nullptr) atomic_view{*refused}.fetch_add(1, memory_order::relaxed, thread_scope::device);
      sync_block();
      heap.free(block);
      sync_block();
    }
  }
};

/// Memory that one thread has in its hands is not gone, however long it stands still: who needs it waits. The heap is
/// one chunk, which has room for all blocks of a size, once bins of another size have been drained.
TEST(bulk, one_who_stands_still_is_waited_for) {
  for_each_seed(schedule::policy::stalling, 40, [](std::uint64_t) {
    const heap<small_chunks> of{16384 + 3 * 4096};  // one chunk, wherever it begins
    const device_array<std::uint32_t> refused(1);
    launch({1, 256}, one_size_after_another_kernel{}, of.ref(), 30u, refused.data());
    ASSERT_EQ(refused.at(0), 0u);
  });
}

}  // namespace
}  // namespace warpheap::test::bulk_test
