// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/xmalloc/xmalloc.hpp>

// malloc. Lanes that want the same class of the same heap are peers, and their leader acts for all of them. Lanes of a
// heap that ask for less than `combine_below` bytes share a basic block: their leader takes it, and each makes a piece.

namespace warpheap {

template <class Kind, xmalloc_options Options>
WARPHEAP_FN void* xmalloc_allocator<Kind, Options>::malloc(std::uint64_t bytes) const {
  if (bytes < Options.combine_below) return take_combined(bytes);
  if (bytes > Options.largest_block) return cold_call([*this, bytes] { return take_pages(bytes); });
  return take_block(active_group(), layout::class_of(bytes));
}

template <class Kind, xmalloc_options Options>
WARPHEAP_FN void* xmalloc_allocator<Kind, Options>::aligned_malloc(std::uint64_t alignment, std::uint64_t bytes) const {
  // Basic blocks and blocks of pages are aligned to their size.
  if (alignment <= capabilities.alignment) return malloc(bytes);
  const std::uint64_t least = bytes > alignment ? bytes : alignment;
  if (least > Options.largest_block) return cold_call([*this, least] { return take_pages(least); });
  return take_block(active_group(), layout::class_of(least));
}

/// Takes a basic block for each lane of `group`, whose lanes may want different classes and use different heaps.
/// Collective.
template <class Kind, xmalloc_options Options>
WARPHEAP_FN void* xmalloc_allocator<Kind, Options>::take_block(lane_mask group, std::uint32_t c) const {
  static_assert(layout::classes <= alignof(control));  // the key leaves room for the class
  const lane_mask peers = match(group, pages().key() | c);
  const std::uint32_t number = lists().pop_at_home(peers, c);
  void* block = number == lists().none ? nullptr : reinterpret_cast<void*>(pages().address_of_block(number));
  const lane_mask rest = ballot(group, block == nullptr);
  if (rest == 0) return block;
  if (block == nullptr) block = cold_call([*this, rest, c] { return search().find(rest, c); });
  sync(group);
  return block;
}

/// Takes a piece of a basic block, or a basic block if no other lane shares it. Lanes whose pieces do not fit into one
/// block share the next. Where no block can be had for all, each lane asks for one of its own. Collective over lanes
/// that come together.
template <class Kind, xmalloc_options Options>
WARPHEAP_FN void* xmalloc_allocator<Kind, Options>::take_combined(std::uint64_t bytes) const {
  const std::uint64_t part = combined_piece::bytes_for(bytes);
  lane_mask waiting = match(active_group(), pages().key());
  for (;;) {  // not a spin: each turn serves lanes
    if (group_size(waiting) == 1) return take_block(waiting, layout::class_of(bytes));
    const byte_share share = combine(waiting, part, combined_piece::unit_bytes);
    const bool fits = share.offset + part <= Options.largest_block;
    const lane_mask members = ballot(waiting, fits);
    if (!fits) {
      waiting &= ~members;
      continue;
    }
    if (group_size(members) == 1) return take_block(members, layout::class_of(bytes));
    const std::uint64_t total = shuffle(members, share.offset + part, highest_bit(members));
    std::uint64_t block = 0;
    if (is_leader(members)) block = reinterpret_cast<std::uint64_t>(take_block(lane_bit(), layout::class_of(total)));
    block = shuffle(members, block, leader(members));
    if (block == 0) return take_block(members, layout::class_of(bytes));
    sync(members);  // what the leader acquired
    return combined_piece::make(members, reinterpret_cast<std::byte*>(block), share, bytes);
  }
}

/// Takes a power of two of pages.
template <class Kind, xmalloc_options Options>
WARPHEAP_COLD_FN void* xmalloc_allocator<Kind, Options>::take_pages(std::uint64_t bytes) const {
  if (bytes > capabilities.largest_bytes) return nullptr;
  const std::uint32_t order = page_source::order_for(divide_up(bytes, layout::page_bytes));
  // More than the heap has: nothing gives way for it.
  if (std::uint64_t{1} << order > pages().control().end - pages().first_page()) return nullptr;
  const lane_mask group = active_group();
  void* const block = search().find_pages(group, order);
  sync(group);
  return block;
}

}  // namespace warpheap
