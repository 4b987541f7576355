// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Pages that are numbered from an aligned address at or below the memory: numbers and addresses name each other, whole
// pages alone count, and a page with a round number is aligned.

#include <gtest/gtest.h>

#include <cstdint>
#include <type_traits>
#include <warpheap/structures.hpp>

namespace warpheap::test::numbered_pages_test {
namespace {

constexpr std::uint64_t base_alignment = std::uint64_t{1} << 21;
using pages = numbered_pages<12, base_alignment>;
static_assert(std::is_trivially_copyable_v<pages> && std::has_unique_object_representations_v<pages>);

const std::byte* at(std::uint64_t address) { return reinterpret_cast<const std::byte*>(address); }

TEST(numbered_pages, whole_pages_of_the_memory_are_aligned_by_their_numbers) {
  constexpr std::uint64_t bytes = 5 * base_alignment / 2;
  for (const std::uint64_t from : {std::uint64_t{1} << 40, (std::uint64_t{1} << 40) + 16,
                                   (std::uint64_t{1} << 40) + base_alignment - 1, std::uint64_t{0x7f00'1234'5000}}) {
    const pages of{at(from)};
    const std::uint32_t first = of.first_page();
    const std::uint32_t end = of.end_page(bytes, ~std::uint32_t{0});
    EXPECT_EQ(of.base() + of.begin(), from);
    EXPECT_LT(of.begin(), base_alignment);
    EXPECT_GE(of.address_of(first), from);
    EXPECT_LT(of.address_of(first), from + pages::page_bytes);
    EXPECT_LE(of.address_of(end), from + bytes);
    EXPECT_GT(of.address_of(end) + pages::page_bytes, from + bytes);
    for (std::uint32_t page = first; page < end; ++page) {
      ASSERT_EQ(of.page_of(of.address_of(page)), page);
      ASSERT_EQ(of.page_of(of.address_of(page) + pages::page_bytes - 1), page);
      const std::uint64_t round = page == 0 ? base_alignment : (page & (~page + 1)) * pages::page_bytes;
      ASSERT_EQ(of.address_of(page) % (round < base_alignment ? round : base_alignment), 0u) << page;
    }
  }
}

TEST(numbered_pages, memory_without_a_whole_page_has_none) {
  const pages of{at((std::uint64_t{1} << 40) + 100)};
  EXPECT_EQ(of.first_page(), 1u);
  EXPECT_LE(of.end_page(2 * pages::page_bytes - 101, ~std::uint32_t{0}), of.first_page());
  EXPECT_EQ(of.end_page(std::uint64_t{1} << 30, 7), 7u);
}

}  // namespace
}  // namespace warpheap::test::numbered_pages_test
