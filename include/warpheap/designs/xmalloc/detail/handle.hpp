// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/xmalloc/xmalloc.hpp>

// What the host asks for: start, and what is live.

namespace warpheap {

template <class Kind, xmalloc_options Options>
WARPHEAP_FN void xmalloc_allocator<Kind, Options>::initialise() const {
  if (grid_thread_index() != 0) return;
  const std::uint32_t first = pages().first_page();
  const std::uint32_t end = pages().end_page();
  if (end <= first) return;
  pages().source().add(first, end - first);
  pages().control().end = end;
}

/// Pages that are not free are live, less the basic blocks that are free in superblocks and lists. A basic block is
/// live as long as one of its pieces is.
template <class Kind, xmalloc_options Options>
WARPHEAP_FN void xmalloc_allocator<Kind, Options>::count(allocator_counts& counts) const {
  const control& shared = pages().control();
  std::uint64_t live = 0;
  if (grid_thread_index() == 0 && shared.end != 0) {
    live = (shared.end - pages().first_page() - pages().source().free_pages(shared.end)) * layout::page_bytes;
    for (std::uint32_t c = 0; c < layout::classes; ++c) live -= std::uint64_t{lists().size(c)} * layout::bytes(c);
  }
  live -= blocks().free_bytes();
  add_to_sum(counts.live_bytes, live);
}

}  // namespace warpheap
