// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// A list while a push has named its node in the head and has not linked it: others push on, and who takes the list
// waits at that node.

#include <gtest/gtest.h>

#include <cstdint>
#include <support/few_lanes.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::test::held_stack_test {
namespace {

struct link_array {
  std::uint32_t* words;
  WARPHEAP_FN std::uint32_t& operator()(std::uint32_t node) const { return words[node]; }
};
using stack = push_stack<link_array>;

TEST(held_stack, a_taker_waits_for_the_link_of_a_push_before) {
  for_few_lanes(2, [](few_lanes lanes) {
    const device_array<std::uint32_t> head(1);
    const device_array<std::uint32_t> links(4);
    held_lane torn{"push_stack.push.torn", {.thread = 0, .passes = 1, .until_others_wait = true}};
    std::uint32_t order[4] = {};
    lanes.run([=, list = stack{head.data(), {links.data()}}, torn = &torn, order = &order[0]](unsigned lane) {
      if (lane == 0) {
        list.push(lane_bit(), 0);
        list.push(lane_bit(), 1);
        return;
      }
      torn->await();
      list.push(lane_bit(), 2);
      std::uint32_t node = list.take_all();
      for (int i = 0; i < 4; ++i) {
        order[i] = node;
        if (node != stack::none) node = list.next(node);
      }
    });
    EXPECT_EQ(order[0], 2u);
    EXPECT_EQ(order[1], 1u);
    EXPECT_EQ(order[2], 0u) << "what was pushed before the held push is lost";
    EXPECT_EQ(order[3], stack::none);
  });
}

}  // namespace
}  // namespace warpheap::test::held_stack_test
