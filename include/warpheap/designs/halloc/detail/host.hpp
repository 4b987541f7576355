// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <warpheap/allocator.hpp>
#include <warpheap/designs/halloc/halloc.hpp>
#include <warpheap/designs/halloc/statistics.hpp>
#include <warpheap/platform.hpp>

// The members for the host that copy or launch.

namespace warpheap {
namespace detail {

// A kernel's arguments cannot be private, so this is no member of the design.
struct tally_halloc {
  template <class A>
  WARPHEAP_FN void operator()(A allocator, halloc_tally* sums) const {
    allocator.tally(*sums);
  }
};

}  // namespace detail

template <halloc_options Options>
halloc_statistics basic_halloc<Options>::statistics() const {
  const device_array<halloc_tally> sums(1);
  launch({describe_machine().multiprocessors * std::uint64_t{4}, 256}, detail::tally_halloc{}, *this, sums.data());
  const halloc_tally found = sums.at(0);
  const auto shared = std::make_unique<control>();
  device_snapshot(shared.get(), &pages().control(), sizeof(control));
  const control& seen = *shared;
  halloc_statistics result{.page_bytes = layout::page_bytes,
                           .pages = seen.end == 0 ? 0 : seen.end - pages().first_page(),
                           .free_pages = found.free_pages,
                           .large_pages = 0,
                           .slab_bytes = layout::page_bytes << seen.slab_order,
                           .heads = seen.head_mask + 1,
                           .classes = {}};
  std::uint64_t slabs = 0;
  for (std::uint32_t c = 0; c < classes::count; ++c) {
    slabs += found.slabs[c];
    result.classes.push_back({.block_bytes = classes::bytes(c),
                              .slabs = found.slabs[c],
                              .blocks = found.slabs[c] * seen.of_class[c].figures.capacity,
                              .free_blocks = found.free_blocks[c] + found.head_blocks[c],
                              .head_blocks = found.head_blocks[c]});
  }
  result.large_pages = result.pages - result.free_pages - (slabs << seen.slab_order);
  return result;
}

}  // namespace warpheap
