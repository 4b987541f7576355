// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// A cell for each multiprocessor: cells share no cache line, a thread has one at hand, and can visit all others.

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>
#include <warpheap/platform.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::test::per_multiprocessor_test {
namespace {

using cells = per_multiprocessor<std::uint32_t>;
static_assert(sizeof(cells::cell) == cells::line_bytes && alignof(cells::cell) == cells::line_bytes);
static_assert(sizeof(per_multiprocessor<std::uint64_t[17]>::cell) == 2 * cells::line_bytes);
static_assert(cells::bytes(3) == 3 * cells::line_bytes);

/// Each thread counts itself in its cell, and once in each other cell as seen from there.
struct count_kernel {
  WARPHEAP_FN void operator()(cells some) const {
    const std::uint32_t home = some.home();
    require(home < some.count(), "a cell that is not there");
    require(&some[home] == &some.other(home, 0), "the cell itself is at distance 0");
    const std::uintptr_t mine = reinterpret_cast<std::uintptr_t>(&some.mine());  // perhaps of another cell by now
    const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(&some[0]);
    require((mine - begin) % cells::line_bytes == 0 && (mine - begin) / cells::line_bytes < some.count(), "no cell");
    for (std::uint32_t distance = 0; distance < some.count(); ++distance) {
      atomic_view{some.other(home, distance)}.fetch_add(1, memory_order::relaxed, thread_scope::device);
    }
  }
};

TEST(per_multiprocessor, each_cell_is_visited_once) {
  for (const std::uint32_t count : {1u, 2u, 3u, 132u, 1000u}) {
    const device_array<cells::cell> memory(count);
    launch({8, 64}, count_kernel{}, cells{memory.data(), count});
    for (const cells::cell& each : memory.to_host()) ASSERT_EQ(each.value, 8u * 64u);
  }
}

}  // namespace
}  // namespace warpheap::test::per_multiprocessor_test
