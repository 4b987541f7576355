// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// What random_walk promises beyond the suite of all designs: how a line's word tells of its blocks, where blocks of
// each size and alignment lie, and that what was refused once is served again as soon as there is room.

#include <gtest/gtest.h>

#include <cstdint>
#include <support/random.hpp>
#include <support/schedules.hpp>
#include <vector>
#include <warpheap/designs/random_walk/random_walk.hpp>
#include <warpheap/heap.hpp>

namespace warpheap::test::random_walk_test {
namespace {

constexpr std::uint64_t line_bytes = line_word::line_bytes;
constexpr std::uint64_t page_bytes = line_word::page_bytes;
using ref = heap_ref<random_walk>;
using searching = basic_random_walk<4, 0>;  // without random steps, so each request reads all lines and notes

// A plain line beside the word: which block each page belongs to, 0 for none.
TEST(line_word, tells_of_its_blocks_as_a_plain_array_does) {
  random_stream random{5, 0};
  for (int round = 0; round < 300; ++round) {
    std::uint32_t owner[line_word::pages] = {};
    std::uint64_t word = 0;
    std::uint32_t next = 1;
    for (int step = 0; step < 12; ++step) {
      const auto size = static_cast<std::uint32_t>(1 + random.below(random.below(2) == 0 ? 4 : line_word::pages));
      std::uint32_t places = 0;
      for (std::uint32_t at = 0; at + size <= line_word::pages; at += size) {
        bool free = true;
        for (std::uint32_t page = at; page < at + size; ++page) free = free && owner[page] == 0;
        if (free) places |= 1u << at;
      }
      ASSERT_EQ(line_word::places(word, size), places);
      if (places == 0) continue;
      const std::uint32_t first = static_cast<std::uint32_t>(lowest_bit(places));
      ASSERT_EQ(line_word::extent(1u << first, size), line_word::run(first, size));
      word |= line_word::make(line_word::run(first, size), 1u << first);
      for (std::uint32_t page = first; page < first + size; ++page) owner[page] = next;
      ++next;
    }
    for (std::uint32_t page = 0; page < line_word::pages; ++page) {
      const bool begins = owner[page] != 0 && (page == 0 || owner[page - 1] != owner[page]);
      ASSERT_EQ((line_word::begins(word) >> page & 1) != 0, begins);
      if (!begins) continue;
      std::uint32_t length = 0;
      while (page + length < line_word::pages && owner[page + length] == owner[page]) ++length;
      ASSERT_EQ(line_word::length(word, page), length);
    }
  }
  EXPECT_TRUE(line_word::goes_on(line_word::make(1, 0)));
  EXPECT_FALSE(line_word::goes_on(line_word::make(1, 1)));
  EXPECT_FALSE(line_word::goes_on(0));
}

// One lane, and the results are known: the heap has four lines.
struct steps_kernel {
  WARPHEAP_FN static std::uint64_t offset(const void* block, const void* first) {
    require(block != nullptr, "refused with room");
    return static_cast<std::uint64_t>(static_cast<const std::byte*>(block) - static_cast<const std::byte*>(first));
  }
  WARPHEAP_FN void operator()(ref heap, std::byte* data) const {
    void* const large = heap.malloc(2 * line_bytes + 1);  // three lines; what is left of the third serves others
    require(offset(large, data) == 0 && heap.usable_size(large) == 2 * line_bytes + page_bytes, "three lines");
    require(heap.malloc(2 * line_bytes) == nullptr && heap.malloc(3 * line_bytes) == nullptr, "too few lines");
    void* const line = heap.malloc(line_bytes);
    require(offset(line, data) == 3 * line_bytes && heap.malloc(line_bytes) == nullptr, "the last line");
    void* const half = heap.malloc(line_bytes / 2);
    require(offset(half, data) == 2 * line_bytes + line_bytes / 2, "the half that is left");
    void* const page = heap.malloc(1);
    require(offset(page, data) < 2 * line_bytes + line_bytes / 2, "a page before it");
    require(heap.usable_size(half) == line_bytes / 2 && heap.usable_size(page) == page_bytes, "sizes");
    heap.free(large);
    void* const two = heap.malloc(2 * line_bytes);
    require(offset(two, data) == 0, "two lines that came back, though they were refused before");
    heap.free(half);
    heap.free(page);
    heap.free(two);
    heap.free(line);
    void* const all = heap.malloc(4 * line_bytes);
    require(offset(all, data) == 0 && heap.malloc(1) == nullptr, "everything");
    heap.free(all);
    require(heap.malloc(4 * line_bytes + 1) == nullptr, "more than there is");
  }
};

// A request of two whole lines is refused; one that needs less of the second line is not, in a heap of two lines.
struct tails_kernel {
  WARPHEAP_FN void operator()(heap_ref<searching> heap) const {
    void* const before = heap.malloc(line_bytes * 3 / 2);
    void* const half = heap.malloc(line_bytes / 2);
    require(before != nullptr && half != nullptr, "refused with room");
    heap.free(before);
    for (int i = 0; i < 2; ++i) require(heap.malloc(2 * line_bytes) == nullptr, "pages of another block");
    void* const shorter = heap.malloc(line_bytes + page_bytes);
    require(shorter != nullptr, "a note of a refusal holds for less than was refused");
    heap.free(shorter);
    heap.free(half);
  }
};

TEST(random_walk, a_refusal_is_noted_for_what_was_refused) {
  for_each_schedule([](std::uint64_t) {
    heap<searching> of{2 * line_bytes};
    launch({1, 1}, tails_kernel{}, of.ref());
  });
}

struct take_kernel {
  template <class A>
  WARPHEAP_FN void operator()(heap_ref<A> heap, std::uint64_t alignment, std::uint64_t bytes, void** blocks) const {
    blocks[grid_thread_index()] = heap.aligned_malloc(alignment, bytes);
  }
};

/// Each lane has a line of a full heap, gives it back and asks for another one. No lane may be refused, though lines
/// move while it searches, and lanes that call together give back by one of them.
struct free_and_take_kernel {
  template <class A>
  WARPHEAP_FN void operator()(heap_ref<A> heap, int rounds, void** blocks) const {
    void*& mine = blocks[grid_thread_index()];
    for (int round = 0; round < rounds; ++round) {
      heap.free(mine);
      mine = heap.malloc(line_bytes);
      require(mine != nullptr, "refused with a line for each");
    }
    heap.free(mine);
  }
};

TEST(random_walk, lines_that_move_are_not_missed) {
  constexpr std::uint32_t lanes = warp_width < 2 ? warp_width : 2;
  constexpr std::uint64_t warps = 6;
  for_each_seed(schedule::policy::stalling, 60, [](std::uint64_t) {
    heap<basic_random_walk<4, 1>> of{warps * lanes * line_bytes};
    const device_array<void*> blocks(warps * lanes);
    launch({warps, lanes}, take_kernel{}, of.ref(), page_bytes, line_bytes, blocks.data());
    launch({warps, lanes}, free_and_take_kernel{}, of.ref(), 12, blocks.data());
  });
}

/// Where the heap's first line lies: an empty heap serves a block of all of it.
struct begin_kernel {
  WARPHEAP_FN void operator()(ref heap, std::uint64_t bytes, std::byte** begin) const {
    *begin = static_cast<std::byte*>(heap.malloc(bytes));
    heap.free(*begin);
  }
};

std::byte* begin_of(const heap<random_walk>& of, std::uint64_t bytes) {
  const device_array<std::byte*> begin(1);
  launch({1, 1}, begin_kernel{}, of.ref(), bytes, begin.data());
  return begin.at(0);
}

TEST(random_walk, one_lane_knows_what_it_gets) {
  heap<random_walk> of{4 * line_bytes};
  launch({1, 1}, steps_kernel{}, of.ref(), begin_of(of, 4 * line_bytes));
  const random_walk_statistics now = of.allocator_statistics();
  EXPECT_EQ(now.lines, 4u);
  EXPECT_EQ(now.free_lines, 4u);
  EXPECT_EQ(now.live_bytes(), 0u);
}

/// The places of a size: blocks within a line are as many as fit in it, and larger ones begin with a line.
TEST(random_walk, a_heap_holds_of_each_size_what_its_lines_do) {
  for (const std::uint64_t bytes : {1, 16, 17, 48, 100, 256, 257, 500, 512}) {
    constexpr std::uint64_t lines = 24;
    heap<random_walk> of{lines * line_bytes};
    const std::uint64_t pages = divide_up(bytes, page_bytes);
    const std::uint64_t most = lines * (line_word::pages / pages);
    const device_array<void*> blocks(2048);
    launch({16, 128}, take_kernel{}, of.ref(), page_bytes, bytes, blocks.data());
    std::uint64_t count = 0;
    for (void* const block : blocks.to_host()) count += block != nullptr ? 1 : 0;
    EXPECT_EQ(count, most < 2048 ? most : 2048) << bytes << " bytes";
    EXPECT_EQ(of.allocator_statistics().blocks, count);
    EXPECT_EQ(of.allocator_statistics().live_bytes(), count * pages * page_bytes);
  }
}

TEST(random_walk, blocks_are_aligned_to_any_power_of_two) {
  for (std::uint64_t alignment = 16; alignment <= std::uint64_t{1} << 17; alignment *= 2) {
    for (const std::uint64_t bytes : {1, 100, 512, 513, 3000, 70'000}) {
      heap<random_walk> of{std::uint64_t{1} << 20};
      const device_array<void*> blocks(4);
      launch({1, 4}, take_kernel{}, of.ref(), alignment, bytes, blocks.data());
      for (void* const block : blocks.to_host()) {
        ASSERT_NE(block, nullptr) << bytes << " bytes aligned to " << alignment;
        ASSERT_EQ(reinterpret_cast<std::uint64_t>(block) % alignment, 0u) << bytes << " bytes";
      }
    }
  }
}

struct locate_kernel {
  WARPHEAP_FN void operator()(random_walk allocator, std::byte* data, std::uint64_t bytes) const {
    auto* const small = static_cast<std::byte*>(allocator.malloc(40));
    auto* const large = static_cast<std::byte*>(allocator.malloc(3 * line_bytes));
    using enum block_location;
    require(allocator.locate(small) == block && allocator.locate(large) == block, "the first byte");
    require(allocator.locate(small + 1) == inside && allocator.locate(small + 47) == inside, "another byte");
    require(allocator.locate(large + line_bytes) == inside && allocator.locate(large + 3 * line_bytes - 1) == inside,
            "bytes of other lines");
    require(allocator.locate(data + bytes) == outside && allocator.locate(data - 1) == outside, "other memory");
    allocator.free(small);
    allocator.free(large);
    for (std::uint64_t at = 0; at < bytes; at += 8) require(allocator.locate(data + at) == free, "what is free");
  }
};

struct initialise_kernel {
  WARPHEAP_FN void operator()(random_walk allocator) const { allocator.initialise(); }
};

TEST(random_walk, locates_blocks) {
  constexpr std::uint64_t bytes = 16 * line_bytes;
  const device_array<std::byte> data(bytes + 4096), metadata(random_walk::metadata_bytes(bytes) + 256);
  const auto aligned = [](std::byte* at, std::uint64_t to) {
    return reinterpret_cast<std::byte*>(align_up(reinterpret_cast<std::uint64_t>(at), to));
  };
  const arena place{aligned(data.data(), 4096), bytes, bytes, aligned(metadata.data(), 256)};
  launch({1, 1}, initialise_kernel{}, random_walk{place});
  launch({1, 1}, locate_kernel{}, random_walk{place}, place.data, bytes);
}

/// Each thread has a block of a full heap, is refused another one, gives its own back and asks again: notes of refusals
/// are everywhere. For a moment a thread may hold two blocks and another be refused, but not for ever.
struct refused_and_served_kernel {
  WARPHEAP_FN void operator()(ref heap, std::uint64_t bytes, int rounds, void** blocks) const {
    void*& mine = blocks[grid_thread_index()];
    for (int round = 0; round < rounds; ++round) {
      void* const more = heap.malloc(bytes);
      if (more != nullptr) heap.free(more);
      heap.free(mine);
      backoff wait;
      while ((mine = heap.malloc(bytes)) == nullptr) wait.pause();
    }
    heap.free(mine);
  }
};

TEST(random_walk, what_was_refused_is_served_when_blocks_came_back) {
  for_each_schedule([](std::uint64_t) {
    for (const std::uint64_t bytes : {16, 100, 512, 513, 1600}) {
      constexpr std::uint64_t threads = 64;
      const std::uint64_t lines = divide_up(bytes, line_bytes);
      const std::uint64_t in_line = bytes <= line_bytes ? line_word::pages / divide_up(bytes, page_bytes) : 1;
      heap<random_walk> of{divide_up(threads, in_line) * lines * line_bytes};
      const device_array<void*> blocks(threads);
      launch({2, threads / 2}, take_kernel{}, of.ref(), page_bytes, bytes, blocks.data());
      for (void* const block : blocks.to_host()) ASSERT_NE(block, nullptr);
      launch({2, threads / 2}, refused_and_served_kernel{}, of.ref(), bytes, 6, blocks.data());
      EXPECT_EQ(of.statistics().live_bytes, 0u);
      EXPECT_EQ(of.allocator_statistics().free_lines, of.allocator_statistics().lines);
    }
  });
}

}  // namespace
}  // namespace warpheap::test::random_walk_test
