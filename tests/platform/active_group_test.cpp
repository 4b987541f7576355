// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// active_group promises a subset of the warp that includes the caller, and that its lanes agree on it. Nothing more: a
// fuzzed schedule hands out small groups, and code that needs the whole warp fails under it.

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <support/masks.hpp>
#include <support/schedules.hpp>
#include <vector>
#include <warpheap/platform.hpp>

namespace warpheap::active_group_test {
namespace {

using test::full_warp;

constexpr int rounds = 8;

struct record_groups {
  WARPHEAP_FN void operator()(std::uint32_t* out) const {
    for (int i = 0; i < rounds; ++i) {
      const lane_mask group = active_group();
      // A group that its lanes did not agree on would never meet here.
      out[i * warp_width + lane_index()] = ballot(group, true) == group ? group : 0;
    }
  }
};

TEST(active_group, is_a_partition_whose_lanes_agree) {
  test::for_each_schedule([](std::uint64_t) {
    device_array<std::uint32_t> out(rounds * warp_width);
    launch(grid_shape{1, warp_width}, record_groups{}, out.data());
    const std::vector<std::uint32_t> found = out.to_host();
    for (int lane = 0; lane < warp_width; ++lane) {
      for (int i = 0; i < rounds; ++i) {
        const lane_mask group = found[i * warp_width + lane];
        ASSERT_NE(group >> lane & 1, 0u) << "lane " << lane << " is not in its own group";
        ASSERT_EQ(group & ~full_warp, 0u);
      }
    }
  });
}

struct add_together {
  WARPHEAP_FN void operator()(std::uint32_t* total, std::uint32_t* tickets) const {
    const lane_mask group = active_group();
    std::uint32_t base = 0;
    if (is_leader(group)) {
      base = atomic_view{*total}.fetch_add(static_cast<std::uint32_t>(group_size(group)), memory_order::relaxed,
                                           thread_scope::device);
    }
    base = shuffle(group, base, leader(group));
    tickets[grid_thread_index()] = base + static_cast<std::uint32_t>(group_rank(group));
  }
};

TEST(active_group, serves_aggregation_whatever_the_groups) {
  test::for_each_schedule([](std::uint64_t) {
    for (const grid_shape shape : {grid_shape{4, 96}, grid_shape{3, 33}, grid_shape{7, 1}}) {
      const std::uint64_t threads = shape.blocks * shape.threads;
      device_array<std::uint32_t> total(1);
      device_array<std::uint32_t> tickets(threads);
      launch(shape, add_together{}, total.data(), tickets.data());
      const std::vector<std::uint32_t> found = tickets.to_host();
      ASSERT_EQ(total.at(0), threads);
      ASSERT_EQ(std::set<std::uint32_t>(found.begin(), found.end()).size(), threads) << "two lanes have one ticket";
    }
  });
}

// Branches of a warp gather apart, as they are different places.
struct gather_in_branches {
  WARPHEAP_FN void operator()(std::uint32_t* out) const {
    lane_mask group = 0;
    if (lane_index() % 2 == 0) {
      group = active_group();
    } else {
      group = active_group();
    }
    out[lane_index()] = group;
  }
};

// On a GPU the compiler may join the two calls, as the group of each lane still holds no more than CUDA promises.
#if defined(WARPHEAP_BACKEND_HOST)

TEST(active_group, gathers_by_place) {
  schedule plan;
  plan.workers = 1;
  const scoped_schedule guard{plan};
  device_array<std::uint32_t> out(warp_width);
  launch(grid_shape{1, warp_width}, gather_in_branches{}, out.data());
  for (int lane = 0; lane < warp_width; ++lane) {
    EXPECT_EQ(out.at(lane), full_warp & (lane % 2 == 0 ? 0x55555555u : 0xaaaaaaaau));
  }
}

TEST(active_group, is_the_whole_warp_without_fuzz_and_any_part_with_it) {
  device_array<std::uint32_t> out(rounds * warp_width);
  std::set<std::uint32_t> sizes;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    schedule plan;
    plan.workers = 1;
    plan.seed = seed;
    {
      const scoped_schedule guard{plan};
      launch(grid_shape{1, warp_width}, record_groups{}, out.data());
      for (const lane_mask group : out.to_host()) ASSERT_EQ(group, full_warp);
    }
    plan.fuzz = true;
    const scoped_schedule guard{plan};
    launch(grid_shape{1, warp_width}, record_groups{}, out.data());
    for (const lane_mask group : out.to_host()) sizes.insert(group_size(group));
  }
  EXPECT_EQ(sizes.count(1), 1u) << "no lane was ever alone";
  EXPECT_EQ(sizes.count(warp_width), 1u) << "the warp was never whole";
  if (warp_width == 32) {
    EXPECT_GT(sizes.size(), 16u) << "hardly any other sizes";
  }
}

// Takes a group for the whole warp.
struct assume_full {
  WARPHEAP_FN void operator()(std::uint32_t* wrong) const {
    const lane_mask group = active_group();
    const int sum = reduce(group, lane_index(), plus{});
    if (sum != warp_width * (warp_width - 1) / 2) {
      atomic_view{*wrong}.fetch_add(1, memory_order::relaxed, thread_scope::device);
    }
  }
};

// Asks again and expects the same lanes.
struct ask_again {
  WARPHEAP_FN void operator()(std::uint32_t*) const {
    const lane_mask group = active_group();
    ballot(group, true);
    ballot(active_group() | group, true);
  }
};

template <class Kernel>
int seeds_that_catch(Kernel kernel, bool fuzz) {
  int caught = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    schedule plan;
    plan.workers = 1;
    plan.seed = seed;
    plan.fuzz = fuzz;
    plan.order = fuzz ? schedule::policy::random : schedule::policy::round_robin;
    const scoped_schedule guard{plan};
    device_array<std::uint32_t> wrong(1);
    try {
      launch(grid_shape{2, 2 * warp_width}, kernel, wrong.data());
      if (wrong.at(0) != 0) ++caught;
    } catch (const launch_failure&) {
      ++caught;
    }
  }
  return caught;
}

