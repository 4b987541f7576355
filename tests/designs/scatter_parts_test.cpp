// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Parts of scatter and flatter_scatter by themselves. On the host alone: nvcc cannot write the type of a part as a
// template argument, since that has options as a value.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <designs/part_stage.hpp>
#include <warpheap/designs/scatter/scatter.hpp>

namespace warpheap::test::scatter_parts_test {
namespace {

/// A quick look, and nothing after it.
struct look_quickly_kernel {
  template <class Search>
  WARPHEAP_FN void operator()(Search of, std::uint64_t* block) const {
    const detail::scatter_chunk_size size{2};
    *block = reinterpret_cast<std::uint64_t>(of.take_quickly(active_group(), {size, 16, of.hash_of(size)}).block);
  }
};
template <class A, class Kind>
void expect_quick_look_serves() {
  constexpr std::uint64_t page = 4096;
  constexpr std::uint64_t bytes = 256 * page;
  constexpr std::uint64_t most = 512;  // page 0 lies up to so many pages before an arena
  const device_array<std::byte> data(2 * most * page + bytes);
  const std::uint64_t first = align_up(reinterpret_cast<std::uint64_t>(data.data()), most * page);
  for (const std::uint64_t before : {0ul, 1ul, 100ul, 400ul}) {
    const device_array<std::byte> metadata(A::metadata_bytes(bytes));
    const arena from{reinterpret_cast<std::byte*>(first + before * page), bytes, bytes, metadata.data()};
    launch({2, 64}, initialise_design{}, A{from});
    const device_array<std::uint64_t> block(1);
    using table = typename Kind::template table<Kind::usual>;
    launch({1, 1}, look_quickly_kernel{}, detail::scatter_search<table>{from}, block.data());
    EXPECT_NE(block.at(0), 0u) << "an arena that begins at page " << before;
  }
}
TEST(scatter, a_quick_look_serves_wherever_the_arena_begins) {
  expect_quick_look_serves<scatter, scatter_regions>();
  expect_quick_look_serves<flatter_scatter, scatter_flat>();
}

}  // namespace
}  // namespace warpheap::test::scatter_parts_test
