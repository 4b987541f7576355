// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// An array list of kma while a segment is pending: of a lane that is held, and of lanes of one warp.

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

// Memory that refuses all, after `looks` loads.
struct slow_refusals {
  std::uint64_t* word;
  int looks;

  void* malloc(std::uint64_t) const {
    for (int i = 0; i < looks; ++i) (void)atomic_view{*word}.load(memory_order::relaxed, thread_scope::device);
    return nullptr;
  }
  void free(void*) const {}
};
using refused_list = kma_array_list<std::uint64_t, slow_refusals>;

struct neighbours {
  std::uint32_t turns;     // of the other block's thread
  std::uint32_t is_first;  // lane 0 is refused
  std::uint32_t gave_up;
};

// Lanes 0 and 1 of a warp ask for segments of two lists at once. A thread of another block asks for lane 1's segment
// again and again, until lane 0 is done.
struct ask_beside_another_list {
  static constexpr std::uint32_t most_turns = 1000;

  void operator()(refused_list quick, refused_list slow, neighbours* seen) const {
    using enum memory_order;
    using enum thread_scope;
    const atomic_view turns{seen->turns};
    const atomic_view is_first{seen->is_first};
    if (block_index() != 0) {
      for (std::uint32_t turn = 0; thread_index() == 0 && is_first.load(relaxed, device) == 0; ++turn) {
        if (turn == most_turns) {
          seen->gave_up = 1;
          return;
        }
        slow.reserve(1);
        turns.fetch_add(1, relaxed, device);
      }
      return;
    }
    for (backoff wait; turns.load(relaxed, device) < 10;) wait.pause();
    sync(low_bits(2));
    (thread_index() == 0 ? quick : slow).reserve(1);
    if (thread_index() == 0) is_first.store(1, relaxed, device);
  }
};

TEST(held_kma_array_list, a_lane_does_not_wait_for_another_list) {
  if constexpr (warp_width == 1) GTEST_SKIP() << "a warp has one lane";
  const scoped_schedule guard{in_turn_on_one_worker()};
  for (int looks = 2; looks < 40; ++looks) {
    SCOPED_TRACE(looks);
    std::uint64_t word = 0;
    refused_list::state quick{};
    refused_list::state slow{};
    neighbours seen{};
    launch(grid_shape{2, 2}, ask_beside_another_list{}, refused_list{&quick, {&word, 2}},
           refused_list{&slow, {&word, looks}}, &seen);
    ASSERT_EQ(seen.gave_up, 0u);
  }
}

}  // namespace
}  // namespace warpheap::test::held_kma_array_list_test
