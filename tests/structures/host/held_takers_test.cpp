// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The buddy system while lanes are held between two steps: a search that missed what others moved looks again.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <exploration/host/snapshot.hpp>
#include <support/few_lanes.hpp>
#include <warpheap/platform.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::test::held_takers_test {
namespace {

// A unit of 64 pages, all but page 0 free. Lane 1 gives that page back, which merges the unit, takes one, which breaks
// the unit, and gives it back. Lane 1 is held in each of the two merges: the pages are out of sight then. Lane 0 looks
// for a page during the first merge. It begins its snapshot between the merges, when nothing is under way, and looks
// once more during the second merge. 63 pages are free at any time, and no call that gives a page returns while lane 0
// searches.
TEST(held_takers, a_search_that_a_merge_passed_by_looks_again) {
  constexpr std::size_t spans_at = align_up(sizeof(buddy_tree::state), 128);
  snapshot memory(spans_at + sizeof(buddy_tree::span));
  const buddy_tree tree{reinterpret_cast<buddy_tree::state*>(memory.data()),
                        reinterpret_cast<buddy_tree::span*>(memory.data() + spans_at), 0};
  in_one_lane([tree] {
    tree.add(0, 64);
    require(tree.take(0) == 0, "the first page is taken first");
  });
  memory.freeze();
  for_few_lanes(3, [&](few_lanes lanes) {
    memory.reset();
    held_lane first_merge{"buddy_tree.put.merged"};
    held_lane missed{"buddy_tree.take.missed", {.thread = 0}};
    held_lane snapshot_begun{"buddy_tree.take.snapshot_begun", {.thread = 0}};
    held_lane second_merge{"buddy_tree.put.merged", {.until_others_wait = true}};
    std::uint32_t found = 0;
    std::uint32_t between = 0;
    lanes.run([=, first_merge = &first_merge, missed = &missed, snapshot_begun = &snapshot_begun,
               second_merge = &second_merge, found = &found, between = &between](unsigned lane) {
      if (lane == 0) {
        first_merge->await();
        *found = tree.take(0);
        second_merge->release();
      } else if (lane == 1) {
        tree.give(0, 0);
        *between = tree.take(0);
        missed->release();
        snapshot_begun->await();
        tree.give(*between, 0);
      } else {
        missed->await();
        first_merge->release();
        second_merge->await();
        snapshot_begun->release();
      }
    });
    EXPECT_NE(between, buddy_tree::none);
    EXPECT_NE(found, buddy_tree::none) << "refused with 63 free pages";
  });
}

}  // namespace
}  // namespace warpheap::test::held_takers_test