TEST(active_group, fuzz_catches_code_that_needs_the_whole_warp) {
  if (warp_width == 1) GTEST_SKIP() << "a warp of one is always whole";
  // Of ten seeds; a small warp is whole by chance more often.
  constexpr int enough = warp_width == 32 ? 9 : 1;
  EXPECT_EQ(seeds_that_catch(assume_full{}, false), 0);
  EXPECT_GE(seeds_that_catch(assume_full{}, true), enough);
  EXPECT_EQ(seeds_that_catch(ask_again{}, false), 0);
  EXPECT_GE(seeds_that_catch(ask_again{}, true), enough);
}

#endif

// The holder of a lock gathers while its siblings spin without ever coming to the same place.
struct gather_while_siblings_wait {
  WARPHEAP_FN void operator()(std::uint32_t* flag, std::uint32_t* out) const {
    const atomic_view<std::uint32_t> view{*flag};
    if (lane_index() == 0) {
      out[0] = active_group();
      view.store(1, memory_order::release, thread_scope::device);
    } else {
      backoff wait;
      while (view.load(memory_order::acquire, thread_scope::device) == 0) wait.pause();
    }
  }
};

TEST(active_group, returns_although_siblings_spin) {
  test::for_each_schedule([](std::uint64_t) {
    device_array<std::uint32_t> flag(1);
    device_array<std::uint32_t> out(1);
    launch(grid_shape{1, warp_width}, gather_while_siblings_wait{}, flag.data(), out.data());
    EXPECT_EQ(out.at(0), 1u);
  });
}

// In each turn some lanes gather, their leader draws a number for all, as leaders of allocators do, and some go on into
// a cold call that takes a while; the others go on to the next turn, in which some gather, too. So lanes that gathered
// in different turns come to one place together, and what they exchange there must stay within each group. On an H200
// it did not when `active_group` was no more than what the hardware says.
struct gather_in_turns {
  WARPHEAP_FN void operator()(std::uint32_t turns, std::uint64_t* words, std::uint64_t* out,
                              std::uint32_t* wrong) const {
    const auto thread = static_cast<std::uint32_t>(grid_thread_index());
    const atomic_view<std::uint64_t> word{words[thread / warp_width]};
    for (std::uint32_t turn = 0; turn < turns; ++turn) {
      const std::uint64_t luck = mix(thread * std::uint64_t{977} + turn);
      if (luck % 2 == 0) continue;
      const lane_mask group = active_group();
      const lane_mask peers = match(group, reinterpret_cast<std::uint64_t>(words));
      std::uint64_t drawn = 0;
      if (is_leader(peers)) drawn = draw(word, peers);
      sync(group);
      drawn = shuffle(group, drawn, leader(peers));
      const bool cold = luck / 2 % 4 != 0;
      const lane_mask rest = ballot(group, cold);
      const bool good = static_cast<lane_mask>(drawn) == peers && peers == group && (rest & ~group) == 0 &&
                        ((rest & lane_bit()) != 0) == cold;
      if (!good) atomic_view{*wrong}.fetch_add(1, memory_order::relaxed, thread_scope::device);
      if (cold && good) drawn = cold_call([word, rest] { return draw_thrice(word, rest); });
      out[thread] = drawn;
    }
  }

  // A number that only this call draws, with `group` in its low half.
  WARPHEAP_FN static std::uint64_t draw(atomic_view<std::uint64_t> word, lane_mask group) {
    std::uint64_t seen = word.load(memory_order::relaxed, thread_scope::device);
    while (true) {  // not a spin: it fails only when another draw came first
      const std::uint64_t next = ((seen >> 32) + 1) << 32 | group;
      if (word.compare_exchange(seen, next, memory_order::acquire, thread_scope::device)) return next;
    }
  }
  WARPHEAP_FN static std::uint64_t draw_thrice(atomic_view<std::uint64_t> word, lane_mask group) {
    std::uint64_t sum = 0;
    for (int i = 0; i < 3; ++i) {
      std::uint64_t drawn = 0;
      if (is_leader(group)) drawn = draw(word, group);
      sync(group);
      sum += shuffle(group, drawn, leader(group));
      if (!any(group, sum != 0)) break;
    }
    return sum;
  }
};

TEST(active_group, groups_stay_apart_where_they_meet) {
  constexpr std::uint32_t blocks = this_backend == backend::cuda ? 40 : 4;
  constexpr std::uint32_t threads = 256;
  test::for_each_schedule([](std::uint64_t) {
    device_array<std::uint64_t> words(blocks * threads / warp_width);
    device_array<std::uint64_t> out(blocks * threads);
    device_array<std::uint32_t> wrong(1);
    launch(grid_shape{blocks, threads}, gather_in_turns{}, 16u, words.data(), out.data(), wrong.data());
    EXPECT_EQ(wrong.at(0), 0u);
  });
}

}  // namespace
}  // namespace warpheap::active_group_test
