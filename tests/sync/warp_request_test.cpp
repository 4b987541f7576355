// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Requests of a warp: lanes that want the same of the same object make one, and its leader serves each by its rank. And
// turns of the groups that came together.

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <support/random.hpp>
#include <support/schedules.hpp>
#include <utility>
#include <vector>
#include <warpheap/sync.hpp>

namespace warpheap::test::warp_request_test {
namespace {

/// Requests go to one of these.
struct alignas(128) object {
  std::uint32_t next;  // number that the next request begins with
};

enum class form : std::uint32_t { kind, amount, likely_amount };

/// What one lane asked for and got.
struct answer {
  std::uint32_t object;
  std::uint32_t wanted;
  lane_mask lanes;
  std::uint32_t size;
  std::uint32_t rank;
  std::uint32_t leads;
  std::uint32_t number;  // consecutive within a request
};

/// Lane i uses object i % objects and wants i / objects % kinds of it, plus `base`.
struct ask_kernel {
  WARPHEAP_FN void operator()(object* objects, std::uint32_t count, std::uint32_t kinds, std::uint32_t base, form how,
                              answer* answers) const {
    const std::uint64_t me = grid_thread_index();
    const auto which = static_cast<std::uint32_t>(me % count);
    const auto wanted = base + static_cast<std::uint32_t>(me / count % kinds);
    const lane_mask group = active_group();
    const warp_request mine = how == form::kind     ? warp_request::of(group, &objects[which], wanted)
                              : how == form::amount ? warp_request::of_amount(group, &objects[which], wanted)
                                                    : warp_request::of_likely_amount(group, &objects[which], wanted);
    std::uint32_t first = 0;
    if (mine.leads()) {
      first = atomic_view{objects[which].next}.fetch_add(mine.size(), memory_order::relaxed, thread_scope::device);
    }
    const std::uint32_t by_group = mine.from_leader(group, first);
    require(mine.from_leader(first) == by_group, "the leader says two things");
    answers[me] = {which, wanted, mine.lanes, mine.size(), mine.rank(), mine.leads() ? 1u : 0u, by_group + mine.rank()};
    // Served one by one by rank, each lane is the first of those that remain, once.
    warp_request rest = mine;
    for (std::uint32_t i = 0; i < mine.rank(); ++i) rest = rest.without_first(1);
    require(rest.leads() && rest.size() == mine.size() - mine.rank(), "not the lanes of later ranks");
  }
};

void each_request_is_whole(std::uint32_t objects, std::uint32_t kinds, std::uint32_t base, form how) {
  for_each_schedule([&](std::uint64_t) {
    constexpr std::uint32_t blocks = 3;
    const std::uint32_t threads = 2 * static_cast<std::uint32_t>(warp_width);
    const device_array<object> asked(objects);
    const device_array<answer> answers(blocks * threads);
    launch({blocks, threads}, ask_kernel{}, asked.data(), objects, kinds, base, how, answers.data());
    std::map<std::uint32_t, std::vector<bool>> given;
    const std::vector<answer> all = answers.to_host();
    for (std::uint32_t me = 0; me < all.size(); ++me) {
      const answer& mine = all[me];
      const std::uint32_t lane = me % static_cast<std::uint32_t>(warp_width);
      ASSERT_NE(mine.lanes >> lane & 1, 0u) << "a lane is not in its own request";
      EXPECT_EQ(mine.size, static_cast<std::uint32_t>(popcount(mine.lanes)));
      EXPECT_EQ(mine.rank, static_cast<std::uint32_t>(popcount(mine.lanes & low_bits(static_cast<int>(lane)))));
      EXPECT_EQ(mine.leads, mine.rank == 0 ? 1u : 0u);
      for (std::uint32_t other = 0; other < static_cast<std::uint32_t>(warp_width); ++other) {
        if ((mine.lanes >> other & 1) == 0) continue;
        const answer& its = all[me - lane + other];
        EXPECT_EQ(std::pair(its.object, its.wanted), std::pair(mine.object, mine.wanted));
        EXPECT_EQ(its.lanes, mine.lanes);
      }
      std::vector<bool>& numbers = given[mine.object];
      if (numbers.size() <= mine.number) numbers.resize(mine.number + 1);
      EXPECT_FALSE(numbers[mine.number]) << "two lanes were given number " << mine.number;
      numbers[mine.number] = true;
    }
  });
}

TEST(warp_request, lanes_with_one_object_and_kind_make_one) {
  each_request_is_whole(1, 1, 0, form::kind);
  each_request_is_whole(1, 1, 7, form::likely_amount);
}

TEST(warp_request, lanes_with_other_kinds_make_others) { each_request_is_whole(1, 5, 0, form::kind); }

TEST(warp_request, lanes_with_other_objects_make_others) {
  each_request_is_whole(3, 1, 0, form::kind);
  each_request_is_whole(3, 4, 0, form::kind);
}

// Amounts that differ by the distance of two objects: an address and an amount in one number would be mixed up.
TEST(warp_request, any_amount_is_told_from_another_object) {
  each_request_is_whole(2, 2, 0x7fff'ffff, form::amount);
  each_request_is_whole(2, 2, 0x7fff'ffff, form::likely_amount);
  each_request_is_whole(2, 2, sizeof(object) - 1, form::amount);
}

/// Lanes of up to four groups that came together, each lane with work for one to three turns. `inside` counts the
/// groups that are in their work, for the first thread of those that came together.
struct turns_kernel {
  WARPHEAP_FN void operator()(std::uint32_t* inside, std::uint32_t* turns) const {
    const std::uint64_t me = grid_thread_index();
    const std::uint64_t wanted = 1 + mix(me) % 3;
    const lane_mask together = active_group();
    const lane_mask group = match(together, mix(~me) % 4);
    const std::uint64_t first = me - static_cast<std::uint64_t>(lane_index() - lowest_bit(together));
    const atomic_view groups{inside[first]};
    std::uint32_t had = 0;
    one_group_at_a_time(together, group, [&](lane_mask lanes) {
      require((lanes & lane_bit()) != 0 && (lanes & ~group) == 0, "lanes of another group");
      if (is_leader(lanes)) {
        const std::uint32_t before = groups.fetch_add(1, memory_order::relaxed, thread_scope::device);
        require(before == 0, "two groups at a time");
      }
      sync(lanes);
      backoff{}.pause();
      sync(lanes);
      if (is_leader(lanes)) groups.fetch_sub(1, memory_order::relaxed, thread_scope::device);
      return ++had == wanted;
    });
    turns[me] = had;
  }
};

TEST(warp_request, groups_that_came_together_have_turns) {
  for_each_schedule([](std::uint64_t) {
    constexpr std::uint64_t threads = 256;
    const device_array<std::uint32_t> inside(threads);
    const device_array<std::uint32_t> turns(threads);
    launch({4, 64}, turns_kernel{}, inside.data(), turns.data());
    const std::vector<std::uint32_t> had = turns.to_host();
    for (std::uint64_t i = 0; i < threads; ++i) ASSERT_EQ(had[i], 1 + mix(i) % 3) << "thread " << i;
    for (const std::uint32_t left : inside.to_host()) ASSERT_EQ(left, 0u);
  });
}

}  // namespace
}  // namespace warpheap::test::warp_request_test
