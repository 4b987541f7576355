// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// A ring of values while a lane is held between its ticket and its slot: others pass it by, and those that need that
// slot wait.

#include <gtest/gtest.h>

#include <cstdint>
#include <support/few_lanes.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::test::held_ring_test {
namespace {

struct small_ring {
  device_array<index_ring::state> state{1};
  device_array<index_ring::slot> slots{2};
  index_ring view() const { return {state.data(), slots.data(), 2}; }
};

// Lane 0 has a ticket and has not written. Lane 1 pushes after it, and its own pop needs what lane 0 will write.
TEST(held_ring, a_pop_waits_for_the_push_whose_ticket_is_older) {
  for_few_lanes(2, [](few_lanes lanes) {
    const small_ring memory;
    held_lane drawn{"index_ring.push.drawn", {.thread = 0, .until_others_wait = true}};
    std::uint32_t first = 0;
    std::uint32_t second = 0;
    lanes.run([=, ring = memory.view(), drawn = &drawn, first = &first, second = &second](unsigned lane) {
      if (lane == 0) {
        require(ring.push(lane_bit(), 10), "room for two");
        return;
      }
      drawn->await();
      require(ring.push(lane_bit(), 11), "room for two");
      require(!ring.push(lane_bit(), 12), "the ticket of lane 0 takes room");
      require(ring.pop(lane_bit(), *first) && ring.pop(lane_bit(), *second), "two tickets of pushes");
    });
    EXPECT_EQ(first, 10u);
    EXPECT_EQ(second, 11u);
  });
}

// Lane 0 has the ticket of the oldest value and has not read it. Lane 1 pops the next and may push one more; the push
// after that needs the slot of lane 0.
TEST(held_ring, a_push_waits_for_the_pop_of_the_lap_before) {
  for_few_lanes(2, [](few_lanes lanes) {
    const small_ring memory;
    held_lane drawn{"index_ring.pop.drawn", {.thread = 0, .until_others_wait = true}};
    std::uint32_t first = 0;
    std::uint32_t second = 0;
    lanes.run([=, ring = memory.view(), drawn = &drawn, first = &first, second = &second](unsigned lane) {
      if (lane == 0) {
        require(ring.push(lane_bit(), 10) && ring.push(lane_bit(), 11), "room for two");
        require(ring.pop(lane_bit(), *first), "two values");
        return;
      }
      drawn->await();
      require(ring.pop(lane_bit(), *second), "one value");
      require(ring.push(lane_bit(), 12), "the pop of lane 0 has made room");
      std::uint32_t third = 0;
      require(ring.pop(lane_bit(), third) && third == 12, "the value that went into the slot of lane 0");
    });
    EXPECT_EQ(first, 10u) << "a later push has overwritten what a pop had not read";
    EXPECT_EQ(second, 11u);
  });
}

}  // namespace
}  // namespace warpheap::test::held_ring_test
