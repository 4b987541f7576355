// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/bulk/bulk.hpp>

// free. The address tells whether TBuddy or UAlloc owns the block; the header of the chunk tells
// the class. Lanes whose blocks lie in one half of a word of a bitmap, which is what a warp takes,
// free them together.
//
// Each free ends the refusals that searches have noted (`note_free`).

namespace warpheap {

template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_FN void bulk_allocator<Buddy, ChunkPages>::free(void* block) const {
  const auto address = reinterpret_cast<std::uint64_t>(block);
  if (address % layout::page_bytes == 0) {
    cold_call([*this, address] { free_pages(address); });
    return;
  }
  const position at = position_of(address);
  const std::uint32_t word = at.unit / 64;
  const lane_mask group = active_group();
  const std::uint64_t half =
      reinterpret_cast<std::uint64_t>(&pages().header_at(at.page).bits[word]) + at.unit % 64 / 32;
  const lane_mask same = match(group, half);  // lanes may use different heaps
  const std::uint32_t bits = reduce_parts(group, same, 1u << at.unit % 32, bit_or{});
  sync(group);  // the leaders release what all lanes did
  if (is_leader(same)) {
    lists().free_units(at.page, at.of_class, word, std::uint64_t{bits} << (at.unit % 64 & 32));
  }
  const warp_request heap = warp_request::of(group, &pages().control());
  sync(group);  // the blocks of all lanes can be found
  if (heap.leads()) quiescence().note_free();
  sync(group);  // no lane returns before the note: an old refusal would still hold for it
}

/// Returns a block of TBuddy. Collective over the lanes that come together.
template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_COLD_FN void bulk_allocator<Buddy, ChunkPages>::free_pages(std::uint64_t address) const {
  const lane_mask group = warp_request::of(active_group(), &pages().control()).lanes;
  const std::uint32_t page = pages().page_of(address);
  pages().buddy().give(group, page, pages().buddy().tag(page));
  sync(group);
  if (is_leader(group)) quiescence().note_free();
  sync(group);  // as in free
}

/// Bin, class and unit of a block of UAlloc. The inverse of `block_at`.
template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_FN auto bulk_allocator<Buddy, ChunkPages>::position_of(std::uint64_t address) const -> position {
  const std::uint32_t page = pages().page_of(address);
  const std::uint32_t index = page % layout::chunk_pages;
  const std::uint32_t first = page - index;
  const auto in_chunk = static_cast<std::uint32_t>(address % layout::chunk_bytes);
  // Written before the block was handed out, as the class of the bin is.
  const typename layout::header& chunk = pages().header_at(first);
  const std::uint32_t c = chunk.of_class;
  if (c != layout::pages_class) return {first, c, (in_chunk - layout::head_bytes) >> (c + 3)};
  const auto in_page = static_cast<std::uint32_t>(address % layout::page_bytes);
  const std::uint32_t bin = index != 0 ? index : in_page / layout::head_bytes;  // the first page has the tails
  const std::uint32_t at =
      index != 0 ? in_page - layout::head_bytes : layout::body_bytes + in_page % layout::head_bytes;
  const std::uint32_t of = chunk.classes[bin];
  return {first + bin, of, at >> (of + 3)};
}

template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_FN std::uint64_t bulk_allocator<Buddy, ChunkPages>::usable_size(const void* block) const {
  const auto address = reinterpret_cast<std::uint64_t>(block);
  if (address % layout::page_bytes == 0) {
    return layout::page_bytes << pages().buddy().tag(pages().page_of(address));
  }
  return layout::bytes(position_of(address).of_class);
}

}  // namespace warpheap
