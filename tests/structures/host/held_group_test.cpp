// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// A thread that adds a group is held between the moment when the bits above its leaves are set and the one when its
// members are counted on. Others find no block there, and do not wait for it.

#include <gtest/gtest.h>

#include <cstdint>
#include <exploration/host/private_member.hpp>
#include <warpheap/structures.hpp>

#include "../set_memory.hpp"

namespace warpheap::test::held_group_test {
namespace {

WARPHEAP_TEST_PRIVATE(begin_change, bit_tree::begin_change)
WARPHEAP_TEST_PRIVATE(show_leaves, bit_tree::show_leaves)
WARPHEAP_TEST_PRIVATE(count_groups_on, bit_tree::count_groups_on)

struct held_kernel {
  WARPHEAP_FN void operator()(bit_tree set) const {
    require(set.take_exactly({0, bit_tree_group::members}), "all of a group");
    begin_change(set);
    show_leaves(set, 0u, ~std::uint64_t{0});
    std::uint32_t first = 0;
    std::uint32_t leaf = 0;
    require(!set.try_take_block(8, 3, 4, first), "a block of a group that is taken");
    require(!set.try_take_from(8, 3, leaf, first), "a block of a group that is taken");
    require(!set.try_take({16, 8}) && !set.take_exactly({16, 200}), "members of a group that is taken");
    require(!set.has_block(lane_bit(), 8), "a block of a group that is taken");
    count_groups_on(set, 0u, 1u);
    require(set.try_take_block(8, 3, 4, first), "no block, though the group is back");
    set.add({first, 8});
  }
};

TEST(held_group, keeps_nobody_waiting) {
  const set_memory memory{bit_tree_group::members, set_kind::with_groups};
  launch({1, 1}, insert_kernel{}, memory.tree(), index_run{0, bit_tree_group::members});
  launch({1, 1}, held_kernel{}, memory.tree());
  memory.expect_members(bit_tree_group::members);
}

}  // namespace
}  // namespace warpheap::test::held_group_test
