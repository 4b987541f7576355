// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Pages of a heap: what lies before the first whole page is left out, a heap grows by whole pages, and spans are
// aligned in memory and not only in number.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <support/schedules.hpp>
#include <vector>
#include <warpheap/structures.hpp>

#include "set_memory.hpp"

namespace warpheap::test::page_heap_test {
namespace {

constexpr std::uint32_t shift = 12;
using pages = page_heap<shift>;
constexpr std::uint64_t page_bytes = pages::page_bytes;

std::byte* at(std::uint64_t address) { return reinterpret_cast<std::byte*>(address); }

TEST(page_heap, page_0_is_the_first_whole_page) {
  EXPECT_EQ(pages::first_page(at(8 * page_bytes)), at(8 * page_bytes));
  EXPECT_EQ(pages::first_page(at(8 * page_bytes + 1)), at(9 * page_bytes));
  EXPECT_EQ(pages::first_page(at(9 * page_bytes - 1)), at(9 * page_bytes));
}

TEST(page_heap, counts_whole_pages_after_the_lead) {
  EXPECT_EQ(pages::pages_in(10 * page_bytes, 0), 10u);
  EXPECT_EQ(pages::pages_in(10 * page_bytes, 1), 9u);
  EXPECT_EQ(pages::pages_in(10 * page_bytes + 16, 16), 10u);
  EXPECT_EQ(pages::pages_in(15, 16), 0u) << "memory that ends before page 0";
  EXPECT_EQ(pages::pages_in(~std::uint64_t{0}, 0), pages::most_pages);
}

struct grow_kernel {
  WARPHEAP_FN void operator()(pages heap, std::uint64_t* count, std::uint64_t more) const { heap.grow(*count, more); }
};

struct take_one_kernel {
  WARPHEAP_FN void operator()(pages heap) const {
    require(heap.take_neighbours(1, 1, 1).count == 1, "no page is free");
  }
};

// A page that was taken before a growth does not come back with it.
TEST(page_heap, grows_by_each_new_page_once) {
  for_each_schedule([](std::uint64_t seed) {
    const set_memory memory{1000, set_kinds[seed % 2]};
    const device_array<std::uint64_t> count(1);
    const pages heap{at(page_bytes), memory.tree()};
    std::uint64_t taken = 0;
    // Within a leaf, to its end, across several, and not at all.
    for (const std::uint64_t more : {10u, 64u, 65u, 500u, 500u, 1000u}) {
      launch({3, 40}, grow_kernel{}, heap, count.data(), more);
      EXPECT_EQ(count.at(0), more);
      memory.expect_members(more - taken);
      launch({1, 1}, take_one_kernel{}, heap);
      ++taken;
    }
  });
}

struct take_kernel {
  WARPHEAP_FN void operator()(pages heap, index_run* runs) const {
    heap.add(0, 100, 0, 1);
    runs[0] = heap.take_neighbours(4, 4, 4);
    runs[1] = heap.take_neighbours(8, 16, 8);
    runs[2] = heap.take_neighbours(1, 1, 1);
    runs[3] = heap.take_neighbours(90, 90, 1);
    runs[4] = heap.take_neighbours(3, 1000, 1);
  }
};

// Page 0 lies three pages above a multiple of 8 pages, so page 1 is the first that is aligned to 4, and page 5 to 8.
TEST(page_heap, spans_are_aligned_as_their_addresses) {
  const set_memory memory{100};
  const device_array<index_run> runs(5);
  launch({1, 1}, take_kernel{}, pages{at(67 * page_bytes), memory.tree()}, runs.data());
  const std::vector<index_run> got = runs.to_host();
  EXPECT_TRUE(is(got[0], 1, 4));
  EXPECT_TRUE(is(got[1], 5, 16));
  EXPECT_TRUE(is(got[2], 0, 1));
  EXPECT_TRUE(is(got[3], 0, 0)) << "more neighbours than there are";
  EXPECT_TRUE(is(got[4], 21, 78)) << "a multiple of 3";
  memory.expect_members(1);
}

}  // namespace
}  // namespace warpheap::test::page_heap_test
