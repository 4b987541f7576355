// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Which free and absent parts of several books are put together for a request.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <support/random.hpp>
#include <vector>
#include <warpheap/pool.hpp>

namespace warpheap::joined_stretch_test {
namespace {

using pool_detail::common_book;
using pool_detail::idle_part;
using enum segment_state;

idle_part part(std::uint64_t begin, std::uint64_t bytes, std::size_t book, segment_state state = free) {
  return {{no_segment, begin, bytes, state}, book};
}
std::vector<std::uint64_t> begins(const std::vector<idle_part>& parts) {
  std::vector<std::uint64_t> found;
  for (const idle_part& each : parts) found.push_back(each.where.begin);
  return found;
}
using numbers = std::vector<std::uint64_t>;

TEST(joined_stretch, is_the_smallest_that_holds_the_request) {
  const std::vector<idle_part> parts = {part(100, 10, 1), part(110, 20, 2), part(130, 10, common_book),
                                        part(300, 30, 2), part(330, 30, 1), part(900, 50, 1)};
  EXPECT_EQ(begins(pool_detail::parts_to_join(parts, 35, 1, 0)), (numbers{100, 110, 130}));
  EXPECT_EQ(begins(pool_detail::parts_to_join(parts, 41, 1, 0)), (numbers{900}));
  EXPECT_EQ(begins(pool_detail::parts_to_join(parts, 51, 1, 0)), (numbers{300, 330}));
  EXPECT_TRUE(pool_detail::parts_to_join(parts, 61, 1, 0).empty());
  EXPECT_TRUE(pool_detail::parts_to_join({}, 1, 1, 0).empty());
}

TEST(joined_stretch, is_followed_by_larger_ones_up_to_a_limit) {
  const std::vector<idle_part> parts = {part(100, 10, 1), part(200, 12, 2), part(300, 5, 2), part(400, 30, 1),
                                        part(500, 11, 3)};
  EXPECT_EQ(begins(pool_detail::parts_to_join(parts, 6, 1, 33)), (numbers{100, 500, 200}));
  EXPECT_EQ(begins(pool_detail::parts_to_join(parts, 6, 1, 32)), (numbers{100, 500}));
  EXPECT_EQ(begins(pool_detail::parts_to_join(parts, 6, 1, 1000)), (numbers{100, 500, 200, 400}));
}

TEST(joined_stretch, begins_where_the_alignment_allows) {
  const std::vector<idle_part> parts = {part(100, 10, 1), part(110, 20, 2)};
  EXPECT_EQ(pool_detail::parts_to_join(parts, 2, 64, 0).size(), 2u);
  EXPECT_TRUE(pool_detail::parts_to_join(parts, 3, 64, 0).empty());
  EXPECT_TRUE(pool_detail::parts_to_join(parts, 1, 256, 0).empty());
  EXPECT_TRUE(pool_detail::parts_to_join(parts, 1, std::uint64_t{1} << 63, 0).empty());
}

TEST(joined_stretch, has_a_part_that_is_not_at_hand) {
  EXPECT_EQ(begins(pool_detail::parts_to_join(std::vector{part(100, 10, common_book), part(200, 20, 1)}, 5, 1, 0)),
            (numbers{200}));
  const std::vector<idle_part> at_hand = {part(100, 10, common_book), part(110, 90, common_book, absent)};
  EXPECT_TRUE(pool_detail::parts_to_grow_over(at_hand, 50, 1, 1000, false).empty());
}

TEST(joined_stretch, has_absent_parts_where_the_pool_may_grow_enough) {
  const std::vector<idle_part> parts = {part(100, 10, 1), part(110, 90, common_book, absent), part(300, 30, 1),
                                        part(330, 500, common_book, absent)};
  EXPECT_TRUE(pool_detail::parts_to_join(parts, 60, 1, 0).empty());
  EXPECT_EQ(begins(pool_detail::parts_to_grow_over(parts, 60, 1, 50, false)), (numbers{300, 330}))
      << "it has more memory";
  EXPECT_EQ(begins(pool_detail::parts_to_grow_over(parts, 60, 1, 30, false)), (numbers{300, 330}));
  EXPECT_TRUE(pool_detail::parts_to_grow_over(parts, 60, 1, 29, false).empty());
  EXPECT_EQ(begins(pool_detail::parts_to_grow_over(parts, 60, 1, 50, true)), (numbers{100, 110, 300, 330}));
  EXPECT_EQ(begins(pool_detail::parts_to_grow_over(parts, 60, 1, 49, true)), (numbers{300, 330}));
  EXPECT_TRUE(pool_detail::parts_to_grow_over(parts, 531, 1, ~std::uint64_t{0}, false).empty());
}

// Against a walk over single addresses.
TEST(joined_stretch, agrees_with_a_map_of_addresses) {
  for (std::uint64_t seed = 1; seed <= 2'000; ++seed) {
    test::random_stream random(seed, 0);
    std::vector<idle_part> parts;
    std::vector<int> owner(200, -1);  // book of each address; -1: live
    for (std::uint64_t at = 0; at < 180;) {
      const std::uint64_t bytes = 1 + random.below(20);
      const auto book = static_cast<std::size_t>(random.below(4));
      if (random.below(3) != 0) {
        parts.push_back(part(at, bytes, book));
        std::fill_n(owner.begin() + static_cast<std::ptrdiff_t>(at), bytes, static_cast<int>(book));
      }
      at += bytes;
    }
    const std::uint64_t bytes = 1 + random.below(60);
    const std::uint64_t alignment = std::uint64_t{1} << random.below(5);
    std::uint64_t least = 0;
    for (std::uint64_t first = 0; first < owner.size(); ++first) {
      if (owner[first] < 0 || (first != 0 && owner[first - 1] >= 0)) continue;
      std::uint64_t end = first;
      bool joins = false;
      for (; owner[end] >= 0; ++end) joins |= owner[end] != 0;
      if (joins && align_up(first, alignment) + bytes <= end && (least == 0 || end - first < least))
        least = end - first;
    }
    std::uint64_t found = 0;
    for (const idle_part& each : pool_detail::parts_to_join(parts, bytes, alignment, 0)) found += each.where.bytes;
    ASSERT_EQ(found, least) << "seed " << seed;
  }
}

}  // namespace
}  // namespace warpheap::joined_stretch_test
