// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// A list that many push to and one takes whole: each node is taken once, by who takes the list it was pushed to, in the
// order of the lanes, and with it what its pusher wrote.

#include <gtest/gtest.h>

#include <cstdint>
#include <support/masks.hpp>
#include <support/random.hpp>
#include <support/scale.hpp>
#include <support/schedules.hpp>
#include <vector>
#include <warpheap/structures.hpp>

namespace warpheap::test::push_stack_test {
namespace {

struct link_array {
  std::uint32_t* words;
  WARPHEAP_FN std::uint32_t& operator()(std::uint32_t node) const { return words[node]; }
};
using stack = push_stack<link_array>;

// The lanes of a group push; the list has their nodes in order of the lanes, before what was there.
struct order_kernel {
  WARPHEAP_FN void operator()(stack list, lane_mask group) const {
    if ((group & lane_bit()) == 0) return;
    const auto lane = static_cast<std::uint32_t>(lane_index());
    list.push(group, lane);
    list.push(group, 100 + lane);
    sync(group);
    if (is_leader(group)) {
      std::uint32_t node = list.take_all();
      for (const std::uint32_t from : {100u, 0u}) {
        for (lane_mask rest = group; rest != 0; rest &= rest - 1) {
          require(node == from + static_cast<std::uint32_t>(lowest_bit(rest)), "a node is lost or out of order");
          node = list.next(node);
        }
      }
      require(node == stack::none, "more nodes than were pushed");
      require(list.take_all() == stack::none, "a list that was taken has nodes");
    }
    sync(group);
    require(list.walk(group, [](lane_mask, std::uint32_t) {}) == 0, "walked nodes of an empty list");
  }
};

TEST(push_stack, keeps_the_nodes_of_a_group_in_order) {
  for (const lane_mask group : mask_zoo(5)) {
    const device_array<std::uint32_t> head(1);
    const device_array<std::uint32_t> links(200);
    launch({1, static_cast<std::uint32_t>(warp_width)}, order_kernel{}, stack{head.data(), {links.data()}}, group);
    synchronise();
  }
}

// A walk visits each node once, with as many lanes as there are nodes left.
struct walk_kernel {
  WARPHEAP_FN void operator()(stack list, lane_mask group, std::uint32_t* visits, std::uint32_t nodes) const {
    if ((group & lane_bit()) == 0) return;
    if (is_leader(group)) {
      for (std::uint32_t i = 0; i < nodes; ++i) list.push(lane_bit(), i);
    }
    sync(group);
    const std::uint64_t count = list.walk(group, [&](lane_mask lanes, std::uint32_t node) {
      require(all(lanes, (lanes & lane_bit()) != 0 && (lanes & ~group) == 0), "other lanes visit together");
      ++visits[node];
    });
    require(count == nodes, "walked another number of nodes than were pushed");
  }
};

TEST(push_stack, is_walked_by_a_group_together) {
  for (const lane_mask group : mask_zoo(5)) {
    for (const std::uint32_t nodes : {0u, 1u, 31u, 32u, 33u, 100u}) {
      const device_array<std::uint32_t> head(1);
      const device_array<std::uint32_t> links(100);
      const device_array<std::uint32_t> visits(100);
      launch({1, static_cast<std::uint32_t>(warp_width)}, walk_kernel{}, stack{head.data(), {links.data()}}, group,
             visits.data(), nodes);
      synchronise();
      const std::vector<std::uint32_t> seen = visits.to_host();
      for (std::uint32_t i = 0; i < seen.size(); ++i) ASSERT_EQ(seen[i], i < nodes ? 1u : 0u) << "node " << i;
    }
  }
}

// Each thread owns a node at a time: it writes to it, without an atomic, pushes it to one of two lists, and takes one
// of the lists now and then, of whose nodes it keeps one and pushes the others on. Nodes that it lacks it makes no use
// of.
struct passing_kernel {
  WARPHEAP_FN void operator()(stack first, stack second, std::uint32_t* owners, std::uint32_t* uses, std::uint64_t seed,
                              int steps) const {
    const auto me = static_cast<std::uint32_t>(grid_thread_index());
    random_stream random{seed, me};
    std::uint32_t mine = me;
    for (int step = 0; step < steps; ++step) {
      const std::uint64_t which = random.below(2);
      const stack& list = which == 0 ? first : second;
      if (mine != stack::none && random.below(3) != 0) {
        use(owners, uses, mine, me);
        list.push(match(active_group(), which), mine);
        mine = stack::none;
      } else if (random.below(2) == 0) {
        std::uint32_t node = list.take_all();
        while (node != stack::none) {
          const std::uint32_t after = list.next(node);
          use(owners, uses, node, me);
          if (mine == stack::none) {
            mine = node;
          } else {
            (random.below(2) == 0 ? first : second).push(lane_bit(), node);
          }
          node = after;
        }
      }
    }
    if (mine != stack::none) first.push(lane_bit(), mine);
  }

  WARPHEAP_FN static void use(std::uint32_t* owners, std::uint32_t* uses, std::uint32_t node, std::uint32_t me) {
    require(owners[node] == 0, "a node was taken twice");
    owners[node] = me + 1;
    ++uses[node];
    require(owners[node] == me + 1, "a node has two owners");
    owners[node] = 0;
  }
};

struct drain_kernel {
  WARPHEAP_FN void operator()(stack first, stack second, std::uint32_t* seen) const {
    const lane_mask group = low_bits(warp_width);
    first.walk(group, [=](lane_mask, std::uint32_t node) { ++seen[node]; });
    second.walk(group, [=](lane_mask, std::uint32_t node) { ++seen[node]; });
  }
};

TEST(push_stack, gives_each_node_to_one_taker) {
  for_each_schedule([](std::uint64_t seed) {
    const std::uint64_t blocks = scaled(4, 512);
    const std::uint64_t threads = blocks * 64;
    const device_array<std::uint32_t> heads(64);
    const device_array<std::uint32_t> links(threads);
    const device_array<std::uint32_t> owners(threads);
    const device_array<std::uint32_t> uses(threads);
    const device_array<std::uint32_t> seen(threads);
    const stack first{heads.data(), {links.data()}};
    const stack second{heads.data() + 32, {links.data()}};
    launch({blocks, 64}, passing_kernel{}, first, second, owners.data(), uses.data(), seed, 24);
    launch({1, static_cast<std::uint32_t>(warp_width)}, drain_kernel{}, first, second, seen.data());
    synchronise();
    for (const std::uint32_t each : seen.to_host()) ASSERT_EQ(each, 1u) << "a node was lost or is there twice";
    std::uint64_t sum = 0;
    for (const std::uint32_t each : uses.to_host()) sum += each;
    EXPECT_GT(sum, threads);
  });
}

}  // namespace
}  // namespace warpheap::test::push_stack_test
