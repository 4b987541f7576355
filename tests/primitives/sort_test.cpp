// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Radix sorts against the standard library's.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <support/random.hpp>
#include <utility>
#include <vector>
#include <warpheap/primitives.hpp>

namespace warpheap::test::sort_test {
namespace {

template <class Key>
class sort : public testing::Test {};
using keys = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(sort, keys, );

// Keys with many repeats within the bits that are compared, and any bits around them.
template <class Key>
std::vector<Key> some_keys(std::uint32_t count, bit_range bits) {
  random_stream random(count + 1, static_cast<std::uint64_t>(bits.first));
  std::vector<Key> made(count);
  for (Key& key : made) {
    key = static_cast<Key>(random.below(~std::uint64_t{0}));
    if (bits.first > 0) key ^= static_cast<Key>(Key{1} << (bits.first - 1));
  }
  return made;
}

template <class Key>
std::vector<std::uint32_t> expected_order(const std::vector<Key>& keys, bit_range bits) {
  const auto compared = [bits](Key key) {
    if (bits.first == bits.end) return Key{0};
    const int unused = static_cast<int>(8 * sizeof(Key)) - bits.end;
    return static_cast<Key>(static_cast<Key>(key << unused) >> (unused + bits.first));
  };
  std::vector<std::uint32_t> order(keys.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return compared(keys[a]) < compared(keys[b]); });
  return order;
}

constexpr std::uint32_t counts[] = {0, 1, 2, 33, 1000, 20000};

template <class Key>
std::vector<bit_range> ranges() {
  const int width = static_cast<int>(8 * sizeof(Key));
  return {{0, width}, {0, 7}, {5, 11}, {width - 3, width}, {4, 4}};
}

TYPED_TEST(sort, keys_are_sorted_by_the_bits_of_the_range_and_stay_in_order_otherwise) {
  if (!machine_available()) GTEST_SKIP() << "no device";
  for (const std::uint32_t count : counts) {
    for (const bit_range bits : ranges<TypeParam>()) {
      const std::vector<TypeParam> keys = some_keys<TypeParam>(count, bits);
      const device_array<TypeParam> first(keys);
      const device_array<TypeParam> second(count);
      const device_array<std::byte> work(radix_sort_work<TypeParam>(count));
      double_buffer<TypeParam> buffers{first.data(), second.data()};
      radix_sort<TypeParam>({work.data(), work.size()}, buffers, count, bits);
      const std::vector<TypeParam> sorted = (buffers.current == first.data() ? first : second).to_host();
      const std::vector<std::uint32_t> order = expected_order(keys, bits);
      for (std::uint32_t i = 0; i < count; ++i) {
        ASSERT_EQ(sorted[i], keys[order[i]]) << count << " keys, bits " << bits.first << " to " << bits.end;
      }
    }
  }
}

TYPED_TEST(sort, values_move_with_their_keys) {
  if (!machine_available()) GTEST_SKIP() << "no device";
  for (const std::uint32_t count : counts) {
    for (const bit_range bits : ranges<TypeParam>()) {
      const std::vector<TypeParam> keys = some_keys<TypeParam>(count, bits);
      std::vector<std::uint32_t> places(count);
      std::iota(places.begin(), places.end(), 0u);
      const device_array<TypeParam> first(keys);
      const device_array<TypeParam> second(count);
      const device_array<std::uint32_t> values(places);
      const device_array<std::uint32_t> others(count);
      const device_array<std::byte> work(radix_sort_pairs_work<TypeParam, std::uint32_t>(count));
      double_buffer<TypeParam> buffers{first.data(), second.data()};
      double_buffer<std::uint32_t> moved{values.data(), others.data()};
      radix_sort_pairs<TypeParam, std::uint32_t>({work.data(), work.size()}, buffers, moved, count, bits);
      const std::vector<TypeParam> sorted = (buffers.current == first.data() ? first : second).to_host();
      EXPECT_EQ((moved.current == values.data() ? values : others).to_host(), expected_order(keys, bits))
          << count << " pairs, bits " << bits.first << " to " << bits.end;
      const std::vector<std::uint32_t> order = expected_order(keys, bits);
      for (std::uint32_t i = 0; i < count; ++i) ASSERT_EQ(sorted[i], keys[order[i]]);
    }
  }
}

}  // namespace
}  // namespace warpheap::test::sort_test
