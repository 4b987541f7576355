// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Slabs of warp_slab that are taken back by the lock's holder and two lanes that help, under every schedule.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exploration/host/explored_heap.hpp>
#include <exploration/host/warp_slab_parts.hpp>
#include <string>
#include <vector>
#include <warpheap/designs/warp_slab/warp_slab.hpp>
#include <warpheap/platform.hpp>
#include <warpheap/platform/exploration.hpp>

namespace warpheap::test::slab_reclaim_job_test {
namespace {

using namespace slab_parts;

constexpr std::uint32_t leaf = bit_tree::leaf_bits;  // places
constexpr std::uint32_t most_slabs = 7 * leaf;

// A class of `slabs` slabs, of which those at places `whole` are fully free.
struct class_shape {
  std::uint32_t slabs;
  std::vector<std::uint32_t> whole;

  bool is_whole(std::uint32_t place) const { return std::find(whole.begin(), whole.end(), place) != whole.end(); }
};

std::uint32_t class_of(std::uint64_t bytes) { return slab_classes::of(bytes).of_class; }

// Of slabs that are not fully free all blocks are in use.
void make_slabs(const warp_slab& self, std::uint32_t c, const class_shape& shape) {
  add_slabs(self, lane_bit(), c, shape.slabs);
  for (std::uint32_t place = 0; place < shape.slabs; ++place) {
    if (shape.is_whole(place)) continue;
    const std::uint32_t unit = entry_of(self, c, place) - 1;
    std::uint32_t left = 0;
    claim(self, c, word_number::make(unit, 0), ~0u, left);
    hide(self, c, place, unit);
  }
}

// Lane 0 takes slabs back, as the lock's holder. The others help if they come in time.
struct reclaim_and_help {
  warp_slab self;
  std::uint32_t wanted;
  void operator()(std::uint64_t* out, unsigned lane) const {
    if (lane == 0) {
      out[0] = reclaim(self, lane_bit(), wanted) ? 1 : 0;
    } else if (has_work(self)) {
      help(self);
    }
  }
};

using heap_of_leaves = explored_heap<warp_slab, (most_slabs + 1) * slab_classes::unit_bytes>;

// What is wrong with a class of which `left` slabs are left. Their units are in the table once, and no others.
std::string look_at_table(const warp_slab& self, std::uint32_t c, std::uint32_t left) {
  if (places_of(self, c) != left) return "places that have no slab, or slabs without a place";
  if (slab_units_of(self) != left) return "units are counted twice, or not";
  std::uint64_t seen[most_slabs / 64 + 1] = {};
  for (std::uint32_t place = 0; place < most_slabs; ++place) {
    const std::uint32_t entry = entry_of(self, c, place);
    if ((entry != 0) != (place < left)) return "the table has a gap, or an entry beyond its end";
    if (entry == 0) continue;
    std::uint64_t& word = seen[(entry - 1) / 64];
    const std::uint64_t bit = std::uint64_t{1} << (entry - 1) % 64;
    if ((word & bit) != 0) return "a slab is at two places";
    word |= bit;
    if ((free_units(self).leaf_word((entry - 1) / 64) & bit) != 0) return "a slab's unit is free";
  }
  return {};
}
std::uint32_t count_free_units(const warp_slab& self) {
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i <= most_slabs / 64; ++i) {
    sum += static_cast<std::uint32_t>(popcount(free_units(self).leaf_word(i)));
  }
  return sum;
}

// At most three switches where others have no bound: the table is too long for all schedules.
exploration_options bounded(std::uint32_t most) {
  exploration_options options = few_switches(most);
  if (!options.preemptions) options.preemptions = 3;
  return options;
}
// Explores how of a class about `wanted` slabs are taken back, at least `least`. Two lanes are switched twice, three
// lanes once.
void explore_class(const class_shape& shape, unsigned lanes, std::uint32_t wanted, std::uint32_t least) {
  const std::uint32_t c = class_of(512);
  heap_of_leaves heap;
  std::uint32_t before = 0;
  heap.set_up([c, shape = &shape, to = &before](const warp_slab& self) {
    make_slabs(self, c, *shape);
    *to = count_free_units(self);
  });
  expect_all_clean(explore_snapshot(
      heap.memory(), lanes, reclaim_and_help{heap.self(), wanted},
      [&](const results& out) -> std::string {
        if (out[0] != 1) return "nothing was taken back";
        const std::uint32_t taken = count_free_units(heap.self()) - before;
        if (taken < least || taken > shape.whole.size()) return "units were lost, or made";
        return look_at_table(heap.self(), c, shape.slabs - taken);
      },
      bounded(lanes == 2 ? 2 : 1)));
}

// A fully free slab in each of three leaves.
const class_shape one_a_leaf{2 * leaf + 2, {leaf - 1, 2 * leaf - 1, 2 * leaf + 1}};

// Three leaves are offered at once.
TEST(explored_slab_reclaim_job, a_holder_and_two_that_help) { explore_class(one_a_leaf, 3, one_a_leaf.slabs, 3); }

// One leaf is offered, then two.
TEST(explored_slab_reclaim_job, a_second_offer_while_one_still_helps) { explore_class(one_a_leaf, 2, 3, 3); }

// Four leaves are offered after three others that have nothing. The first one has enough, the others may be dropped.
TEST(explored_slab_reclaim_job, leaves_that_are_dropped_since_enough_is_there) {
  explore_class({7 * leaf, {3 * leaf, 3 * leaf - 1}}, 2, 0, 1);
}

}  // namespace
}  // namespace warpheap::test::slab_reclaim_job_test
