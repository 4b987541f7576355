// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/bulk/bulk.hpp>

namespace warpheap {

template <class Buddy, std::uint32_t ChunkPages>
bulk_allocator<Buddy, ChunkPages>::bulk_allocator(const arena& from)
    : base_(align_down(reinterpret_cast<std::uint64_t>(from.data), layout::base_alignment)),
      control_(reinterpret_cast<control*>(from.metadata)),
      spans_(reinterpret_cast<typename Buddy::span*>(from.metadata + sizeof(control))),
      begin_(reinterpret_cast<std::uint64_t>(from.data) - base_),
      initial_bytes_(from.bytes),
      first_page_(static_cast<std::uint32_t>(divide_up(begin_, layout::page_bytes))),
      arena_mask_(layout::arenas(from.bytes) - 1) {}

// Adds the pages behind those that there are, up to `end` bytes behind page 0.
template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_FN void bulk_allocator<Buddy, ChunkPages>::add_pages(std::uint64_t end) const {
  if (grid_thread_index() != 0) return;
  const std::uint64_t whole = end / layout::page_bytes;
  const std::uint64_t limit = first_page_ + layout::most_pages;
  const auto upto = static_cast<std::uint32_t>(whole < limit ? whole : limit);
  const std::uint32_t from = control_->end != 0 ? control_->end : first_page_;
  if (upto <= from) return;
  buddy().add(from, upto - from);
  control_->end = upto;
  note_given();
}

template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_FN void bulk_allocator<Buddy, ChunkPages>::initialise() const {
  add_pages(begin_ + initial_bytes_);
}

template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_FN void bulk_allocator<Buddy, ChunkPages>::grow(std::uint64_t bytes) const {
  add_pages(begin_ + bytes);
}

template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_FN void* bulk_allocator<Buddy, ChunkPages>::malloc(std::uint64_t bytes) const {
  if (bytes > layout::largest_bytes) return cold_call([*this, bytes] { return take_pages(bytes); });
  return take_block(active_group(), layout::class_of(bytes));
}

template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_FN void* bulk_allocator<Buddy, ChunkPages>::aligned_malloc(std::uint64_t alignment,
                                                                    std::uint64_t bytes) const {
  // Blocks are aligned to their size, as far as heads of bins leave it: 128 bytes.
  const std::uint64_t least = bytes > alignment ? bytes : alignment;
  if (alignment <= layout::head_bytes) return malloc(least);
  return cold_call([*this, least] { return take_pages(least); });
}

// What is not free pages is chunks and blocks of pages; and what is not free of the bins is blocks.
template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_FN void bulk_allocator<Buddy, ChunkPages>::count(allocator_counts& counts) const {
  using enum memory_order;
  using enum thread_scope;
  std::uint64_t live = 0;
  if (grid_thread_index() == 0 && control_->end != 0) {
    live = (control_->end - first_page_ - buddy().free_pages(control_->end)) * layout::page_bytes;
  }
  const std::uint64_t shelves = std::uint64_t{arena_mask_ + 1} * layout::classes;
  for (std::uint64_t i = grid_thread_index(); i < shelves; i += grid_threads()) {
    const auto c = static_cast<std::uint32_t>(i % layout::classes);
    shelf& here = shelf_of(static_cast<std::uint32_t>(i / layout::classes), c);
    const std::uint64_t bins = atomic_view{here.bins}.load(relaxed, device);
    const auto available = static_cast<std::uint64_t>(here.count.count().available);
    if (c >= layout::paged_sizes) live -= bins * layout::chunk_bytes;
    if (c != layout::pages_class) live += (bins * layout::units(c) - available) * layout::bytes(c);
  }
  if (live != 0) atomic_view{counts.live_bytes}.fetch_add(live, relaxed, device);
}

}  // namespace warpheap
