// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// A list that is taken whole, under every schedule of two or three threads: no node is lost or taken twice, also where
// a node is pushed again by who took it.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <exploration/host/snapshot.hpp>
#include <string>
#include <warpheap/platform/exploration.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::test::push_stack_exploration_test {
namespace {

struct link_array {
  std::uint32_t* words;
  std::uint32_t& operator()(std::uint32_t node) const { return words[node]; }
};
using stack = push_stack<link_array>;

class stack_memory {
 public:
  stack_memory() : memory_(256) { memory_.freeze(); }
  stack view() const {
    auto* const words = reinterpret_cast<std::uint32_t*>(memory_.data());
    return {words, {words + 32}};
  }
  const snapshot& memory() const { return memory_; }

 private:
  snapshot memory_;
};

// The nodes of a list, a bit for each.
std::uint64_t take_bits(stack list) {
  std::uint64_t bits = 0;
  for (std::uint32_t node = list.take_all(); node != stack::none;) {
    const std::uint32_t after = list.next(node);
    require((bits >> node & 1) == 0, "a node is in the list twice");
    bits |= std::uint64_t{1} << node;
    node = after;
  }
  return bits;
}

std::uint64_t rest_of(stack list) {
  std::uint64_t bits = 0;
  in_one_lane([list, &bits] { bits = take_bits(list); });
  return bits;
}

// Each lane pushes a node and takes the list.
struct push_and_take {
  stack list;
  void operator()(std::uint64_t* out, unsigned lane) const {
    list.push(lane_bit(), lane);
    out[lane] = take_bits(list);
  }
};

TEST(explored_push_stack, each_node_is_taken_once) {
  const stack_memory memory;
  expect_all_clean(explore_snapshot(
      memory.memory(), 2, push_and_take{memory.view()},
      [&](const results& out) -> std::string {
        if ((out[0] & out[1]) != 0) return "a node was taken twice";
        return (out[0] | out[1] | rest_of(memory.view())) == 3 ? "" : "a node is lost";
      },
      all_schedules()));
}

// Two lanes push, one takes what it finds and pushes it again.
struct push_and_pass {
  stack list;
  void operator()(std::uint64_t* out, unsigned lane) const {
    out[lane] = 0;
    if (lane != 2) return list.push(lane_bit(), lane);
    for (std::uint32_t node = list.take_all(); node != stack::none;) {
      const std::uint32_t after = list.next(node);
      list.push(lane_bit(), node);
      node = after;
    }
  }
};

TEST(explored_push_stack, nodes_come_back_to_the_list_they_were_taken_from) {
  const stack_memory memory;
  expect_all_clean(explore_snapshot(
      memory.memory(), 3, push_and_pass{memory.view()},
      [&](const results&) -> std::string { return rest_of(memory.view()) == 3 ? "" : "a node is lost"; },
      few_switches(4)));
}

}  // namespace
}  // namespace warpheap::test::push_stack_exploration_test
