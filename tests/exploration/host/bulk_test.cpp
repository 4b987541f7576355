// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The lists, pins and readers of bulk under every schedule of two threads. A chunk that is returned
// becomes a block of another lane, which writes to it: a lane that still changes its head is found.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <exploration/host/bulk_heap.hpp>
#include <exploration/host/snapshot.hpp>
#include <string>
#include <warpheap/designs/bulk/bulk.hpp>
#include <warpheap/platform.hpp>
#include <warpheap/platform/exploration.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::test::bulk_exploration_test {
namespace {

using namespace bulk_heap;

// Two exhausted bins are on a list. Both lanes take tops off. One of them frees a unit of the first
// bin, which is then on top again and looks as it did before.
struct take_off_and_relist {
  allocator self;
  bins of;
  void operator()(std::uint64_t*, unsigned lane) const {
    srcu& readers = parts_of(self).lists().readers_of(arena_index);
    const srcu::ticket in = readers.enter();
    count_off_top_of(self, of.first);
    if (lane == 1) count_off_top_of(self, of.first);
    readers.leave(in);
    if (lane == 1) free_units(self, of.first, c, 0u, std::uint64_t{1});
  }
};

TEST(explored_bulk, a_top_that_was_taken_off_and_put_back_is_another_one) {
  heap_memory memory;
  const bins of = memory.set_up([](const allocator& self, bins made) {
    make_bin(self, made.second, 0);
    make_bin(self, made.first, 0);
  });
  expect_all_clean(explore_snapshot(memory.memory(), 2, take_off_and_relist{memory.self(), of}, [&](const results&) {
    // The lane that reads the unit does not take the bin off for good.
    const detail::bin_state state{header_at(memory.self(), of.first).state};
    return expect_listed(memory.self(), of, state.units(), 0);
  }));
}

// Reclaims the fully free bins, takes the chunk, and writes to it: by atomics, so that the explorer
// sees what they conflict with.
void reclaim_and_use(const allocator& self, bins of, std::uint64_t* out) {
  parts_of(self).reclamation().reclaim_list(arena_index, c);
  std::uint32_t page = 0;
  if (!parts_of(self).pages().take_chunk(page)) return;
  require(page == of.first, "a chunk in use was returned");
  layout::header& head = header_at(self, page);
  atomic_view{head.state}.store(0, memory_order::relaxed, thread_scope::device);
  atomic_view{head.next}.store(0, memory_order::relaxed, thread_scope::device);
  atomic_view{head.bits[0]}.store(0, memory_order::relaxed, thread_scope::device);
  out[8] = 1;
}
std::string expect_untouched(const allocator& self, bins of) {
  const layout::header& head = header_at(self, of.first);
  if (head.state != 0 || head.bits[0] != 0 || head.next != 0) return "a thread changed a chunk that it had returned";
  const auto top = static_cast<std::uint32_t>(list_of(self).top[layout::stack_of(of.first)]);
  return top == of.first + 1 ? "a chunk that was returned is on a list" : "";
}

// Two lanes free the last units of a bin that is on no list; one of them reclaims it when it can.
struct free_and_reclaim {
  allocator self;
  bins of;
  void operator()(std::uint64_t* out, unsigned lane) const {
    constexpr std::uint64_t low = 7;
    free_units(self, of.first, c, 0u, lane == 0 ? low : all_units & ~low);
    if (lane == 1) reclaim_and_use(self, of, out);
  }
};

TEST(explored_bulk, a_bin_stays_until_the_freeing_thread_has_left_it) {
  heap_memory memory;
  const bins of = memory.set_up([](const allocator& self, bins made) {
    make_bin(self, made.first, 0);
    count_off_top_of(self, made.first);
    make_bin(self, made.second, 4);  // whose units the semaphore has
  });
  ASSERT_FALSE(detail::bin_state{header_at(memory.self(), of.first).state}.listed());
  expect_all_clean(
      explore_snapshot(memory.memory(), 2, free_and_reclaim{memory.self(), of}, [&](const results& out) -> std::string {
        const allocator self = memory.self();
        const std::int64_t available = list_of(self).count.count().available;
        if (available != (out[8] != 0 ? 4 : 11)) return "units were lost or made";
        return out[8] != 0 ? expect_untouched(self, of) : expect_listed(self, of, 7, 4);
      }));
}

// A lane takes a block of the bin on top, while another lane reclaims that bin.
struct take_and_reclaim {
  allocator self;
  bins of;
  void operator()(std::uint64_t* out, unsigned lane) const {
    if (lane == 1) return reclaim_and_use(self, of, out);
    list_units left{0, 0};
    bin_units taken{0, 0, 0};
    const auto got = take_quickly(self, c, 1u, left, taken);
    out[0] = got.bits;
    out[1] = got.page;
  }
};

TEST(explored_bulk, a_bin_stays_while_a_reader_may_look_at_it) {
  heap_memory memory;
  const bins of = memory.set_up([](const allocator& self, bins made) {
    make_bin(self, made.second, 4);
    make_bin(self, made.first, units);
    atomic_view{list_of(self).fully_free}.store(1, memory_order::relaxed, thread_scope::device);
  });
  expect_all_clean(
      explore_snapshot(memory.memory(), 2, take_and_reclaim{memory.self(), of}, [&](const results& out) -> std::string {
        if (out[8] == 0) return "";
        if (out[0] != 0 && out[1] == of.first) return "a block of a chunk that was returned";
        return expect_untouched(memory.self(), of);
      }));
}

}  // namespace
}  // namespace warpheap::test::bulk_exploration_test
