// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/bulk/bulk.hpp>

// What the host asks for: start, growth, statistics.

namespace warpheap {

/// Adds the pages between those that the heap has and `end`, in bytes from page 0.
template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_FN void bulk_allocator<Buddy, ChunkPages>::add_pages(std::uint64_t end) const {
  if (grid_thread_index() != 0) return;
  control& shared = pages().control();
  const std::uint64_t whole = end / layout::page_bytes;
  const std::uint64_t limit = pages().first_page() + layout::most_pages;
  const auto upto = static_cast<std::uint32_t>(whole < limit ? whole : limit);
  const std::uint32_t from = shared.end != 0 ? shared.end : pages().first_page();
  if (upto <= from) return;
  pages().buddy().add(from, upto - from);
  shared.end = upto;
  quiescence().note_free();
}

template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_FN void bulk_allocator<Buddy, ChunkPages>::initialise() const {
  add_pages(pages().begin() + pages().initial_bytes());
}

template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_FN void bulk_allocator<Buddy, ChunkPages>::grow(std::uint64_t bytes) const {
  add_pages(pages().begin() + bytes);
}

// Pages that are not free are chunks and blocks of pages; units of bins that are not free are
// blocks. Every load is relaxed: the caller runs while no thread allocates.
template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_FN void bulk_allocator<Buddy, ChunkPages>::count(allocator_counts& counts) const {
  using enum memory_order;
  using enum thread_scope;
  const control& shared = pages().control();
  std::uint64_t live = 0;
  if (grid_thread_index() == 0 && shared.end != 0) {
    live = (shared.end - pages().first_page() - pages().buddy().free_pages(shared.end)) * layout::page_bytes;
  }
  const std::uint64_t all = std::uint64_t{pages().arena_mask() + 1} * layout::classes;
  for (std::uint64_t i = grid_thread_index(); i < all; i += grid_threads()) {
    const auto c = static_cast<std::uint32_t>(i % layout::classes);
    auto& here = lists().list_at(static_cast<std::uint32_t>(i / layout::classes), c);
    const std::uint64_t bins = atomic_view{here.bins}.load(relaxed, device);
    const auto available = static_cast<std::uint64_t>(here.count.count().available);
    if (c >= layout::paged_sizes) live -= bins * layout::chunk_bytes;
    if (c != layout::pages_class) live += (bins * layout::units(c) - available) * layout::bytes(c);
  }
  add_to_sum(counts.live_bytes, live);
}

}  // namespace warpheap
