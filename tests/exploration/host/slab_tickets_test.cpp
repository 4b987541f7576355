// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Growth of warp_slab by tickets under every schedule of three threads: two of them draw, and one closes the ledger and
// opens it, as the lock's holder does.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <exploration/host/explored_heap.hpp>
#include <exploration/host/warp_slab_parts.hpp>
#include <string>
#include <warpheap/designs/warp_slab/warp_slab.hpp>
#include <warpheap/platform.hpp>
#include <warpheap/platform/exploration.hpp>

namespace warpheap::test::slab_tickets_test {
namespace {

using namespace slab_parts;

std::uint32_t class_of(std::uint64_t bytes) { return slab_classes::of(bytes).of_class; }

// After a close each place has a slab, and no place above has one.
void require_no_gap(const warp_slab& self, std::uint32_t c, std::uint32_t most) {
  const std::uint32_t places = places_of(self, c);
  require(places <= most, "more places than slabs that could be made");
  for (std::uint32_t place = 0; place <= most; ++place) {
    require((entry_of(self, c, place) != 0) == (place < places), "the table has a gap, or an entry beyond its end");
  }
}
void close_and_open(const warp_slab& self, std::uint32_t c, std::uint32_t most) {
  close_ledger(self, lane_bit(), c);
  require_no_gap(self, c, most);
  ledger_of(self).open(c);
}

// Lanes 0 and 1 draw of one class, and lane 2 closes its ledger. `first`: they draw as in the launch in which the class
// begins.
struct draw_against_close {
  warp_slab self;
  std::uint32_t c;
  bool first;
  void operator()(std::uint64_t* out, unsigned lane) const {
    if (lane == 2) {
      close_and_open(self, c, 2);
      return;
    }
    out[lane] = reinterpret_cast<std::uint64_t>(first ? take_for_one_class(self, c) : take_by_ticket(self, c));
    if (out[lane] != 0) return;
    // The slab that the ticket was of is listed, so a search has its block.
    out[lane] = reinterpret_cast<std::uint64_t>(search(self, lane_bit(), lane_bit(), c));
  }
};

using heap_of_tickets = explored_heap<warp_slab, 4 * slab_classes::unit_bytes>;

void explore_draws_against_a_close(bool first) {
  heap_of_tickets heap;
  heap.set_up([](const warp_slab&) {});
  expect_all_clean(explore_snapshot(
      heap.memory(), 3, draw_against_close{heap.self(), class_of(512), first},
      [](const results& out) {
        return out[0] != 0 && out[0] == out[1] ? std::string{"two threads have one block"} : std::string{};
      },
      few_switches(2)));
}
TEST(explored_slab_tickets, two_draws_against_a_close) { explore_draws_against_a_close(false); }
TEST(explored_slab_tickets, two_first_draws_against_a_close) { explore_draws_against_a_close(true); }

// Of the one unit lanes 0 and 1 make a slab of different classes, so one of them finds none. Lane 2 closes both
// ledgers.
struct draw_without_units {
  warp_slab self;
  std::uint32_t c, other;
  void operator()(std::uint64_t* out, unsigned lane) const {
    if (lane == 2) {
      close_and_open(self, c, 1);
      close_and_open(self, other, 1);
      return;
    }
    out[lane] = take_by_ticket(self, lane == 0 ? c : other) != nullptr ? 1 : 0;
  }
};

TEST(explored_slab_tickets, a_ticket_without_units_leaves_no_gap) {
  explored_heap<warp_slab, 2 * slab_classes::unit_bytes> heap;  // one unit at least
  heap.set_up([](const warp_slab& self) {
    const bit_tree units = free_units(self);
    if ((units.leaf_word(0) & 2) != 0) require(units.try_take({1, 1}), "no other thread takes units");
  });
  expect_all_clean(explore_snapshot(
      heap.memory(), 3, draw_without_units{heap.self(), class_of(512), class_of(256)},
      [](const results& out) { return out[0] + out[1] > 1 ? std::string{"two slabs of one unit"} : std::string{}; },
      few_switches(2)));
}

}  // namespace
}  // namespace warpheap::test::slab_tickets_test
