// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Prefix sums against the standard library's.

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <support/random.hpp>
#include <vector>
#include <warpheap/primitives.hpp>

namespace warpheap::test::sum_test {
namespace {

template <class T>
class exclusive_sums : public testing::Test {};
using numbers = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(exclusive_sums, numbers, );

TYPED_TEST(exclusive_sums, each_place_has_the_sum_of_those_before) {
  if (!machine_available()) GTEST_SKIP() << "no device";
  for (const std::uint32_t count : {0u, 1u, 31u, 1000u, 30000u}) {
    random_stream random(7, count);
    std::vector<TypeParam> values(count);
    for (TypeParam& value : values) value = static_cast<TypeParam>(random.below(~std::uint64_t{0}));
    std::vector<TypeParam> expected(count);
    std::exclusive_scan(values.begin(), values.end(), expected.begin(), TypeParam{0});

    const device_array<TypeParam> input(values);
    const device_array<TypeParam> output(count);
    const device_array<std::byte> work(exclusive_sum_work<TypeParam>(count));
    exclusive_sum<TypeParam>({work.data(), work.size()}, input.data(), output.data(), count);
    EXPECT_EQ(output.to_host(), expected) << count << " numbers";
    EXPECT_EQ(input.to_host(), values) << count << " numbers";
    exclusive_sum<TypeParam>({work.data(), work.size()}, input.data(), input.data(), count);
    EXPECT_EQ(input.to_host(), expected) << count << " numbers, in place";
  }
}

}  // namespace
}  // namespace warpheap::test::sum_test
