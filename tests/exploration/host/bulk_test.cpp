// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The lists, pins and readers of bulk under every schedule of two threads. A chunk that is given back becomes a block
// of somebody else, who writes to it: whoever still changes its head is found.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <exploration/host/private_member.hpp>
#include <exploration/host/snapshot.hpp>
#include <string>
#include <tuple>
#include <type_traits>
#include <warpheap/designs/bulk/bulk.hpp>
#include <warpheap/platform.hpp>
#include <warpheap/platform/exploration.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::test::bulk_exploration_test {
namespace {

using allocator = bulk_allocator<buddy_tree, 4>;
using layout = detail::bulk_layout<buddy_tree, 4>;

WARPHEAP_TEST_PRIVATE(take_chunk, allocator::take_chunk)
WARPHEAP_TEST_PRIVATE(set_up, allocator::set_up)
WARPHEAP_TEST_PRIVATE(take_top, allocator::take_top)
WARPHEAP_TEST_PRIVATE(take_quickly, allocator::take_quickly)
WARPHEAP_TEST_PRIVATE(give_units, allocator::give_units)
WARPHEAP_TEST_PRIVATE(drain_shelf, allocator::drain_shelf)
WARPHEAP_TEST_PRIVATE(header_at, allocator::header_at)
WARPHEAP_TEST_PRIVATE(shelf_of, allocator::shelf_of)
WARPHEAP_TEST_PRIVATE(readers_of, allocator::readers_of)

template <class R, class C, class... A>
std::tuple<std::remove_reference_t<A>...> arguments_of(R (C::*)(A...) const);
using quick_arguments = decltype(arguments_of(member_of(take_quickly_tag{})));
using credit = std::tuple_element_t<2, quick_arguments>;
using hold = std::tuple_element_t<3, quick_arguments>;

constexpr std::uint32_t arena_index = 0;
constexpr std::uint32_t c = layout::classes - 2;  // the largest blocks, of which a chunk has 7
constexpr std::uint32_t units = layout::units(c);
static_assert(units == 7);
constexpr std::uint64_t all_units = layout::all_bits(c, 0);
constexpr std::uint64_t heap_bytes = 18 * layout::chunk_bytes;

// Two chunks that are bins of class `c`, on the same list or on none. All others are taken.
struct bins {
  std::uint32_t first;
  std::uint32_t second;
};

class heap_memory {
 public:
  heap_memory() : memory_(metadata() + heap_bytes + layout::page_bytes) {
    in_one_lane([self = self()] { self.initialise(); });
  }
  // `body(self, bins)` sets up the two bins.
  template <class Body>
  bins set_up(Body body) {
    bins made{};
    in_one_lane([self = self(), body, to = &made] {
      std::uint32_t found[18];
      std::uint32_t count = 0;
      while (count < 18 && take_chunk(self, found[count])) ++count;
      for (std::uint32_t i = 0; i < count; ++i) {
        for (std::uint32_t j = 0; j < i; ++j) {
          if (layout::list_of(found[i]) == layout::list_of(found[j])) *to = {found[i], found[j]};
        }
      }
      body(self, *to);
    });
    EXPECT_NE(made.first, made.second);
    memory_.freeze();
    return made;
  }
  allocator self() const {
    return allocator{arena{memory_.data() + metadata(), heap_bytes, heap_bytes, memory_.data()}};
  }
  const snapshot& memory() const { return memory_; }

