// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Votes, shuffles and matches against a plain loop over the lanes, with full, partial and divergent groups.

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <support/masks.hpp>
#include <support/schedules.hpp>
#include <vector>
#include <warpheap/platform.hpp>

namespace warpheap::collectives_test {
namespace {

using test::full_warp;
using test::side_of;

constexpr std::uint32_t warps = 4;
constexpr std::uint32_t lanes = warps * warp_width;

// What each lane brings; the same on host and device.
WARPHEAP_FN std::uint64_t input(std::uint64_t seed, std::uint32_t thread) { return mix(seed * 1000 + thread); }

struct answers {
  std::uint32_t votes;
  std::uint32_t any_of;
  std::uint32_t all_of;
  std::uint64_t word;
  std::uint32_t half;
  std::uint8_t byte;
  float real;
  std::uint32_t equal;
  int rank;
  int size;
  int first;
};

// Both sides of the mask call the same collectives, each in its own group, from the same place.
struct ask {
  WARPHEAP_FN void operator()(std::uint64_t seed, lane_mask mask, answers* out) const {
    const lane_mask group = side_of(mask);
    const std::uint64_t mine = input(seed, thread_index());
    answers& a = out[grid_thread_index()];
    const int source = nth_set_bit(group, static_cast<int>(mine % static_cast<unsigned>(group_size(group))));
    a.votes = ballot(group, mine % 3 == 0);
    a.any_of = any(group, mine % 31 == 0);
    a.all_of = all(group, mine % 31 != 0);
    a.word = shuffle(group, mine, source);
    a.half = shuffle(group, static_cast<std::uint16_t>(mine), source);
    a.byte = shuffle(group, static_cast<std::uint8_t>(mine), source);
    a.real = shuffle(group, static_cast<float>(mine % 1000), source);
    a.equal = match(group, mine % 5);
    a.rank = group_rank(group);
    a.size = group_size(group);
    a.first = is_leader(group) ? lane_index() : leader(group);
    sync(group);
  }
};

void check(std::uint64_t seed, lane_mask mask, const std::vector<answers>& found) {
  for (std::uint32_t thread = 0; thread < lanes; ++thread) {
    const std::uint32_t base = thread / warp_width * warp_width;
    const std::uint32_t own = thread - base;
    const lane_mask group = (mask >> own & 1) != 0 ? mask : full_warp & ~mask;
    std::vector<std::uint32_t> members;
    for (std::uint32_t lane = 0; lane < warp_width; ++lane) {
      if ((group >> lane & 1) != 0) members.push_back(lane);
    }
    const std::uint64_t mine = input(seed, thread);
    const std::uint64_t sent = input(seed, base + members[mine % members.size()]);
    lane_mask votes = 0;
    lane_mask equal = 0;
    bool any_of = false;
    bool all_of = true;
    int rank = 0;
    for (const std::uint32_t lane : members) {
      const std::uint64_t value = input(seed, base + lane);
      if (value % 3 == 0) votes |= lane_mask{1} << lane;
      if (value % 5 == mine % 5) equal |= lane_mask{1} << lane;
      any_of = any_of || value % 31 == 0;
      all_of = all_of && value % 31 != 0;
      if (lane < own) ++rank;
    }
    const answers& a = found[thread];
    ASSERT_EQ(a.votes, votes) << "thread " << thread;
    ASSERT_EQ(a.any_of, any_of) << "thread " << thread;
    ASSERT_EQ(a.all_of, all_of) << "thread " << thread;
    ASSERT_EQ(a.word, sent) << "thread " << thread;
    ASSERT_EQ(a.half, static_cast<std::uint16_t>(sent)) << "thread " << thread;
    ASSERT_EQ(a.byte, static_cast<std::uint8_t>(sent)) << "thread " << thread;
    ASSERT_EQ(a.real, static_cast<float>(sent % 1000)) << "thread " << thread;
    ASSERT_EQ(a.equal, equal) << "thread " << thread;
    ASSERT_EQ(a.rank, rank) << "thread " << thread;
    ASSERT_EQ(a.size, static_cast<int>(members.size())) << "thread " << thread;
    ASSERT_EQ(a.first, static_cast<int>(members.front())) << "thread " << thread;
  }
}

TEST(collectives, agree_with_a_loop_over_the_lanes) {
  test::for_each_schedule([](std::uint64_t seed) {
    device_array<answers> out(lanes);
    for (const lane_mask mask : test::mask_zoo(seed)) {
      SCOPED_TRACE("mask " + std::to_string(mask));
      launch(grid_shape{1, lanes}, ask{}, seed, mask, out.data());
      check(seed, mask, out.to_host());
    }
  });
}

// Lanes that are not of the group do nothing, or have left the kernel.
struct ask_some {
  WARPHEAP_FN void operator()(lane_mask group, std::uint32_t* out) const {
    if ((group & lane_bit()) == 0) return;
    out[thread_index()] = ballot(group, lane_index() % 2 == 0);
  }
};

TEST(collectives, need_only_the_lanes_of_the_group) {
  test::for_each_schedule([](std::uint64_t seed) {
    for (const lane_mask group : test::mask_zoo(seed)) {
      device_array<std::uint32_t> out(warp_width);
      launch(grid_shape{1, warp_width}, ask_some{}, group, out.data());
      const std::vector<std::uint32_t> found = out.to_host();
      for (int lane = 0; lane < warp_width; ++lane) {
        ASSERT_EQ(found[lane], (group >> lane & 1) != 0 ? group & 0x55555555u : 0) << "lane " << lane;
      }
    }
  });
}

// The last warp of a block has fewer lanes.
struct ask_ragged {
  WARPHEAP_FN void operator()(std::uint32_t* out) const {
    const std::uint32_t first = thread_index() / warp_width * warp_width;
    const lane_mask group = low_bits(static_cast<int>(block_threads() - first));
    out[thread_index()] = ballot(group & full_warp, true);
  }
};

TEST(collectives, serve_a_warp_that_is_not_full) {
  constexpr std::uint32_t threads = 2 * warp_width + (warp_width + 1) / 2;
  device_array<std::uint32_t> out(threads);
  launch(grid_shape{1, threads}, ask_ragged{}, out.data());
  EXPECT_EQ(out.at(0), full_warp);
  EXPECT_EQ(out.at(threads - 1), low_bits((warp_width + 1) / 2));
}

// Lanes of a group may come from different places in the source.
struct ask_from_two_places {
  WARPHEAP_FN void operator()(std::uint32_t* out) const {
    std::uint32_t votes = 0;
    if (lane_index() % 2 == 0) {
      votes = ballot(full_warp, true);
    } else {
      votes = ballot(full_warp, false);
    }
    out[thread_index()] = votes;
  }
};

TEST(collectives, gather_lanes_from_different_places) {
  test::for_each_schedule([](std::uint64_t) {
    device_array<std::uint32_t> out(warp_width);
    launch(grid_shape{1, warp_width}, ask_from_two_places{}, out.data());
    for (const std::uint32_t votes : out.to_host()) ASSERT_EQ(votes, full_warp & 0x55555555u);
  });
}

// The two sides of a branch take different numbers of different collectives; neither waits for the other.
struct take_sides {
  WARPHEAP_FN void operator()(lane_mask mask, std::uint32_t* out) const {
    std::uint32_t sum = 0;
    if ((mask & lane_bit()) != 0) {
      for (int i = 0; i < 50; ++i) sum += shuffle(mask, static_cast<std::uint32_t>(lane_index()) + i, leader(mask));
    } else {
      const lane_mask others = full_warp & ~mask;
      for (int i = 0; i < 20; ++i) sum += group_size(ballot(others, lane_index() % (i + 1) == 0));
    }
    sync(full_warp);
    out[thread_index()] = sum;
  }
};

TEST(collectives, divergent_halves_are_independent) {
  test::for_each_schedule([](std::uint64_t seed) {
    for (const lane_mask mask : test::mask_zoo(seed)) {
      device_array<std::uint32_t> out(warp_width);
      launch(grid_shape{1, warp_width}, take_sides{}, mask, out.data());
      const std::vector<std::uint32_t> found = out.to_host();
      std::uint32_t others = 0;
      for (int i = 0; i < 20; ++i) {
        for (int lane = 0; lane < warp_width; ++lane) others += (mask >> lane & 1) == 0 && lane % (i + 1) == 0;
      }
      for (int lane = 0; lane < warp_width; ++lane) {
        ASSERT_EQ(found[lane], (mask >> lane & 1) != 0 ? 50u * lowest_bit(mask) + 50 * 49 / 2 : others);
      }
    }
  });
}

// Nested groups: lanes of a small group meet while others are already parked in a larger one that names them.
struct nest {
  WARPHEAP_FN void operator()(std::uint32_t* out) const {
    std::uint32_t votes = 0;
    if (lane_index() < warp_width / 2) {
      const lane_mask half = low_bits(warp_width / 2);
      for (int i = 0; i < 10; ++i) votes += ballot(half, true) == half;
    }
    sync(full_warp);
    out[thread_index()] = votes;
  }
};

TEST(collectives, a_small_group_meets_while_a_larger_one_waits) {
  if (warp_width == 1) GTEST_SKIP() << "a warp of one has no halves";
  test::for_each_schedule([](std::uint64_t) {
    device_array<std::uint32_t> out(warp_width);
    launch(grid_shape{1, warp_width}, nest{}, out.data());
    EXPECT_EQ(out.at(0), 10u);
    EXPECT_EQ(out.at(warp_width - 1), 0u);
  });
}

// Lanes leave a function one by one, each when it has written, and reconverge after the call. They come in groups that
// earlier turns have split.
struct leave_one_by_one {
  static constexpr std::uint32_t turns = 50;

