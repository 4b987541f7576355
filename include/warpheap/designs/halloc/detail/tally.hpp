// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/halloc/halloc.hpp>

// What there is, counted by a grid. Exact while no other kernel uses the heap. Else a permit may be seen in an entry
// and in a head, or in neither, but no slab has more free permits than blocks.

namespace warpheap {

/// Sums over a heap.
struct halloc_tally {
  std::uint64_t free_pages;                          ///< pages in no slab and no block
  std::uint64_t slabs[halloc_classes::count];        ///< slabs of a class
  std::uint64_t free_blocks[halloc_classes::count];  ///< blocks of them that nobody has
  std::uint64_t head_blocks[halloc_classes::count];  ///< free blocks of heads, which are not among `free_blocks`
};

template <halloc_options Options>
WARPHEAP_FN void basic_halloc<Options>::tally(halloc_tally& sums) const {
  using enum memory_order;
  using enum thread_scope;
  const control& shared = pages().control();
  if (grid_thread_index() == 0 && shared.end != 0) add_to_sum(sums.free_pages, pages().source().free_pages(shared.end));
  const std::uint32_t end = atomic_view{pages().control().slabs_end}.load(relaxed, device);
  for (std::uint64_t i = grid_thread_index(); i < end; i += grid_threads()) {
    const slab_entry::contents seen = slabs().entry(static_cast<std::uint32_t>(i)).look();
    if (!seen.is_assigned()) continue;
    add_to_sum(sums.slabs[seen.size_class], 1);
    add_to_sum(sums.free_blocks[seen.size_class], seen.free);
  }
  const std::uint64_t all = classes::count * std::uint64_t{shared.head_mask + 1};
  for (std::uint64_t i = grid_thread_index(); i < all; i += grid_threads()) {
    const auto c = static_cast<std::uint32_t>(i % classes::count);
    const std::int32_t tickets = heads().look(c, static_cast<std::uint32_t>(i / classes::count)).tickets();
    if (tickets > 0) add_to_sum(sums.head_blocks[c], static_cast<std::uint64_t>(tickets));
  }
}

/// Pages that are not free are slabs and blocks; of a slab, blocks that nobody has are not live.
template <halloc_options Options>
WARPHEAP_FN void basic_halloc<Options>::count(allocator_counts& counts) const {
  using enum memory_order;
  using enum thread_scope;
  const control& shared = pages().control();
  std::uint64_t live = 0;
  if (grid_thread_index() == 0 && shared.end != 0) {
    live = (shared.end - pages().first_page() - pages().source().free_pages(shared.end)) * layout::page_bytes;
  }
  const std::uint32_t end = atomic_view{pages().control().slabs_end}.load(relaxed, device);
  for (std::uint64_t i = grid_thread_index(); i < end; i += grid_threads()) {
    const slab_entry::contents seen = slabs().entry(static_cast<std::uint32_t>(i)).look();
    if (!seen.is_assigned()) continue;
    live -= layout::page_bytes << pages().slab_order();
    live += std::uint64_t{seen.capacity - seen.free} * classes::bytes(seen.size_class);
  }
  const std::uint64_t all = classes::count * std::uint64_t{shared.head_mask + 1};
  for (std::uint64_t i = grid_thread_index(); i < all; i += grid_threads()) {
    const auto c = static_cast<std::uint32_t>(i % classes::count);
    const std::int32_t tickets = heads().look(c, static_cast<std::uint32_t>(i / classes::count)).tickets();
    if (tickets > 0) live -= static_cast<std::uint64_t>(tickets) * classes::bytes(c);
  }
  add_to_sum(counts.live_bytes, live);
}

}  // namespace warpheap
