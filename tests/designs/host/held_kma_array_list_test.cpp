// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// An array list of kma while a lane is held that has a segment pending.

#include <gtest/gtest.h>

#include <cstdint>
#include <support/few_lanes.hpp>
#include <support/schedules.hpp>
#include <warpheap/designs/kma/array_list.hpp>
#include <warpheap/platform.hpp>

namespace warpheap::test::held_kma_array_list_test {
namespace {

// Memory that serves so many requests, and counts all.
struct few_blocks {
  std::byte* data;
  std::uint64_t* asked;
  std::uint64_t most;

  void* malloc(std::uint64_t) const {
    const std::uint64_t index = atomic_view{*asked}.fetch_add(1, memory_order::relaxed, thread_scope::device);
    return index < most ? data + index * 4096 : nullptr;
  }
  void free(void*) const {}
};
using list = kma_array_list<std::uint64_t, few_blocks>;

struct places {
  std::uint64_t of[3];
};

// Lane 0 asks for the first segment; the others come meanwhile. With a block they share it, and nobody asks twice; if
// the lane is refused, each of the others asks for itself.
places push_while_lane_0_asks(const few_lanes& lanes, std::uint64_t most, std::uint64_t& asked) {
  alignas(16) static std::byte data[2 * 4096];
  list::state state{};
  asked = 0;
  places got{};
  held_lane pending{"kma_array_list.provide.pending", {.thread = 0}};
  lanes.run([to = list{&state, {data, &asked, most}}, pending = &pending, got = &got](unsigned lane) {
    if (lane == 2) {
      pending->await();
      require(to.size() == 0, "an index without memory");
      pending->release();
    }
    if (lane == 1) pending->await();
    got->of[lane] = to.push(lane);
    require(got->of[lane] == list::none || to[got->of[lane]] == lane, "the value");
  });
  return got;
}

TEST(held_kma_array_list, others_wait_for_the_segment_that_is_pending) {
  for_few_lanes(3, [](few_lanes lanes) {
    std::uint64_t asked = 0;
    const places got = push_while_lane_0_asks(lanes, 2, asked);
    EXPECT_EQ(asked, 1u) << "a second block for one segment";
    EXPECT_EQ(got.of[0] + got.of[1] + got.of[2], 3u) << "indexes are 0, 1 and 2";
  });
}

TEST(held_kma_array_list, a_refusal_is_of_each_by_itself) {
  for_few_lanes(3, [](few_lanes lanes) {
    std::uint64_t asked = 0;
    const places got = push_while_lane_0_asks(lanes, 0, asked);
    for (const std::uint64_t each : got.of) EXPECT_EQ(each, list::none);
    EXPECT_GE(asked, 2u) << "a thread was refused for another one";
  });
}

// Lanes of a warp that reserve together ask one after the other, each in a turn of one loop. None leaves that loop
// before all have asked: a lane that left earlier could stand at a reconvergence barrier with a segment pending.
TEST(held_kma_array_list, lanes_that_reserve_together_leave_together) {
  const scoped_schedule guard{in_turn_on_one_worker()};
  constexpr unsigned count = 4;
  static_assert(count <= warp_width);
  std::uint64_t asked = 0;
  list::state state{};
  std::uint64_t asked_before_return[count] = {};
  few_lanes{count, true}.run(
      [to = list{&state, {nullptr, &asked, 0}}, seen = asked_before_return, asked = &asked](unsigned lane) {
        sync(low_bits(count));
        require(!to.reserve(1), "a reservation without memory");
        seen[lane] = atomic_view{*asked}.load(memory_order::relaxed, thread_scope::device);
      });
  for (const std::uint64_t each : asked_before_return) EXPECT_EQ(each, count);
}

}  // namespace
}  // namespace warpheap::test::held_kma_array_list_test
