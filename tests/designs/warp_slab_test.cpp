// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// What warp_slab promises beyond the conformance suite: the sizes of its blocks, and what of a slab they fill.

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

TEST(warp_slab, a_class_is_the_smallest_that_fits) {
  for (std::uint64_t bytes = 1; bytes <= classes::largest_bytes; ++bytes) {
    const auto [c, block] = classes::of(bytes);
    ASSERT_LT(c, classes::count);
    ASSERT_EQ(classes::bytes(c), block);
    ASSERT_GE(block, bytes);
    ASSERT_TRUE(c == 0 || classes::bytes(c - 1) < bytes);
  }
}

TEST(warp_slab, at_most_a_fifth_is_rounding) {
  for (std::uint64_t bytes = 65; bytes <= classes::largest_bytes; ++bytes) {
    const std::uint32_t block = classes::of(bytes).bytes;
    ASSERT_LT((block - bytes) * 5, block);
  }
}

TEST(warp_slab, a_slab_is_full_of_blocks) {
  for (std::uint32_t c = 0; c < classes::count; ++c) {
    const std::uint64_t slab = classes::units(c) * classes::unit_bytes;
    const std::uint32_t block = classes::bytes(c);
    EXPECT_EQ(std::uint64_t{classes::blocks(c)} * block, slab) << block << " bytes";
    EXPECT_TRUE(is_power_of_two(classes::blocks(c)));
    EXPECT_EQ(classes::words(c), (classes::blocks(c) + 31) / 32);
    EXPECT_LE(classes::words(c), classes::most_words);
    EXPECT_LE(classes::units(c), classes::most_units);
    EXPECT_TRUE(classes::blocks(c) >= 32 || block > 16 << 10) << block << " bytes";
    for (std::uint32_t offset = 0; offset < slab; ++offset) {
      ASSERT_EQ(classes::divisor_of(c).quotient(offset), offset / block);
    }
  }
}

TEST(warp_slab, a_small_slab_holds_what_fits) {
  for (std::uint32_t c = 0; c < classes::count; ++c) {
    const std::uint64_t slab = classes::units(c, true) * classes::unit_bytes;
    EXPECT_EQ(classes::blocks(c, true), slab / classes::bytes(c));
    EXPECT_EQ(classes::words(c, true), (classes::blocks(c, true) + 31) / 32);
    EXPECT_LE(classes::words(c, true), classes::most_words);
    EXPECT_TRUE(classes::blocks(c, true) >= 32 || classes::bytes(c) > 16 << 10);
    EXPECT_TRUE(is_power_of_two(classes::units(c, true)) || classes::bytes(c) > 2 << 10);
  }
}

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

TEST(warp_slab, a_hint_says_whose_it_is) {
  for (std::uint32_t c = 0; c < classes::count; ++c) {
    for (const std::uint32_t place : {0u, 77u, (1u << 25) - 1}) {
      const slab_hint shown = slab_hint::make(c, place);
      const slab_hint hidden{shown.without()};
      EXPECT_TRUE(shown.shown() && !hidden.shown());
      EXPECT_TRUE(hidden.is_of(c) && !hidden.is_of(c + 1));
      EXPECT_EQ(hidden.place(), place);
      EXPECT_EQ(hidden.with(), shown.value);
    }
  }
}