 private:
  static std::uint64_t metadata() { return align_up(allocator::metadata_bytes(heap_bytes), layout::page_bytes); }
  snapshot memory_;
};

// A bin with `free` units to be had; the others are blocks in use.
void make_bin(const allocator& self, std::uint32_t page, std::uint32_t free) {
  set_up(self, arena_index, c, page, units - free);
  header_at(self, page).bits[0] = (std::uint64_t{1} << free) - 1;
  if (free != 0) shelf_of(self, arena_index, c).count.signal(free);
}
bool take_top_of(const allocator& self, std::uint32_t page) {
  hold got{0, 0, 0};
  return take_top(self, arena_index, c, layout::list_of(page), 1u, got);
}

// What a list should hold: each bin with units, once, and each of them marked.
std::string expect_listed(const allocator& self, bins which, std::int32_t first_units, std::int32_t second_units) {
  const std::uint32_t list = layout::list_of(which.first);
  std::uint32_t seen_first = 0;
  std::uint32_t seen_second = 0;
  auto at = static_cast<std::uint32_t>(shelf_of(self, arena_index, c).top[list]);
  for (int i = 0; at != 0; ++i) {
    if (i == 4) return "the list goes round in a circle";
    seen_first += at == which.first + 1;
    seen_second += at == which.second + 1;
    at = header_at(self, at - 1).next;
  }
  const auto expect = [&](std::uint32_t page, std::uint32_t seen, std::int32_t has) -> std::string {
    const detail::bin_state state{header_at(self, page).state};
    if (state.units() != has) return "a bin has " + std::to_string(state.units()) + " units";
    if (seen > 1) return "a bin is twice on the list";
    if (state.listed() != (seen == 1))
      return seen == 1 ? "a bin on the list has no mark" : "a bin with a mark is on no list";
    return has > 0 && seen == 0 ? "a bin with units is on no list" : "";
  };
  const std::string first = expect(which.first, seen_first, first_units);
  return !first.empty() ? first : expect(which.second, seen_second, second_units);
}

// Two bins without units are on a list. Both lanes take tops off; one of them gives a unit of the first back, which is
// on top again, and looks as it did before.
struct take_off_and_relist {
  allocator self;
  bins of;
  void operator()(std::uint64_t*, unsigned lane) const {
    srcu& readers = readers_of(self, arena_index);
    const srcu::ticket in = readers.enter();
    take_top_of(self, of.first);
    if (lane == 1) take_top_of(self, of.first);
    readers.leave(in);
    if (lane == 1) give_units(self, of.first, c, 0u, std::uint64_t{1});
  }
};

TEST(explored_bulk, a_top_that_was_taken_off_and_put_back_is_another_one) {
  heap_memory memory;
  const bins of = memory.set_up([](const allocator& self, bins made) {
    make_bin(self, made.second, 0);
    make_bin(self, made.first, 0);
  });
  expect_all_clean(explore_snapshot(memory.memory(), 2, take_off_and_relist{memory.self(), of}, [&](const results&) {
    // Who looks at the unit does not take it off for good.
    const detail::bin_state state{header_at(memory.self(), of.first).state};
    return expect_listed(memory.self(), of, state.units(), 0);
  }));
}

// Sends the bins without blocks back, takes the chunk, and writes to it: by atomics, so that the explorer sees what
// they conflict with.
void drain_and_use(const allocator& self, bins of, std::uint64_t* out) {
  drain_shelf(self, arena_index, c);
  std::uint32_t page = 0;
  if (!take_chunk(self, page)) return;
  require(page == of.first, "a chunk in use was given back");
  layout::header& head = header_at(self, page);
  atomic_view{head.state}.store(0, memory_order::relaxed, thread_scope::device);
  atomic_view{head.next}.store(0, memory_order::relaxed, thread_scope::device);
  atomic_view{head.bits[0]}.store(0, memory_order::relaxed, thread_scope::device);
  out[8] = 1;
}
std::string expect_untouched(const allocator& self, bins of) {
  const layout::header& head = header_at(self, of.first);
  if (head.state != 0 || head.bits[0] != 0 || head.next != 0) return "a chunk was changed by who had given it back";
  const auto top = static_cast<std::uint32_t>(shelf_of(self, arena_index, c).top[layout::list_of(of.first)]);
  return top == of.first + 1 ? "a chunk that was given back is on a list" : "";
}

// A bin that is on no list gets its last units from two lanes; one of them sends it back when it can.
struct give_and_drain {
  allocator self;
  bins of;
  void operator()(std::uint64_t* out, unsigned lane) const {
    constexpr std::uint64_t low = 7;
    give_units(self, of.first, c, 0u, lane == 0 ? low : all_units & ~low);
    if (lane == 1) drain_and_use(self, of, out);
  }
};

TEST(explored_bulk, a_bin_stays_until_who_gave_to_it_is_done) {
  heap_memory memory;
  const bins of = memory.set_up([](const allocator& self, bins made) {
    make_bin(self, made.first, 0);
    take_top_of(self, made.first);
    make_bin(self, made.second, 4);  // whose units the semaphore has
  });
  ASSERT_FALSE(detail::bin_state{header_at(memory.self(), of.first).state}.listed());
  expect_all_clean(
      explore_snapshot(memory.memory(), 2, give_and_drain{memory.self(), of}, [&](const results& out) -> std::string {
        const allocator self = memory.self();
        const std::int64_t available = shelf_of(self, arena_index, c).count.count().available;
        if (available != (out[8] != 0 ? 4 : 11)) return "units were lost or made";
        return out[8] != 0 ? expect_untouched(self, of) : expect_listed(self, of, 7, 4);
      }));
}

// A lane takes a block of the bin on top, while another one sends that back.
struct take_and_drain {
  allocator self;
  bins of;
  void operator()(std::uint64_t* out, unsigned lane) const {
    if (lane == 1) return drain_and_use(self, of, out);
    credit left{0, 0};
    hold held{0, 0, 0};
    const auto got = take_quickly(self, c, 1u, left, held);
    out[0] = got.bits;
    out[1] = got.page;
  }
};

TEST(explored_bulk, a_bin_stays_while_a_reader_may_look_at_it) {
  heap_memory memory;
  const bins of = memory.set_up([](const allocator& self, bins made) {
    make_bin(self, made.second, 4);
    make_bin(self, made.first, units);
    atomic_view{shelf_of(self, arena_index, c).whole}.store(1, memory_order::relaxed, thread_scope::device);
  });
  expect_all_clean(
      explore_snapshot(memory.memory(), 2, take_and_drain{memory.self(), of}, [&](const results& out) -> std::string {
        if (out[8] == 0) return "";
        if (out[0] != 0 && out[1] == of.first) return "a block of a chunk that was given back";
        return expect_untouched(memory.self(), of);
      }));
}

}  // namespace
}  // namespace warpheap::test::bulk_exploration_test
