// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/xmalloc/xmalloc.hpp>

// free. The address and the words of its page tell a piece, a basic block and a block of pages from each other. The
// lane that gives the last piece of a block back frees the block.
//
// Each free of a block ends the refusals that searches have noted.

namespace warpheap {

template <class Kind, xmalloc_options Options>
WARPHEAP_FN void xmalloc_allocator<Kind, Options>::free(void* block) const {
  const auto address = reinterpret_cast<std::uint64_t>(block);
  const detail::xmalloc_place place = pages().place_of(address);
  if (place.whole) {
    free_whole(address, place.in_class);
    return;
  }
  const lane_mask group = active_group();
  const combined_piece& piece = combined_piece::of(block);
  const std::uint64_t shared = piece.block();
  if (combined_piece::release(group, piece)) free_whole(shared, pages().place_of(shared).in_class);
  sync(group);  // a block that these lanes shared is back when any of them returns
}

/// Gives back a basic block of class `c`, or a block of pages.
template <class Kind, xmalloc_options Options>
WARPHEAP_FN void xmalloc_allocator<Kind, Options>::free_whole(std::uint64_t address, std::uint32_t c) const {
  if (c == detail::xmalloc_place::of_pages) {
    cold_call([*this, address] {
      free_pages(address);
      return 0;
    });
    return;
  }
  free_block(address, c);
}

/// Gives back a basic block of class `c`. Collective over the lanes that come together.
template <class Kind, xmalloc_options Options>
WARPHEAP_FN void xmalloc_allocator<Kind, Options>::free_block(std::uint64_t address, std::uint32_t c) const {
  const lane_mask peers = match(active_group(), pages().key() | c);
  const std::uint32_t number = pages().block_at(address);
  const bool in = lists().push(peers, c, number);
  const lane_mask rest = ballot(peers, !in);
  if (!in) {
    cold_call([*this, rest, c, number] {
      blocks().give(rest, c, number);
      return 0;
    });
  }
  sync(peers);  // the blocks of all lanes can be found
  if (is_leader(peers)) lists().quiescence().note_free();
  sync(peers);  // no lane returns before the note: an old refusal would still hold for it
}

/// Gives back a block of pages. Collective over the lanes that come together.
template <class Kind, xmalloc_options Options>
WARPHEAP_COLD_FN void xmalloc_allocator<Kind, Options>::free_pages(std::uint64_t address) const {
  const lane_mask peers = match(active_group(), pages().key());
  pages().source().give(peers, pages().page_of(address));
  if (is_leader(peers)) lists().quiescence().note_free();
  sync(peers);  // as in free_block
}

template <class Kind, xmalloc_options Options>
WARPHEAP_FN std::uint64_t xmalloc_allocator<Kind, Options>::usable_size(const void* block) const {
  const auto address = reinterpret_cast<std::uint64_t>(block);
  const detail::xmalloc_place place = pages().place_of(address);
  if (!place.whole) return combined_piece::of(block).usable_bytes();
  if (place.in_class != detail::xmalloc_place::of_pages) return layout::bytes(place.in_class);
  return layout::page_bytes << pages().source().order_of(pages().page_of(address));
}

}  // namespace warpheap
