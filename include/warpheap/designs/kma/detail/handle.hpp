// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/kma/kma.hpp>

// What the host asks for: start, and what is live.

namespace warpheap {

/// The ring is empty at first and the source has all pages, a few large blocks, so nothing is done for each superblock.
template <kma_options Options>
WARPHEAP_FN void basic_kma<Options>::initialise() const {
  if (grid_thread_index() != 0) return;
  const std::uint32_t first = pages().first_page();
  const std::uint32_t end = pages().end_page();
  if (end <= first) return;
  pages().source().add(first, end - first);
  pages().control().end = end;
}

/// Live are the taken blocks of superblocks, and the pages that the source lacks and that neither are superblocks nor
/// wait in the ring.
template <kma_options Options>
WARPHEAP_FN void basic_kma<Options>::count(allocator_counts& counts) const {
  const control& shared = pages().control();
  std::uint64_t live = 0;
  if (grid_thread_index() == 0 && shared.end != 0) {
    const std::uint64_t taken = shared.end - pages().first_page() - pages().source().free_pages(shared.end);
    live = (taken - pages().ring().size()) * layout::page_bytes;
  }
  for (std::uint64_t page = pages().first_page() + grid_thread_index(); page < shared.end; page += grid_threads()) {
    const slab_entry::contents seen = pages().state(static_cast<std::uint32_t>(page)).look();
    if (!seen.is_assigned()) continue;
    live += std::uint64_t{seen.capacity - seen.free} * classes::bytes(seen.size_class) - layout::page_bytes;
  }
  add_to_sum(counts.live_bytes, live);
}

}  // namespace warpheap
