// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Reductions and scans on arbitrary groups, and reductions of all parts of a group at once, against a plain loop.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <support/masks.hpp>
#include <support/schedules.hpp>
#include <vector>
#include <warpheap/platform.hpp>

namespace warpheap::scans_test {
namespace {

using test::full_warp;
using test::side_of;

template <class T>
WARPHEAP_FN T input(std::uint64_t seed, int lane) {
  return static_cast<T>(mix(seed * 77 + lane) % 100) - static_cast<T>(20);
}

template <class T, class Combine>
struct combine_lanes {
  WARPHEAP_FN void operator()(std::uint64_t seed, lane_mask mask, T* out) const {
    const lane_mask group = side_of(mask);
    const T mine = input<T>(seed, lane_index());
    out[3 * lane_index()] = reduce(group, mine, Combine{});
    out[3 * lane_index() + 1] = inclusive_scan(group, mine, Combine{});
    out[3 * lane_index() + 2] = exclusive_scan(group, mine, T{42}, Combine{});
  }
};

template <class T, class Combine>
void compare(std::uint64_t seed) {
  device_array<T> out(3 * warp_width);
  for (const lane_mask mask : test::mask_zoo(seed)) {
    launch(grid_shape{1, warp_width}, combine_lanes<T, Combine>{}, seed, mask, out.data());
    const std::vector<T> found = out.to_host();
    for (const lane_mask group : {mask, full_warp & ~mask}) {
      bool first = true;
      T upto{};
      for (int lane = 0; lane < warp_width; ++lane) {
        if ((group >> lane & 1) == 0) continue;
        const T mine = input<T>(seed, lane);
        ASSERT_EQ(found[3 * lane + 2], first ? T{42} : upto) << "exclusive scan, group " << group << ", lane " << lane;
        upto = first ? mine : Combine{}(upto, mine);
        first = false;
        ASSERT_EQ(found[3 * lane + 1], upto) << "inclusive scan, group " << group << ", lane " << lane;
      }
      for (int lane = 0; lane < warp_width; ++lane) {
        if ((group >> lane & 1) == 0) continue;
        ASSERT_EQ(found[3 * lane], upto) << "reduce, group " << group << ", lane " << lane;
      }
    }
  }
}

template <class T>
class scans : public testing::Test {};
// Small whole numbers, so that the order of additions does not matter to float and double.
using value_types = testing::Types<std::uint32_t, std::int32_t, std::uint64_t, std::int64_t, float, double>;
TYPED_TEST_SUITE(scans, value_types);

TYPED_TEST(scans, agree_with_a_loop_over_the_lanes) {
  test::for_each_schedule([](std::uint64_t seed) {
    compare<TypeParam, plus>(seed);
    compare<TypeParam, minimum>(seed);
    compare<TypeParam, maximum>(seed);
  });
}

// All parts of a group at once, of which there are one to as many as lanes.
struct combine_parts {
  WARPHEAP_FN void operator()(lane_mask mask, std::uint32_t kinds, std::uint32_t* out) const {
    const lane_mask group = side_of(mask);
    const int lane = lane_index();
    const lane_mask peers = match(group, static_cast<std::uint32_t>(mix(lane) % kinds));
    const std::uint32_t sum = reduce_parts(group, peers, static_cast<std::uint32_t>(100 + lane), plus{});
    const std::uint64_t most = reduce_parts(group, peers, mix(lane), maximum{});
    out[lane] = is_leader(peers) ? sum : 0;
    out[warp_width + lane] = is_leader(peers) ? static_cast<std::uint32_t>(most) : 0;
  }
};

TEST(parts, agree_with_a_loop_over_the_lanes) {
  test::for_each_schedule([](std::uint64_t seed) {
    device_array<std::uint32_t> out(2 * warp_width);
    for (const lane_mask mask : test::mask_zoo(seed)) {
      for (const std::uint32_t kinds : {1u, 2u, 5u, 1000u}) {
        launch(grid_shape{1, warp_width}, combine_parts{}, mask, kinds, out.data());
        std::vector<std::uint32_t> expected(2 * warp_width);
        for (const lane_mask group : {mask, full_warp & ~mask}) {
          for (std::uint32_t kind = 0; kind < kinds; ++kind) {
            int leads = -1;
            std::uint64_t most = 0;
            for (int lane = 0; lane < warp_width; ++lane) {
              if ((group >> lane & 1) == 0 || mix(lane) % kinds != kind) continue;
              if (leads < 0) leads = lane;
              expected[leads] += 100 + lane;
              most = std::max(most, mix(lane));
              expected[warp_width + leads] = static_cast<std::uint32_t>(most);
            }
          }
        }
        ASSERT_EQ(out.to_host(), expected) << kinds << " kinds, mask " << mask;
      }
    }
  });
}

template <class T>
class bit_scans : public testing::Test {};
using word_types = testing::Types<std::uint32_t, std::int32_t, std::uint64_t>;
TYPED_TEST_SUITE(bit_scans, word_types);

TYPED_TEST(bit_scans, agree_with_a_loop_over_the_lanes) {
  test::for_each_schedule([](std::uint64_t seed) {
    compare<TypeParam, bit_and>(seed);
    compare<TypeParam, bit_or>(seed);
    compare<TypeParam, bit_xor>(seed);
  });
}

}  // namespace
}  // namespace warpheap::scans_test
