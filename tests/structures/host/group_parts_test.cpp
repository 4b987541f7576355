// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// A run of several parts of which the last lacks a member: what was taken of the others comes back, groups that lie in
// one part as a whole, and groups that two parts share member by member.

#include <gtest/gtest.h>

#include <cstdint>
#include <exploration/host/private_member.hpp>
#include <warpheap/structures.hpp>

#include "../set_memory.hpp"

namespace warpheap::test::group_parts_test {
namespace {

WARPHEAP_TEST_PRIVATE(take_parts, bit_tree::take_parts)

struct take_parts_kernel {
  WARPHEAP_FN void operator()(bit_tree set, index_run run, std::uint32_t part, std::uint64_t gap) const {
    require(set.take_exactly({gap, 1}), "a member");
    require(!take_parts(set, run, part), "a run that lacks a member");
    set.add({gap, 1});
  }
};

TEST(group_parts, come_back_as_they_were_taken) {
  constexpr std::uint64_t members = bit_tree_group::members;
  constexpr std::uint64_t part = 2 * members + 100;
  const set_memory memory{8 * members, set_kind::with_groups};
  launch({1, 1}, insert_kernel{}, memory.tree(), index_run{0, 8 * members});
  for (const std::uint64_t first : {std::uint64_t{0}, members / 2}) {
    // In the last part: in its first group, which it shares, in one of its own, and at its end.
    for (const std::uint64_t gap : {2 * part, 2 * part + members + 70, 3 * part - 1}) {
      const index_run run{first, 3 * part};
      launch({1, 1}, take_parts_kernel{}, memory.tree(), run, static_cast<std::uint32_t>(part), first + gap);
      memory.expect_members(8 * members);
    }
  }
  for (const bit_tree_group each : memory.groups()) EXPECT_TRUE(each.is_full());
}

}  // namespace
}  // namespace warpheap::test::group_parts_test
