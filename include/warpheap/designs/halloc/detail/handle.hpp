// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/halloc/halloc.hpp>

// What the host asks for: start and growth.

namespace warpheap {

/// Adds the pages between those that the heap has and `end`, in bytes from page 0. One lane.
template <halloc_options Options>
WARPHEAP_FN void basic_halloc<Options>::add_pages(std::uint64_t end) const {
  control& shared = pages().control();
  const std::uint64_t whole = end / layout::page_bytes;
  const std::uint64_t limit = pages().first_page() + layout::most_pages;
  const auto upto = static_cast<std::uint32_t>(whole < limit ? whole : limit);
  const std::uint32_t from = shared.end != 0 ? shared.end : pages().first_page();
  if (upto <= from) return;
  pages().source().add(from, upto - from);
  shared.end = upto;
}

template <halloc_options Options>
WARPHEAP_FN void basic_halloc<Options>::initialise() const {
  control& shared = pages().control();
  const std::uint32_t order = layout::slab_order(pages().initial_bytes());
  // The last threads, since the first has the pages to add.
  const std::uint64_t mine = grid_threads() - 1 - grid_thread_index();
  for (std::uint64_t c = mine; c < classes::count; c += grid_threads()) {
    slabs().figures(static_cast<std::uint32_t>(c)) = layout::figures(static_cast<std::uint32_t>(c), order);
  }
  if (grid_thread_index() != 0) return;
  shared.slab_order = order;
  shared.head_mask = layout::heads(pages().initial_bytes() / layout::page_bytes >> order) - 1;
  add_pages(pages().begin() + pages().initial_bytes());
}

template <halloc_options Options>
WARPHEAP_FN void basic_halloc<Options>::grow(std::uint64_t bytes) const {
  if (grid_thread_index() == 0) add_pages(pages().begin() + bytes);
}

}  // namespace warpheap
