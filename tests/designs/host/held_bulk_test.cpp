// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Bins of bulk while a lane that reads or changes a bin is held between two steps. A chunk that is returned becomes a
// block of another lane, which fills it: a lane that still changes the header is found.

#include <gtest/gtest.h>

#include <cstdint>
#include <exploration/host/bulk_heap.hpp>
#include <string>
#include <support/few_lanes.hpp>
#include <warpheap/platform.hpp>

namespace warpheap::test::held_bulk_test {
namespace {

using namespace bulk_heap;

// What a user writes where the state of a bin was: as a bin with units that is on no list.
constexpr std::uint64_t user_state = detail::bin_state::units_of(5);

// Reclaims what it can, takes the chunk, and fills it; true if there was a chunk.
bool reclaim_and_fill(const allocator& self, bins of) {
  parts_of(self).reclamation().reclaim_list(arena_index, c);
  std::uint32_t page = 0;
  if (!parts_of(self).pages().take_chunk(page)) return false;
  require(page == of.first, "a chunk in use was returned");
  layout::header& head = header_at(self, page);
  atomic_view{head.state}.store(user_state, memory_order::relaxed, thread_scope::device);
  atomic_view{head.bits[0]}.store(all_units, memory_order::relaxed, thread_scope::device);
  return true;
}
std::string expect_filled(const allocator& self, bins of) {
  const layout::header& head = header_at(self, of.first);
  if (head.state != user_state || head.bits[0] != all_units) return "a lane changed a block of another one";
  const auto top = static_cast<std::uint32_t>(list_of(self).top[layout::stack_of(of.first)]);
  return top == of.first + 1 ? "a block is on a list of bins" : "";
}

// A lane is about to count a unit off a bin that it saw on a list. Another lane withdraws the bin, and must wait for
// the reader before it returns the chunk.
TEST(held_bulk, a_bin_is_not_returned_while_a_reader_holds_it) {
  heap_memory memory;
  const bins of = memory.set_up([](const allocator& self, bins made) {
    make_bin(self, made.second, 4);
    make_bin(self, made.first, units);
    atomic_view{list_of(self).fully_free}.store(1, memory_order::relaxed, thread_scope::device);
  });
  for_few_lanes(2, [&](few_lanes lanes) {
    memory.memory().reset();
    held_lane reader{"bulk.count_off_top.seen", {.thread = 0, .until_others_wait = true}};
    bool returned = false;
    std::uint32_t page = 0;
    std::uint64_t bits = 0;
    lanes.run(
        [self = memory.self(), of, reader = &reader, returned = &returned, page = &page, bits = &bits](unsigned lane) {
          if (lane == 0) {
            list_units left{0, 0};
            bin_units taken{0, 0, 0};
            const auto got = take_quickly(self, c, 1u, left, taken);
            *page = got.page;
            *bits = got.bits;
            return;
          }
          reader->await();
          *returned = reclaim_and_fill(self, of);
          reader->release();
        });
    EXPECT_TRUE(returned) << "all blocks of the bin were free";
    EXPECT_TRUE(bits == 0 || page == of.second) << "a block of a chunk that was returned";
    EXPECT_EQ(expect_filled(memory.self(), of), "");
  });
}

// A lane has freed blocks of a bin that is on no list, and is about to list it. Another lane frees the rest and
// reclaims: the first lane's pin keeps the bin.
TEST(held_bulk, a_bin_is_not_returned_while_a_freeing_lane_has_a_pin) {
  heap_memory memory;
  const bins of = memory.set_up([](const allocator& self, bins made) {
    make_bin(self, made.first, 0);
    count_off_top_of(self, made.first);
    make_bin(self, made.second, 4);  // whose units the semaphore has
  });
  for_few_lanes(2, [&](few_lanes lanes) {
    memory.memory().reset();
    held_lane freeing{"bulk.return_units.added", {.thread = 0}};
    bool returned = false;
    lanes.run([self = memory.self(), of, freeing = &freeing, returned = &returned](unsigned lane) {
      constexpr std::uint64_t low = 7;
      if (lane == 0) return free_units(self, of.first, c, 0u, low);
      freeing->await();
      free_units(self, of.first, c, 0u, all_units & ~low);
      *returned = reclaim_and_fill(self, of);
      freeing->release();
    });
    EXPECT_EQ(returned ? expect_filled(memory.self(), of) : expect_listed(memory.self(), of, 7, 4), "");
    EXPECT_EQ(list_of(memory.self()).count.count().available, returned ? 4 : 11);
  });
}

// Two exhausted bins are on a list. A lane has read the top and is about to take it off. Another lane takes both bins
// off and frees a unit of the first one, which is on top again then, with nothing after it.
TEST(held_bulk, a_top_that_came_back_is_not_taken_off) {
  heap_memory memory;
  const bins of = memory.set_up([](const allocator& self, bins made) {
    make_bin(self, made.second, 0);
    make_bin(self, made.first, 0);
  });
  for_few_lanes(2, [&](few_lanes lanes) {
    memory.memory().reset();
    held_lane reader{"bulk.count_off_top.seen", {.thread = 0}};
    lanes.run([self = memory.self(), of, reader = &reader](unsigned lane) {
      if (lane == 1) reader->await();
      srcu& readers = parts_of(self).lists().readers_of(arena_index);
      const srcu::ticket in = readers.enter();
      count_off_top_of(self, of.first);
      if (lane == 1) count_off_top_of(self, of.first);
      readers.leave(in);
      if (lane == 0) return;
      free_units(self, of.first, c, 0u, std::uint64_t{1});
      reader->release();
    });
    EXPECT_EQ(expect_listed(memory.self(), of, 1, 0), "");
  });
}

}  // namespace
}  // namespace warpheap::test::held_bulk_test
