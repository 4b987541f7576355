// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Superblocks of XMalloc under every schedule of two threads: blocks that come back at once, the last block of a
// superblock against a thread that takes its blocks, and requests of a full heap that each come after a free.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <exploration/host/explored_heap.hpp>
#include <exploration/host/private_member.hpp>
#include <exploration/host/snapshot.hpp>
#include <string>
#include <warpheap/designs/xmalloc/xmalloc.hpp>
#include <warpheap/platform.hpp>
#include <warpheap/platform/exploration.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::test::xmalloc_exploration_test {
namespace {

// A superblock of class 0 is a page of 8 blocks, and one of class 1 two pages.
constexpr xmalloc_options small{
    .superblock_blocks = 8, .least_block = 512, .largest_block = 1024, .lists = 1, .list_capacity = 2};
using allocator = basic_xmalloc<small>;
using layout = detail::xmalloc_layout<small, true>;
using superblocks = detail::xmalloc_superblocks<layout>;

WARPHEAP_TEST_PRIVATE(blocks_of, allocator::blocks)

constexpr std::uint32_t pages = 2;
constexpr std::uint32_t all_blocks = pages * 8;  // of class 0

using heap_memory = explored_heap<allocator, pages * 4096>;

// Blocks of class 0 that nobody has, wherever they are; and whether superblocks with permits are listed.
std::uint32_t free_blocks(const allocator& self) {
  const superblocks& of = blocks_of(self);
  const std::uint32_t first = of.pages().first_page();
  std::uint32_t sum = 8 * static_cast<std::uint32_t>(of.pages().source().free_pages(first + pages));
  for (std::uint32_t page = first; page < first + pages; ++page) {
    const slab_entry::contents seen = of.pages().entry(page).look();
    if (!seen.is_assigned()) continue;
    EXPECT_TRUE(seen.free == 0 || (of.pages().listed(page).load(memory_order::relaxed, thread_scope::device) & 1) != 0);
    sum += seen.free;
  }
  return sum + of.lists().size(0);
}
std::string expect_free(const allocator& self, std::uint64_t expected) {
  const std::uint32_t found = free_blocks(self);
  if (found != expected) return std::to_string(found) + " blocks are free, and not " + std::to_string(expected);
  // All of them can be had.
  std::uint32_t got = 0;
  in_one_lane([self, count = &got] {
    while (self.malloc(512) != nullptr) ++*count;
  });
  return got == expected ? "" : std::to_string(got) + " of " + std::to_string(expected) + " blocks can be had";
}

// Takes all blocks of a superblock out; returns its first block.
std::uint32_t take_all(const allocator& self) {
  const superblocks& of = blocks_of(self);
  std::uint32_t number = 0;
  for (std::uint32_t i = 0; i < 8; ++i) {
    number = of.lists().pop(lane_bit(), 0);
    if (number == superblocks::none) number = of.refill(lane_bit(), 0);
  }
  return number / 8 * 8;
}

// Each lane gives a block of the same superblock back.
struct give_at_once {
  allocator self;
  std::uint32_t first;
  void operator()(std::uint64_t*, unsigned lane) const { blocks_of(self).give(lane_bit(), 0, first + lane); }
};

TEST(explored_xmalloc, blocks_that_come_back_at_once_are_all_found) {
  heap_memory memory;
  std::uint32_t first = 0;
  memory.set_up([to = &first](const allocator& self) { *to = take_all(self); });
  ASSERT_EQ(free_blocks(memory.self()), 8u);
  expect_all_clean(explore_snapshot(
      memory.memory(), 2, give_at_once{memory.self(), first},
      [&](const results&) { return expect_free(memory.self(), 10); }, few_switches(3)));
}

// Lane 0 gives the last block of a superblock, which lane 1 takes blocks of.
struct last_against_refill {
  allocator self;
  std::uint32_t first;
  bool again;
  void operator()(std::uint64_t* out, unsigned lane) const {
    const superblocks& of = blocks_of(self);
    if (lane == 0) {
      of.give(lane_bit(), 0, first);
      if (again) out[0] = of.refill(lane_bit(), 0) != superblocks::none;
    } else {
      const std::uint32_t number = of.refill(lane_bit(), 0);
      out[1] = number != superblocks::none;
      if (again && number != superblocks::none) {
        of.give(lane_bit(), 0, number);
        out[1] = 0;
      }
    }
  }
};

TEST(explored_xmalloc, a_superblock_ends_or_is_taken_when_its_last_block_comes_back) {
  for (const bool again : {false, true}) {
    heap_memory memory;
    std::uint32_t first = 0;
    memory.set_up([to = &first](const allocator& self) {
      *to = take_all(self);
      for (std::uint32_t i = 1; i < 8; ++i) blocks_of(self).give(lane_bit(), 0, *to + i);
    });
    expect_all_clean(explore_snapshot(
        memory.memory(), 2, last_against_refill{memory.self(), first, again},
        [&](const results& out) { return expect_free(memory.self(), all_blocks - out[0] - out[1]); }, few_switches(2)));
  }
}

// A full heap: each lane gives a block back and asks for one again. None is refused, though each may take what the
// other gave.
struct free_then_ask {
  allocator self;
  void* const* blocks;
  void operator()(std::uint64_t* out, unsigned lane) const {
    self.free(blocks[lane]);
    out[lane] = self.malloc(512) != nullptr;
  }
};

TEST(explored_xmalloc, who_gave_a_block_back_gets_one) {
  heap_memory memory;
  void* blocks[all_blocks];
  memory.set_up([to = blocks](const allocator& self) {
    for (std::uint32_t i = 0; i < all_blocks; ++i) to[i] = self.malloc(512);
  });
  ASSERT_EQ(free_blocks(memory.self()), 0u);
  expect_all_clean(explore_snapshot(
      memory.memory(), 2, free_then_ask{memory.self(), blocks},
      [&](const results& out) -> std::string {
        return out[0] + out[1] == 2 ? expect_free(memory.self(), 0) : "refused after a free";
      },
      few_switches(2)));
}

// Both give a block of the same superblock back, which has no permit before, and the queue is full of others. Lane 1
// asks for what the queue has and for one more: its own is there, though lane 0 may be the one to list the superblock.
struct ask_for_all {
  allocator self;
  void* const* blocks;
  void operator()(std::uint64_t* out, unsigned lane) const {
    self.free(blocks[lane]);
    for (int i = 0; lane == 1 && i < 3; ++i) out[i] = self.malloc(512) != nullptr;
  }
};

TEST(explored_xmalloc, who_gave_a_block_to_a_superblock_finds_it) {
  heap_memory memory;
  void* blocks[all_blocks];
  memory.set_up([to = blocks](const allocator& self) {
    for (std::uint32_t i = 0; i < all_blocks; ++i) to[i] = self.malloc(512);
    self.free(to[all_blocks - 1]);
    self.free(to[all_blocks - 2]);
  });
  expect_all_clean(explore_snapshot(
      memory.memory(), 2, ask_for_all{memory.self(), blocks},
      [&](const results& out) -> std::string {
        return out[0] + out[1] + out[2] == 3 ? expect_free(memory.self(), 1) : "refused after a free";
      },
      few_switches(2)));
}

}  // namespace
}  // namespace warpheap::test::xmalloc_exploration_test
