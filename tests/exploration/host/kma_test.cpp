// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Superblocks of KMA under every schedule of two or three threads: a list that is struck off while a block comes back,
// the last block of a superblock against a thread that takes its blocks, a current superblock that another one
// replaces, and requests of a full heap that each come after a free.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <exploration/host/explored_heap.hpp>
#include <exploration/host/private_member.hpp>
#include <exploration/host/snapshot.hpp>
#include <string>
#include <warpheap/designs/kma/kma.hpp>
#include <warpheap/platform.hpp>
#include <warpheap/platform/exploration.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::test::kma_exploration_test {
namespace {

constexpr kma_options small{.currents = 1, .ring_capacity = 2};
using allocator = basic_kma<small>;
using layout = detail::kma_layout<small>;
using search = detail::kma_search<layout>;

WARPHEAP_TEST_PRIVATE(search_of, allocator::search)

constexpr std::uint32_t c = 6;  // four blocks of 1,008 bytes
constexpr std::uint32_t capacity = 4;
constexpr std::uint32_t pages = 2;
constexpr std::uint32_t all_blocks = pages * capacity;

using heap_memory = explored_heap<allocator, pages * 4096>;

// Expects that so many blocks are free, that each superblock with permits is found, and that all blocks can be had.
std::string expect_free(const allocator& self, std::uint64_t expected) {
  const search& of = search_of(self);
  const std::uint32_t first = of.pages().first_page();
  std::uint32_t found =
      capacity * (static_cast<std::uint32_t>(of.pages().source().free_pages(first + pages)) + of.pages().ring().size());
  const std::uint32_t current = of.pages().current(c, 0).load(memory_order::relaxed, thread_scope::device);
  for (std::uint32_t page = first; page < first + pages; ++page) {
    const slab_entry::contents seen = of.pages().state(page).look();
    if (!seen.is_assigned()) continue;
    if (seen.free == seen.capacity) return "a free superblock has a class";
    const bool listed = (of.pages().listed(c).leaf_word(page / 64) >> page % 64 & 1) != 0;
    if (seen.free != 0 && !listed && current != page + 1) return "a superblock with permits is lost";
    found += seen.free;
  }
  if (found != expected) return std::to_string(found) + " blocks are free, and not " + std::to_string(expected);
  std::uint32_t got = 0;
  in_one_lane([self, count = &got] {
    while (self.malloc(1008) != nullptr) ++*count;
  });
  return got == expected ? "" : std::to_string(got) + " of " + std::to_string(expected) + " blocks can be had";
}

/// The heap is full and its superblocks are listed, though none has a permit. Lane 0 gives a block back while lane 1
/// strikes superblocks off; a third lane gives back another block of the same superblock.
struct strike_against_give {
  allocator self;
  void* const* blocks;
  void operator()(std::uint64_t*, unsigned lane) const {
    if (lane != 1) return self.free(blocks[lane]);
    std::uint32_t left = 0;
    const detail::kma_draw got = search_of(self).lists().take(c, 1, 0, left);
    if (got.permits != 0) search_of(self).lists().give(lane_bit(), got.page, c, 1);
  }
};
TEST(explored_kma, a_list_that_is_struck_off_keeps_what_comes_back) {
  for (const unsigned lanes : {2u, 3u}) {
    heap_memory memory;
    void* blocks[all_blocks];
    memory.set_up([to = blocks](const allocator& self) {
      for (std::uint32_t i = 0; i < all_blocks; ++i) to[i] = self.malloc(1008);
      const search& of = search_of(self);
      for (std::uint32_t i = 0; i < pages; ++i) of.lists().list(of.pages().first_page() + i, c);
    });
    expect_all_clean(explore_snapshot(
        memory.memory(), lanes, strike_against_give{memory.self(), blocks},
        [&](const results&) { return expect_free(memory.self(), lanes - 1); }, few_switches(lanes == 2 ? 3 : 2)));
  }
}

/// Takes all blocks of the heap, and gives those of the first superblock back but its first.
void leave_one_block(heap_memory& memory, void** blocks) {
  memory.set_up([blocks](const allocator& self) {
    for (std::uint32_t i = 0; i < all_blocks; ++i) blocks[i] = self.malloc(1008);
    for (std::uint32_t i = 1; i < capacity; ++i) self.free(blocks[i]);
  });
}

/// Lane 0 gives the last block of a superblock back, and lane 1 asks for one.
struct last_against_malloc {
  allocator self;
  void* const* blocks;
  void operator()(std::uint64_t* out, unsigned lane) const {
    if (lane == 0) return self.free(blocks[0]);
    out[1] = self.malloc(1008) != nullptr;
  }
};
TEST(explored_kma, a_superblock_ends_or_is_taken_when_its_last_block_comes_back) {
  heap_memory memory;
  void* blocks[all_blocks];
  leave_one_block(memory, blocks);
  expect_all_clean(explore_snapshot(
      memory.memory(), 2, last_against_malloc{memory.self(), blocks},
      [&](const results& out) -> std::string {
        return out[1] == 1 ? expect_free(memory.self(), capacity - 1) : "refused though blocks are free";
      },
      few_switches(2)));
}

/// Lane 0 gives the last block of a listed superblock back, which leaves the list then. Lane 1 takes what there is, so
/// it may make the page a superblock again, and gives a block back, with which the superblock is listed again.
struct last_against_next_life {
  allocator self;
  void* const* blocks;
  void operator()(std::uint64_t* out, unsigned lane) const {
    if (lane == 0) return self.free(blocks[0]);
    void* mine[capacity];
    for (void*& block : mine) {
      block = self.malloc(1008);
      if (block != nullptr) ++out[1];
    }
    if (mine[0] == nullptr) return;
    self.free(mine[0]);
    --out[1];
  }
};
TEST(explored_kma, a_superblock_that_ends_is_struck_off_before_it_begins_anew) {
  heap_memory memory;
  void* blocks[all_blocks];
  leave_one_block(memory, blocks);
  expect_all_clean(explore_snapshot(
      memory.memory(), 2, last_against_next_life{memory.self(), blocks},
      [&](const results& out) { return expect_free(memory.self(), capacity - out[1]); }, few_switches(2)));
}

/// Both ask for a block of an empty heap: each makes a superblock, or one takes from that of the other. What the
/// replaced one has left is found.
struct ask {
  allocator self;
  void operator()(std::uint64_t* out, unsigned lane) const { out[lane] = self.malloc(1008) != nullptr; }
};
TEST(explored_kma, a_current_superblock_that_is_replaced_is_found) {
  heap_memory memory;
  memory.set_up([](const allocator&) {});
  expect_all_clean(explore_snapshot(
      memory.memory(), 2, ask{memory.self()},
      [&](const results& out) -> std::string {
        return out[0] + out[1] == 2 ? expect_free(memory.self(), all_blocks - 2) : "refused though blocks are free";
      },
      few_switches(2)));
}

/// Both ask, and one page is free: a thread that finds it gone waits for the superblock that the other one makes of it.
TEST(explored_kma, a_superblock_in_the_making_serves_others_too) {
  heap_memory memory;
  memory.set_up([](const allocator& self) { self.malloc(4096); });
  expect_all_clean(explore_snapshot(
      memory.memory(), 2, ask{memory.self()},
      [&](const results& out) -> std::string {
        return out[0] + out[1] == 2 ? expect_free(memory.self(), capacity - 2) : "refused though blocks are free";
      },
      few_switches(2)));
}

/// Both ask, and the current superblock has one block left. The thread that takes it must not remove the name of the
/// superblock that the other thread makes.
TEST(explored_kma, a_name_is_removed_by_the_superblock_that_has_it) {
  heap_memory memory;
  memory.set_up([](const allocator& self) {
    for (std::uint32_t i = 1; i < capacity; ++i) self.malloc(1008);
  });
  expect_all_clean(explore_snapshot(
      memory.memory(), 2, ask{memory.self()},
      [&](const results& out) -> std::string {
        return out[0] + out[1] == 2 ? expect_free(memory.self(), capacity - 1) : "refused though blocks are free";
      },
      few_switches(2)));
}

/// A full heap: each lane gives a block back and asks for one again. None is refused, though each may take what the
/// other gave. The blocks are of one superblock, or of two.
struct free_then_ask {
  allocator self;
  void* const* blocks;
  unsigned distance;
  void operator()(std::uint64_t* out, unsigned lane) const {
    self.free(blocks[lane * distance]);
    out[lane] = self.malloc(1008) != nullptr;
  }
};
TEST(explored_kma, who_gave_a_block_back_gets_one) {
  for (const unsigned distance : {1u, capacity}) {
    heap_memory memory;
    void* blocks[all_blocks];
    memory.set_up([to = blocks](const allocator& self) {
      for (std::uint32_t i = 0; i < all_blocks; ++i) to[i] = self.malloc(1008);
    });
    expect_all_clean(explore_snapshot(
        memory.memory(), 2, free_then_ask{memory.self(), blocks, distance},
        [&](const results& out) -> std::string {
          return out[0] + out[1] == 2 ? expect_free(memory.self(), 0) : "refused after a free";
        },
        few_switches(2)));
  }
}

}  // namespace
}  // namespace warpheap::test::kma_exploration_test
