// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/bulk/bulk.hpp>

// Blocks of TBuddy: powers of two of pages. The order of each is in a byte of its first page.

namespace warpheap {

template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_COLD_FN void* bulk_allocator<Buddy, ChunkPages>::take_pages(std::uint64_t bytes) const {
  static_assert(Buddy::largest_order < alignof(control));  // the control's address leaves room for the order
  constexpr std::uint32_t tries = 2;
  if (bytes > capabilities.largest_bytes) return nullptr;
  const std::uint32_t order =
      bytes <= layout::page_bytes ? 0 : static_cast<std::uint32_t>(highest_bit((bytes - 1) / layout::page_bytes) + 1);
  const lane_mask group = match(active_group(), reinterpret_cast<std::uint64_t>(control_) | order);
  std::uint32_t page = take_together(group, order, tries);
  if (page == Buddy::none) page = find_pages(order);
  if (page == Buddy::none) return nullptr;
  buddy().tag(page) = static_cast<std::uint8_t>(order);
  return reinterpret_cast<void*>(base_ + page * layout::page_bytes);
}

// A block for each lane of `group`, as far as there are some, after `tries` searches at most. Collective.
template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_COLD_FN std::uint32_t bulk_allocator<Buddy, ChunkPages>::take_together(lane_mask group, std::uint32_t order,
                                                                                std::uint32_t tries) const {
  return buddy().take(group, order, patience{tries});
}

// Drains what is there without need, until there is a block, or there is none. One lane.
template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_COLD_FN std::uint32_t bulk_allocator<Buddy, ChunkPages>::find_pages(std::uint32_t order) const {
  constexpr std::uint32_t tries = 2;
  const std::uint32_t what = layout::classes + order;
  turns more{3, 64};
  if (is_refused(what, given())) return Buddy::none;
  for (;;) {
    watch search = begin_watch();
    const std::uint32_t page = take_together(lane_bit(), order, tries);
    if (page != Buddy::none) return page;
    if (drain()) search.restless = true;
    search.uncertain = Buddy::notes_refusals && !buddy().refuses(order);
    if (!goes_on(what, search, more)) return Buddy::none;
    backoff().pause();
  }
}

template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_COLD_FN void bulk_allocator<Buddy, ChunkPages>::give_pages(std::uint64_t address) const {
  const lane_mask group = match(active_group(), reinterpret_cast<std::uint64_t>(control_));
  const std::uint32_t page = page_of(address);
  buddy().give(group, page, buddy().tag(page));
  sync(group);
  if (is_leader(group)) note_given();
  sync(group);  // as in free
}

}  // namespace warpheap
