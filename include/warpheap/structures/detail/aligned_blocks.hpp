// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>

namespace warpheap::detail {

// Cuts the pages [first, first + count) into the largest blocks that are aligned to their size, up to `largest_order`,
// and calls `visit(page, order)` for each, in the order of their addresses.
template <class Visitor>
WARPHEAP_FN void for_each_aligned_block(std::uint32_t first, std::uint32_t count, std::uint32_t largest_order,
                                        Visitor visit) {
  while (count != 0) {  // not a spin: each turn goes on to later pages
    std::uint32_t order = first == 0 ? largest_order : static_cast<std::uint32_t>(lowest_bit(first));
    if (order > largest_order) order = largest_order;
    while ((std::uint64_t{1} << order) > count) --order;
    visit(first, order);
    first += 1u << order;
    count -= 1u << order;
  }
}

}  // namespace warpheap::detail
