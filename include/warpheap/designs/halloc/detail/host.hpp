// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <warpheap/allocator.hpp>
#include <warpheap/designs/halloc/halloc.hpp>
#include <warpheap/designs/halloc/statistics.hpp>
#include <warpheap/platform.hpp>

// The members for the host that copy or launch.

namespace warpheap {
template <halloc_options Options>
halloc_statistics basic_halloc<Options>::statistics() const {
  const halloc_tally found = tally_of<halloc_tally>(*this);
  const auto read = [](const std::uint32_t& word) {
    std::uint32_t value = 0;
    device_snapshot(&value, &word, sizeof(value));
    return value;
  };
  const control& shared = pages().control();
  const std::uint32_t order = read(shared.slab_order);
  const std::uint32_t end = read(shared.end);
  halloc_statistics result{.page_bytes = layout::page_bytes,
                           .pages = end == 0 ? 0 : end - pages().first_page(),
                           .free_pages = found.free_pages,
                           .large_pages = 0,
                           .slab_bytes = layout::page_bytes << order,
                           .heads = read(shared.head_mask) + 1,
                           .classes = {}};
  std::uint64_t used = result.free_pages;  // in free ones and slabs
  for (std::uint32_t c = 0; c < classes::count; ++c) {
    const std::uint64_t blocks = found.slabs[c] * layout::figures(c, order).capacity;
    used += found.slabs[c] << order;
    // While kernels use the heap a permit may be seen twice.
    result.classes.push_back({.block_bytes = classes::bytes(c),
                              .slabs = found.slabs[c],
                              .blocks = blocks,
                              .free_blocks = std::min(found.free_blocks[c] + found.head_blocks[c], blocks),
                              .head_blocks = std::min(found.head_blocks[c], blocks)});
  }
  result.large_pages = result.pages - std::min(used, result.pages);
  return result;
}

}  // namespace warpheap
