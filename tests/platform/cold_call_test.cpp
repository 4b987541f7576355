// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// A cold call runs its body once, with what was captured, for the lanes that make it, and returns what that returns;
// cold calls nest, and lanes meet in them.

#include <gtest/gtest.h>

#include <cstdint>
#include <warpheap/platform.hpp>

namespace warpheap::cold_call_test {
namespace {

struct answer {
  std::uint64_t sum;
  std::uint32_t lanes;
};

/// Every third lane makes a cold call, whose body makes another.
struct cold_kernel {
  WARPHEAP_FN void operator()(answer* answers, std::uint64_t* others) const {
    const std::uint64_t me = grid_thread_index();
    if (me % 3 != 0) {
      cold_call([others, me] { others[me] += me; });
      return;
    }
    const lane_mask group = active_group();
    answers[me] = cold_call([group, me] {
      const auto lanes = static_cast<std::uint32_t>(group_size(group));
      const std::uint64_t sum = cold_call([group, me] { return reduce(group, me, plus{}); });
      return answer{sum, lanes};
    });
    // What it returned holds for the group: the sum is the same in each lane.
    require(match(group, answers[me].sum) == group, "lanes that met got different sums");
  }
};

TEST(cold_call, returns_what_its_body_does) {
  constexpr std::uint64_t count = 256;
  const device_array<answer> answers(count);
  const device_array<std::uint64_t> others(count);
  launch({2, 128}, cold_kernel{}, answers.data(), others.data());
  std::uint64_t called = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    EXPECT_EQ(others.at(i), i % 3 != 0 ? i : 0) << i;
    const answer each = answers.at(i);
    EXPECT_EQ(each.lanes != 0, i % 3 == 0) << i;
    if (each.lanes == 0) continue;
    EXPECT_GE(each.sum, i);
    ++called;
  }
  EXPECT_EQ(called, (count + 2) / 3);
}

/// Lanes of one warp reduce in several groups at once, some of them while others are elsewhere, in a kernel that makes
/// a cold call: compilers have another form of these instructions for such kernels.
struct apart_kernel {
  WARPHEAP_FN void operator()(std::uint32_t kinds, lane_mask side, std::uint32_t* wrong) const {
    const int lane = lane_index();
    for (std::uint32_t turn = 0; turn < 4; ++turn) {
      const std::uint32_t kind = (static_cast<std::uint32_t>(lane) * 7 + turn) % kinds;
      bool good = true;
      if ((side >> lane & 1) != 0) {
        const lane_mask same = match(active_group(), kind);
        good = reduce(same, 1u << lane, bit_or{}) == same && reduce(same, 1, plus{}) == group_size(same);
        sync(same);
      } else {
        const lane_mask same = match(active_group(), kind + 100);
        const std::uint32_t found = reduce(same, 1u << lane, bit_or{});
        if (kind % 2 != 0) good = cold_call([found, same] { return reduce(same, found, bit_and{}); }) == same;
        good = good && found == same;
      }
      if (!good) atomic_view{*wrong}.fetch_add(1, memory_order::relaxed, thread_scope::device);
    }
  }
};

TEST(cold_call, leaves_groups_apart) {
  const device_array<std::uint32_t> wrong(1);
  for (std::uint32_t kinds = 1; kinds <= 32; ++kinds) {
    for (const lane_mask side : {0xffff'ffffu, 0u, 0x5555'5555u, 0x0000'ffffu, 0x8f31'04c7u}) {
      launch({2, 64}, apart_kernel{}, kinds, side, wrong.data());
      ASSERT_EQ(wrong.at(0), 0) << kinds << " kinds, lanes " << side;
    }
  }
}

}  // namespace
}  // namespace warpheap::cold_call_test
