// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Selections against a loop.

#include <gtest/gtest.h>

#include <cstdint>
#include <support/random.hpp>
#include <vector>
#include <warpheap/primitives.hpp>

namespace warpheap::test::select_test {
namespace {

template <class Predicate>
std::vector<std::uint32_t> selected_places(Predicate predicate, std::uint32_t count) {
  const device_array<std::uint32_t> places(count);
  const device_array<std::uint32_t> selected(1);
  const device_array<std::byte> work(select_places_work<Predicate>(count));
  select_places<Predicate>({work.data(), work.size()}, predicate, count, places.data(), selected.data());
  std::vector<std::uint32_t> all = places.to_host();
  all.resize(selected.at(0));
  return all;
}

constexpr std::uint32_t counts[] = {0, 1, 40, 1000, 30000};

TEST(select_places, flagged_places_come_in_order) {
  if (!machine_available()) GTEST_SKIP() << "no device";
  for (const std::uint32_t count : counts) {
    random_stream random(3, count);
    std::vector<std::uint8_t> flags(count);
    std::vector<std::uint32_t> expected;
    for (std::uint32_t i = 0; i < count; ++i) {
      flags[i] = static_cast<std::uint8_t>(random.below(3));
      if (flags[i] != 0) expected.push_back(i);
    }
    const device_array<std::uint8_t> given(flags);
    EXPECT_EQ(selected_places(is_flagged{given.data()}, count), expected) << count << " flags";
  }
}

TEST(select_places, run_heads_are_where_the_upper_bits_change) {
  if (!machine_available()) GTEST_SKIP() << "no device";
  for (const std::uint32_t count : counts) {
    random_stream random(5, count);
    std::vector<std::uint64_t> keys(count);
    std::vector<std::uint32_t> expected;
    std::uint64_t run = 9;
    for (std::uint32_t i = 0; i < count; ++i) {
      if (i == 0 || random.below(4) == 0) {
        ++run;
        expected.push_back(i);
      }
      keys[i] = run << 10 | random.below(1024);
    }
    const device_array<std::uint64_t> given(keys);
    EXPECT_EQ(selected_places(is_run_head<std::uint64_t>{given.data(), 10}, count), expected) << count << " keys";
  }
}

}  // namespace
}  // namespace warpheap::test::select_test
