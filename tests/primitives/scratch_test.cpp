// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Scratch memory: arrays do not overlap, growth is geometric, a smaller plan takes nothing.

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <warpheap/primitives.hpp>

namespace warpheap::test::scratch_test {
namespace {

TEST(scratch, arrays_lie_side_by_side_and_are_aligned) {
  if (!machine_available()) GTEST_SKIP() << "no device";
  scratch_plan plan;
  const auto bytes = plan.add<std::uint8_t>(3);
  const auto none = plan.add<std::uint32_t>(0);
  const auto words = plan.add<std::uint64_t>(100);
  const auto last = plan.add<std::uint16_t>(1);
  device_scratch memory;
  memory.fit(plan);
  ASSERT_GE(memory.bytes(), plan.bytes());
  EXPECT_EQ(memory.at(none), nullptr);
  const auto address = [](const auto* pointer) { return reinterpret_cast<std::uint64_t>(pointer); };
  EXPECT_GE(address(memory.at(words)), address(memory.at(bytes)) + 3);
  EXPECT_GE(address(memory.at(last)), address(memory.at(words) + 100));
  for (const std::uint64_t at : {address(memory.at(bytes)), address(memory.at(words)), address(memory.at(last))}) {
    EXPECT_EQ(at % 256, 0u);
  }
}

TEST(scratch, growth_is_geometric_and_memory_is_kept) {
  if (!machine_available()) GTEST_SKIP() << "no device";
  device_scratch memory;
  scratch_plan large;
  large.add<std::byte>(1 << 20);
  memory.fit(large);
  const std::uint64_t before = memory.bytes();
  scratch_plan small;
  const auto word = small.add<std::uint32_t>(1);
  memory.fit(small);
  EXPECT_EQ(memory.bytes(), before);
  device_fill(memory.at(word), 0, sizeof(std::uint32_t));
  scratch_plan larger;
  larger.add<std::byte>((1 << 20) + 1);
  memory.fit(larger);
  EXPECT_GE(memory.bytes(), before + before / 2);
  memory.release();
  EXPECT_EQ(memory.bytes(), 0u);
}

TEST(scratch, a_plan_beyond_the_limit_is_refused) {
  scratch_plan plan;
  EXPECT_THROW(plan.add<std::uint64_t>(~std::uint64_t{0} / 4), std::length_error);
}

}  // namespace
}  // namespace warpheap::test::scratch_test