TEST(warp_slab, an_owner_says_what_its_unit_is_part_of) {
  for (std::uint32_t c = 0; c < classes::count; ++c) {
    for (std::uint32_t below = 0; below < classes::units(c); ++below) {
      const unit_owner owner = unit_owner::slab(c, below);
      EXPECT_TRUE(owner.is_slab() && !owner.is_run());
      EXPECT_EQ(owner.of_class(), c);
      EXPECT_EQ(owner.below(), below);
      // A byte of the unit, wherever the slab lies.
      const std::uint64_t byte = below * classes::unit_bytes + 12'345;
      EXPECT_EQ(owner.in_slab((std::uint64_t{1} << 38) + byte), byte);
      EXPECT_EQ(owner.block_at(static_cast<std::uint32_t>(byte)), byte / classes::bytes(c));
    }
  }
  for (const std::uint32_t units : {1u, 64u, 1u << 25}) {
    const unit_owner owner = unit_owner::run(units);
    EXPECT_TRUE(owner.is_run() && !owner.is_slab());
    EXPECT_EQ(owner.run_units(), units);
  }
  EXPECT_TRUE(!unit_owner{0}.is_run() && !unit_owner{0}.is_slab());
}

TEST(warp_slab, a_word_has_a_number_of_its_own) {
  std::vector<bool> seen(word_number::section_words * 3);
  for (std::uint32_t unit = 0; unit < word_number::section_units * 3; ++unit) {
    for (std::uint32_t index = 0; index < classes::most_words; ++index) {
      const std::uint32_t number = word_number::make(unit, index);
      EXPECT_EQ(word_number::unit(number), unit);
      EXPECT_EQ(word_number::index(number), index);
      ASSERT_LT(number, seen.size());
      EXPECT_FALSE(seen[number]);
      seen[number] = true;
    }
  }
}