  WARPHEAP_COLD_FN static void write_late(std::uint32_t* cell, std::uint32_t turn, std::uint32_t seed) {
    using enum memory_order;
    const atomic_view view{*cell};
    // Each load waits for the one before it.
    for (std::uint32_t left = static_cast<std::uint32_t>(mix(seed)) % 64; left != 0;) {
      left -= 1 + view.load(relaxed, thread_scope::device) / (turns + 1);
    }
    view.store(turn, relaxed, thread_scope::device);
  }

  WARPHEAP_FN void operator()(std::uint64_t seed, std::uint32_t* cells, std::uint32_t* missed) const {
    using enum memory_order;
    const std::uint64_t warp = grid_thread_index() / warp_width * warp_width;
    std::uint32_t gone = 0;
    for (std::uint32_t turn = 1; turn <= turns; ++turn) {
      if (mix(seed + grid_thread_index() * turns + turn) % 3 == 0) continue;
      const lane_mask group = active_group();
      sync(group);  // they were together before the call, which ptxas remembers
      write_late(cells + grid_thread_index(), turn, static_cast<std::uint32_t>(seed * turn + grid_thread_index()));
      sync(group);
      for (lane_mask left = group; left != 0; left &= left - 1) {
        const int lane = lowest_bit(left);
        const std::uint32_t written = shuffle(group, turn, lane);
        if (atomic_view{cells[warp + lane]}.load(relaxed, thread_scope::device) != written) ++gone;
      }
      sync(group);  // nobody writes before all have looked
    }
    if (gone != 0) atomic_view{*missed}.fetch_add(gone, relaxed, thread_scope::device);
  }
};

TEST(collectives, sync_waits_for_lanes_that_leave_a_function_later) {
  test::for_each_schedule([](std::uint64_t seed) {
    const grid_shape shape{this_backend == backend::cuda ? 1000u : 2u, 4 * warp_width};
    device_array<std::uint32_t> cells(shape.blocks * shape.threads);
    device_array<std::uint32_t> missed(1);
    launch(shape, leave_one_by_one{}, seed, cells.data(), missed.data());
    EXPECT_EQ(missed.at(0), 0u) << "lanes that had not written when others of their group went on";
  });
}

}  // namespace
}  // namespace warpheap::collectives_test
