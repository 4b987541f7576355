// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/bulk/bulk.hpp>

// free. The address tells whose block it is; the head of the chunk, what it is a block of. Lanes whose blocks lie in one
// half of a word of a bitmap, which is what a warp takes, give them back together.

namespace warpheap {

template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_FN void bulk_allocator<Buddy, ChunkPages>::free(void* block) const {
  const auto address = reinterpret_cast<std::uint64_t>(block);
  if (address % layout::page_bytes == 0) {
    cold_call([*this, address] { give_pages(address); });
    return;
  }
  const place at = place_of(address);
  const std::uint32_t word = at.unit / 64;
  const lane_mask group = active_group();
  const std::uint64_t half = reinterpret_cast<std::uint64_t>(&header_at(at.page).bits[word]) + at.unit % 64 / 32;
  const lane_mask same = match(group, half);  // lanes may use different heaps
  const std::uint32_t bits = reduce_parts(group, same, 1u << at.unit % 32, bit_or{});
  sync(group);  // the leaders release what all did
  if (is_leader(same)) {
    give_units(at.page, at.of_class, word, std::uint64_t{bits} << (at.unit % 64 & 32));
  }
  const lane_mask heap = match(group, reinterpret_cast<std::uint64_t>(control_));
  sync(group);  // what all gave is to be found
  if (is_leader(heap)) note_given();
  sync(group);  // no lane returns before that, or an old refusal would still hold for it
}

// Where a block of UAlloc lies.
template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_FN auto bulk_allocator<Buddy, ChunkPages>::place_of(std::uint64_t address) const -> place {
  const std::uint32_t page = page_of(address);
  const std::uint32_t index = page % layout::chunk_pages;
  const std::uint32_t first = page - index;
  const auto in_chunk = static_cast<std::uint32_t>(address % layout::chunk_bytes);
  // Written before the block was handed out, as the class of the bin is.
  const header& chunk = header_at(first);
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
  if (address % layout::page_bytes == 0) return layout::page_bytes << buddy().tag(page_of(address));
  return layout::bytes(place_of(address).of_class);
}

}  // namespace warpheap
