// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// A cold call runs its body once, with what was captured, for the lanes that make it, and returns what that returns;
// cold calls nest, and lanes meet in them.

#include <gtest/gtest.h>

#include <cstdint>
#include <warpheap/floor.hpp>

namespace warpheap {
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

}  // namespace
}  // namespace warpheap
