// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/fdg/fdg.hpp>

namespace warpheap {

/// An arena of a warp: a handle, which a kernel keeps in a variable of each lane, and may store for another kernel. So
/// a warp needs no shared memory, and one that ends may leave its arena to another. `open_arena` of the design makes
/// it. <warpheap/allocator/concept.hpp> says what its members promise.
template <fdg_options Options>
class basic_fdg<Options>::warp_arena {
 public:
  /// The arena whose first page is `page`, or none for `page_source::none`.
  WARPHEAP_FN warp_arena(const detail::fdg_arenas<layout>& part, std::uint32_t page) : part_(part), page_(page) {}

  /// True if there is an arena.
  WARPHEAP_FN explicit operator bool() const { return page_ != page_source::none; }

  /// A block of the arena, aligned to 16 bytes, or null.
  WARPHEAP_FN void* malloc(std::uint64_t bytes) const {
    if (page_ == page_source::none) return nullptr;
    auto& of = part_.pages().header_of(page_);
    std::uint64_t place = part_.none;
    if (bytes <= layout::page_bytes) {
      const lane_mask group = match(active_group(), reinterpret_cast<std::uint64_t>(&of));
      place = part_.take(group, of, static_cast<std::uint32_t>(divide_up(bytes, layout::granule)), true);
    } else {
      const std::uint64_t count = (bytes - 1) / layout::page_bytes + 1;
      if (count > page_source::most_pages) return nullptr;
      place = cold_call([*this, count] {
        auto& whose = part_.pages().header_of(page_);
        const lane_mask peers = match(active_group(), reinterpret_cast<std::uint64_t>(&whose));
        return part_.take_pages(match(peers, page_source::order_for(count)), whose, count);
      });
    }
    return place == part_.none ? nullptr : part_.pages().address(place);
  }

  /// Gives back all that the arena took, itself included. Nothing without an arena. Collective over `group`.
  WARPHEAP_FN void release(lane_mask group) const {
    if (page_ == page_source::none) return;
    cold_call([*this, group] {
      part_.release(group, part_.pages().header_of(page_));
      return true;
    });
  }

 private:
  detail::fdg_arenas<layout> part_;
  std::uint32_t page_;
};

template <fdg_options Options>
WARPHEAP_FN auto basic_fdg<Options>::open_arena(lane_mask group) const -> warp_arena {
  std::uint32_t page = page_source::none;
  if (is_leader(group)) page = cold_call([part = arenas()] { return part.open(); });
  sync(group);  // all lanes acquire what the leader did, and see the header
  return {arenas(), shuffle(group, page, leader(group))};
}

}  // namespace warpheap
