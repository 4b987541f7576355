// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Which stretch of several books is put together for a request.

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

struct stretch {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  bool operator==(const stretch&) const = default;
};
stretch joined(std::vector<idle_part> parts, std::uint64_t bytes, std::uint64_t alignment = 1,
               bool with_absent = false) {
  const auto found = pool_detail::joined_stretch(parts, bytes, alignment, with_absent);
  if (found.empty()) return {};
  return {found.front().where.begin, found.back().where.begin + found.back().where.bytes};
}

TEST(joined_stretch, is_the_smallest_that_holds_the_request) {
  const std::vector<idle_part> parts = {part(900, 50, 1),           part(100, 10, 1), part(110, 20, 2),
                                        part(130, 10, common_book), part(300, 30, 2), part(330, 30, 1)};
  EXPECT_EQ(joined(parts, 35), (stretch{100, 140}));
  EXPECT_EQ(joined(parts, 41), (stretch{900, 950}));
  EXPECT_EQ(joined(parts, 51), (stretch{300, 360}));
  EXPECT_EQ(joined(parts, 61), stretch{});
  EXPECT_EQ(joined({}, 1), stretch{});
}

TEST(joined_stretch, begins_where_the_alignment_allows) {
  EXPECT_EQ(joined({part(100, 10, 1), part(110, 20, 2)}, 2, 64), (stretch{100, 130}));
  EXPECT_EQ(joined({part(100, 10, 1), part(110, 20, 2)}, 3, 64), stretch{});
  EXPECT_EQ(joined({part(100, 10, 1), part(110, 20, 2)}, 1, 256), stretch{});
}

TEST(joined_stretch, has_a_part_that_is_not_in_the_common_book) {
  EXPECT_EQ(joined({part(100, 10, common_book), part(200, 20, 1)}, 5), (stretch{200, 220}));
  EXPECT_EQ(joined({part(100, 10, common_book), part(110, 90, common_book, absent)}, 50, 1, true), stretch{});
}

TEST(joined_stretch, has_absent_parts_only_where_it_may_and_then_the_most_free_memory) {
  const std::vector<idle_part> parts = {part(100, 10, 1), part(110, 90, common_book, absent), part(300, 30, 1),
                                        part(330, 500, common_book, absent)};
  EXPECT_EQ(joined(parts, 60), stretch{});
  EXPECT_EQ(joined(parts, 60, 1, true), (stretch{300, 830}));
}

TEST(joined_stretch, longest_is_what_an_aligned_request_can_have_in_a_row) {
  std::vector<idle_part> parts = {part(330, 70, common_book, absent), part(300, 30, 1), part(100, 90, 2)};
  EXPECT_EQ(pool_detail::longest_stretch(parts, 1), 100u);
  EXPECT_EQ(pool_detail::longest_stretch(parts, 64), 80u);
  EXPECT_EQ(pool_detail::longest_stretch(parts, 512), 0u);
  parts.clear();
  EXPECT_EQ(pool_detail::longest_stretch(parts, 1), 0u);
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
    for (std::size_t i = parts.size(); i > 1; --i) std::swap(parts[i - 1], parts[random.below(i)]);
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
    const stretch found = joined(parts, bytes, alignment);
    ASSERT_EQ(found.end - found.begin, least) << "seed " << seed;
    ASSERT_TRUE(least == 0 || align_up(found.begin, alignment) + bytes <= found.end) << "seed " << seed;
  }
}

}  // namespace
}  // namespace warpheap::joined_stretch_test
