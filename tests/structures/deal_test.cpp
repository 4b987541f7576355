// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// What a group finds is dealt out once, in lane order, to the lanes that wait, whatever the group is.

#include <gtest/gtest.h>

#include <cstdint>
#include <support/masks.hpp>
#include <support/random.hpp>
#include <vector>
#include <warpheap/platform.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::test::deal_test {
namespace {

/// What a lane found and got, for the host to compare.
struct lane_result {
  std::uint32_t found;
  std::int32_t source;
  std::uint32_t index;
};

struct deal_kernel {
  WARPHEAP_FN void operator()(lane_mask group, lane_mask waiting, std::uint64_t seed, std::uint64_t most,
                              lane_result* out) const {
    if ((group & lane_bit()) == 0) return;
    random_stream random{seed, grid_thread_index()};
    const auto found = static_cast<std::uint32_t>(random.below(3) == 0 ? random.below(most + 1) : 0);
    const dealt mine = deal(group, waiting, found);
    out[lane_index()] = {found, mine.source, mine.index};
  }
};

TEST(deal, each_waiting_lane_gets_the_next_thing) {
  for (const lane_mask group : mask_zoo(1)) {
    for (const lane_mask among : mask_zoo(2)) {
      const lane_mask waiting = group & among;  // maybe nobody
      for (const std::uint64_t most : {1, 5, 40}) {
        const device_array<lane_result> out(warp_width);
        launch({1, warp_width}, deal_kernel{}, group, waiting, std::uint64_t{group} * 31 + among, most, out.data());
        const std::vector<lane_result> lanes = out.to_host();
        std::int32_t source = 0;
        std::uint32_t index = 0;
        for (int lane = 0; lane < warp_width; ++lane) {
          if ((waiting >> lane & 1) == 0) {
            if ((group >> lane & 1) != 0) {
              ASSERT_EQ(lanes[lane].source, -1);
            }
            continue;
          }
          while (source < warp_width && index >= lanes[source].found) {
            ++source;
            index = 0;
          }
          ASSERT_EQ(lanes[lane].source, source < warp_width ? source : -1) << "lane " << lane;
          if (source < warp_width) {
            ASSERT_EQ(lanes[lane].index, index++) << "lane " << lane;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace warpheap::test::deal_test
