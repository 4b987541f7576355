// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/halloc/halloc.hpp>

// Pages that leave the heap for a while. As in Halloc's descendant, slabs without blocks go back by a kernel that the
// host starts; besides, only a search that finds no memory makes pages of them.

namespace warpheap {

template <halloc_options Options>
WARPHEAP_FN void basic_halloc<Options>::coalesce() const {
  if (grid_thread_index() != 0) return;
  heads().flush();
  slabs().dissolve_free();
}

template <halloc_options Options>
WARPHEAP_FN void basic_halloc<Options>::withdraw(std::uint64_t* units) const {
  using enum memory_order;
  using enum thread_scope;
  constexpr std::uint32_t largest = 6;  // a word of units; larger blocks are broken
  const page_source source = pages().source();
  if (block_index() != 0) return;  // more threads would only look in vain
  for (std::uint32_t order = largest + 1; order-- > 0;) {
    while (!source.refuses(order)) {  // not a spin: each turn takes a block, or is the last
      const std::uint32_t page = source.take(order);
      if (page == page_source::none) break;
      source.forget(page);
      for (std::uint32_t unit = page - pages().first_page(), end = unit + (1u << order); unit < end; ++unit) {
        // Relaxed: the host reads them after the kernel.
        atomic_view{units[unit / 64]}.fetch_or(std::uint64_t{1} << unit % 64, relaxed, device);
      }
    }
  }
}

template <halloc_options Options>
WARPHEAP_FN void basic_halloc<Options>::restore(const std::uint64_t* units) const {
  const std::uint64_t words = divide_up(pages().control().end - pages().first_page(), 64);
  for (std::uint64_t i = grid_thread_index(); i < words; i += grid_threads()) {
    for (std::uint64_t left = units[i]; left != 0;) {  // not a spin: one turn a run of neighbours
      const int first = lowest_bit(left);
      const std::uint64_t after = ~(left >> first);
      const int count = after == 0 ? 64 - first : lowest_bit(after);
      pages().source().add(
          pages().first_page() + static_cast<std::uint32_t>(i * 64) + static_cast<std::uint32_t>(first),
          static_cast<std::uint32_t>(count));
      const std::uint64_t run = count == 64 ? ~std::uint64_t{0} : ((std::uint64_t{1} << count) - 1) << first;
      left &= ~run;
    }
  }
}

}  // namespace warpheap
