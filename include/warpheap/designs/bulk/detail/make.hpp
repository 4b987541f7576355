// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/bulk/bulk.hpp>

// Bins and chunks: how they are made. A thread that was told to produce does it, with the change begun.

namespace warpheap {

// False if a bin of the class can surely not be made now.
template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_COLD_FN bool bulk_allocator<Buddy, ChunkPages>::can_make(std::uint32_t arena, std::uint32_t c) const {
  if (c < layout::paged_sizes && shelf_of(arena, layout::pages_class).count.count().available > 0) return true;
  return !buddy().refuses(layout::chunk_order);
}

// Makes a bin and puts it on the shelf, without `keep` units, which are the caller's. False if there is no memory.
template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_FN bool bulk_allocator<Buddy, ChunkPages>::make(std::uint32_t arena, std::uint32_t c, std::uint32_t keep,
                                                         hold& made) const {
  std::uint32_t page = 0;
  if (!(c < layout::paged_sizes ? take_page(arena, page) : take_chunk(page))) return false;
  set_up(arena, c, page, keep);
  made = {page, keep, 0};
  return true;
}

// A page of one of the arena's chunks.
template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_COLD_FN bool bulk_allocator<Buddy, ChunkPages>::take_page(std::uint32_t arena, std::uint32_t& page) const {
  using standing = bulk_semaphore::standing;
  constexpr std::uint32_t c = layout::pages_class;
  bulk_semaphore& count = shelf_of(arena, c).count;
  hold held{0, 1, 0};
  bool made = false;
  lane_mask group = active_group();
  bulk_semaphore::request mine = ask_at(count, 1, layout::units(c));
  do {
    if (mine.what() == standing::produces) {
      made = take_chunk(held.page);
      if (made) {
        set_up(arena, c, held.page, 1);
        require(count.deliver(mine), "bulk: more pages than can be counted");
      } else {
        count.give_up(mine, bulk_semaphore::production::passing);
      }
    }
  } while (count.waits(mine, group));
  if (mine.what() == standing::failed) return false;
  if (!made) held = take_listed(arena, c, 1);
  page = held.page + static_cast<std::uint32_t>(lowest_bit(claim_some(held).bits));
  return true;
}

// A chunk. Lanes that come together, whatever they want it for, take theirs by one change of TBuddy, if they can.
template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_FN bool bulk_allocator<Buddy, ChunkPages>::take_chunk(std::uint32_t& page) const {
  constexpr std::uint32_t tries = 8;
  const lane_mask together = match(active_group(), reinterpret_cast<std::uint64_t>(control_));
  page = take_together(together, layout::chunk_order, tries);
  return page != Buddy::none;
}

// Writes the head of a bin, or of a chunk that has bins, and lists it. Nobody looks at it before.
template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_COLD_FN void bulk_allocator<Buddy, ChunkPages>::set_up(std::uint32_t arena, std::uint32_t c,
                                                                std::uint32_t page, std::uint32_t keep) const {
  using enum memory_order;
  using enum thread_scope;
  header& head = header_at(page);
  for (std::uint32_t i = 0; i < layout::most_words; ++i) head.bits[i] = layout::all_bits(c, i);
  head.state = detail::bin_state::units_of(layout::units(c) - keep) | detail::bin_state::listed_bit;
  head.retired.next = nullptr;
  head.next = 0;
  head.arena = static_cast<std::uint16_t>(arena);
  head.of_class = static_cast<std::uint16_t>(c);
  if (c < layout::paged_sizes) {
    const std::uint32_t index = page % layout::chunk_pages;
    header_at(page - index).classes[index] = static_cast<std::uint8_t>(c);
  }
  atomic_view{shelf_of(arena, c).bins}.fetch_add(1, relaxed, device);
  push(arena, c, page);
}

}  // namespace warpheap