TEST(warp_slab, a_seat_guesses_what_was_taken) {
  constexpr std::uint32_t last = (1u << slab_seat::word_bits) - 1;
  for (std::uint32_t c = 0; c < classes::count; ++c) {
    for (const std::uint32_t word : {0u, 4711u, last}) {
      const slab_seat seat = slab_seat::make(c, {word, 0x00f0'0f00});
      EXPECT_TRUE(seat.is_of(c));
      EXPECT_EQ(seat.word(c), word);
      for (std::uint32_t other = 1; other < 4; ++other) EXPECT_FALSE(seat.is_of(c + other));
      EXPECT_EQ(seat.guess(8), 0x00f0'0f00u);
      EXPECT_EQ(seat.guess(3), 0x0000'0700u);
      EXPECT_EQ(popcount(seat.guess(32)), 32);
    }
    EXPECT_FALSE(slab_seat{0}.is_of(c));
  }
}

TEST(warp_slab, demand_that_was_taken_is_told_from_later_demand) {
  slab_demand demand{0};
  demand.value += 77;
  EXPECT_EQ(demand.blocks(), 77);
  slab_demand taken{demand.taken()};
  EXPECT_EQ(taken.blocks(), 0);
  EXPECT_EQ(taken.times(), demand.times() + 1);
  // A thread that withdraws what it took leaves the count below zero for a moment.
  taken.value -= 77;
  EXPECT_EQ(taken.blocks(), -77);
  EXPECT_EQ(taken.times(), demand.times() + 1);
}

TEST(warp_slab, a_front_goes_on_within_a_launch) {
  const slab_front seen = slab_front{0}.with(7, 99);
  EXPECT_EQ(seen.launch(), 7);
  EXPECT_EQ(seen.blocks(), 100);
  EXPECT_EQ(seen.with(7, 98).blocks(), 100);
  EXPECT_EQ(seen.with(7, 100).blocks(), 101);
  EXPECT_EQ(seen.with(8, 3).blocks(), 4) << "another grid begins anew";
}

TEST(warp_slab, a_forecast_has_the_rest_want_as_much) {
  constexpr std::uint64_t begun = 1 << 18;
  EXPECT_EQ((slab_forecast{begun, 4 * begun}.slabs(1000, 64)), 4000);
  EXPECT_EQ((slab_forecast{begun, begun}.slabs(1000, 64)), 1000) << "all have begun";
  // Slabs for more than a block a thread have blocks that nobody has asked for yet.
  EXPECT_LE((slab_forecast{begun, 4 * begun}.slabs(1 << 20, 64)), 4 * begun / 64 + 4);
}

// A slab that has another place is the same else.
TEST(warp_slab, a_hint_can_name_another_place) {
  constexpr std::uint32_t places = 1u << 25;
  for (const std::uint32_t c : {0u, classes::count - 1}) {
    for (const std::uint32_t to : {0u, places - 1}) {
      const slab_hint hint = slab_hint::make(c, 4711);
      EXPECT_EQ(hint.at(to).value, slab_hint::make(c, to).value);
      EXPECT_EQ(slab_hint{hint.without()}.at(to).value, slab_hint::make(c, to).without());
    }
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
  EXPECT_EQ(heap.allocator_stats().free_units, units);

  // 100 blocks of 48 bytes, 25 of 5,000 (so of 5,120), 3 of 100,000 (so of 7 units).
  std::vector<std::uint64_t> sizes(threads, 48);
  std::fill(sizes.begin() + 100, sizes.begin() + 125, 5000);
  std::fill(sizes.begin() + 125, sizes.end(), 100'000);
  const device_array<std::uint64_t> bytes(threads);
  device_copy(bytes.data(), sizes.data(), threads * sizeof(std::uint64_t));
  const device_array<void*> kept(threads);
  launch({1, threads}, take_sizes{}, heap.ref(), bytes.data(), kept.data(), false);

  const warp_slab_statistics full = heap.allocator_stats();
  EXPECT_EQ(full.units, units);
  EXPECT_EQ(full.of(48).blocks - full.of(48).free_blocks, 100);
  EXPECT_EQ(full.of(48).blocks, full.of(48).slabs * 1024);  // in three units each
  EXPECT_EQ(full.of(5000).block_bytes, 5120);
  EXPECT_EQ(full.of(5000).blocks - full.of(5000).free_blocks, 25);
  EXPECT_EQ(full.large_blocks, 3);
  EXPECT_EQ(full.large_units, 21);
  EXPECT_EQ(full.live_bytes(), 100 * 48 + 25 * 5120 + 21 * unit);
  EXPECT_EQ(full.live_bytes(), heap.stats().live_bytes);
  std::uint64_t found = full.free_units + full.large_units;
  for (std::uint32_t c = 0; c < classes::count; ++c) found += full.classes[c].slabs * classes::units(c);
  EXPECT_EQ(found, units);

  launch({1, threads}, take_sizes{}, heap.ref(), bytes.data(), kept.data(), true);
  EXPECT_EQ(heap.allocator_stats().live_bytes(), 0);
  EXPECT_EQ(heap.allocator_stats().of(48).blocks, heap.allocator_stats().of(48).free_blocks);
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
      EXPECT_EQ(heap.allocator_stats().of(size).blocks, classes::unit_bytes / size) << size << " bytes";
    }
    launch({1, static_cast<std::uint32_t>(sizes.size())}, take_sizes{}, heap.ref(), bytes.data(), kept.data(), true);
    EXPECT_EQ(heap.stats().live_bytes, 0);
  });
}

/// Takes a block again and again, of one size in half of the warps and of the other in those whose seats are the same
/// ones, but for a lane in each that wants what the others of its warp do not. Counts the blocks that somebody else
/// had, too, or that are of another size.
struct share_seats {
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

// In a heap this small, warp w + 32 has its seat for 16 bytes where warp w has it for 80. So they claim blocks of each
// other's class all the time, and put them back.
TEST(warp_slab, classes_that_share_seats_lose_nothing) {
  for_each_schedule([&](std::uint64_t seed) {
    const heap<warp_slab> heap{std::uint64_t{1} << 20};
    const device_array<std::uint32_t> faults(1);
    for (std::uint64_t launches = scaled(3, 3); launches != 0; --launches) {
      launch({8, 8 * warp_width}, share_seats{}, heap.ref(), faults.data());
    }
    EXPECT_EQ(faults.to_host().front(), 0u) << "seed " << seed;
    const warp_slab_statistics after = heap.allocator_stats();
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
