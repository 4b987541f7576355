// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/bulk/bulk.hpp>

// Bins without blocks go back to their chunks, and chunks to TBuddy, when memory is lacking and not before: a bin that is
// used up and filled again all the time would else come and go all the time.
//
// Who drains a shelf takes each whole list into his hands, withdraws the bins whose units are all free, puts the others
// back, and retires those it withdrew: when no reader can look at their heads any more, they are reclaimed. Others may
// drain the same arena; if one of them is about to wait for readers, the bins are left to it (`srcu::retire`).
//
// A bin is withdrawn in the order of the stages: all its units off the semaphore, then all off the bin, by one swap that
// succeeds only if they are all there, nobody has a pin, and it is listed, which here means: in our hands.

namespace warpheap {

// Reclaims bins that were retired together.
template <class Buddy, std::uint32_t ChunkPages>
struct bulk_allocator<Buddy, ChunkPages>::reclaimer {
  bulk_allocator of;
  WARPHEAP_FN void operator()(srcu_node& node) const { of.reclaim(of.page_of(reinterpret_cast<std::uint64_t>(&node))); }
};

// Looks for bins without blocks on all shelves and sends them back; true if there were some. One lane.
template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_COLD_FN bool bulk_allocator<Buddy, ChunkPages>::drain() const {
  using enum memory_order;
  using enum thread_scope;
  constexpr std::uint32_t at_once = 4;  // since each look waits for memory
  const std::uint32_t first = home();
  bool some = false;
  for (std::uint32_t i = 0; i <= arena_mask_; i += at_once) {
    std::int32_t whole[at_once];
    for (std::uint32_t j = 0; j < at_once; ++j) {
      whole[j] = static_cast<std::int32_t>(
          atomic_view{control_->arenas[(first + i + j) & arena_mask_].whole}.load(relaxed, device));
    }
    for (std::uint32_t j = 0; j < at_once; ++j) {
      if (whole[j] <= 0) continue;
      const std::uint32_t arena = (first + i + j) & arena_mask_;
      for (std::uint32_t c = 0; c < layout::classes; ++c) {
        const std::uint32_t here = atomic_view{shelf_of(arena, c).whole}.load(relaxed, device);
        if (static_cast<std::int32_t>(here) > 0 && drain_shelf(arena, c)) some = true;
      }
    }
  }
  return some;
}

// Sends back the bins of one shelf that have no blocks; true if there were some.
template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_COLD_FN bool bulk_allocator<Buddy, ChunkPages>::drain_shelf(std::uint32_t arena, std::uint32_t c) const {
  using enum memory_order;
  using enum thread_scope;
  begin_change();
  std::uint32_t whole = 0;  // those withdrawn, linked as on a list
  for (std::uint64_t& each : shelf_of(arena, c).top) {
    const atomic_view top{each};
    std::uint64_t seen = top.load(acquire, device);
    do {  // not a spin: each turn means that another thread's change came in between
      if (static_cast<std::uint32_t>(seen) == 0) break;
    } while (!top.compare_exchange(seen, ((seen >> 32) + 1) << 32, acq_rel, device));
    for (auto at = static_cast<std::uint32_t>(seen); at != 0;) {  // not a spin: along a list that nobody else has
      const std::uint32_t page = at - 1;
      const atomic_view next{header_at(page).next};
      at = next.load(relaxed, device);
      if (withdraw(arena, c, page)) {
        next.store(whole, relaxed, device);
        whole = page + 1;
      } else {
        push(arena, c, page);
      }
    }
  }
  if (whole == 0) {
    end_change(false);
    return false;
  }
  // The change ends when they are reclaimed, by whomever.
  readers_of(arena).retire(header_at(whole - 1).retired, reclaimer{*this});
  return true;
}

// Counts all units off a bin in the caller's hands, if they are all free.
template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_COLD_FN bool bulk_allocator<Buddy, ChunkPages>::withdraw(std::uint32_t arena, std::uint32_t c,
                                                                  std::uint32_t page) const {
  using enum memory_order;
  using enum thread_scope;
  const std::uint32_t all = layout::units(c);
  const atomic_view state{header_at(page).state};
  std::uint64_t whole = detail::bin_state::units_of(all) | detail::bin_state::listed_bit;
  if (state.load(relaxed, device) != whole) return false;
  bulk_semaphore& count = shelf_of(arena, c).count;
  if (!count.try_wait(all)) return false;
  // Acquires what those did who had blocks of it.
  if (state.compare_exchange(whole, detail::bin_state::listed_bit, acquire, device)) {
    count_whole(arena, c, ~0u);
    return true;
  }
  require(count.signal(all), "bulk: more blocks than can be counted");
  return false;
}

// Gives back bins, or chunks, that no reader looks at any more: the first of them and those that follow it.
template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_COLD_FN void bulk_allocator<Buddy, ChunkPages>::reclaim(std::uint32_t first) const {
  using enum memory_order;
  using enum thread_scope;
  for (std::uint32_t at = first + 1; at != 0;) {  // not a spin: each turn goes on along a list that nobody else has
    const std::uint32_t page = at - 1;
    const header& head = header_at(page);
    const std::uint32_t c = head.of_class;
    at = atomic_view{const_cast<std::uint32_t&>(head.next)}.load(relaxed, device);
    atomic_view{shelf_of(head.arena, c).bins}.fetch_sub(1, relaxed, device);
    if (c < layout::paged_sizes) {
      const std::uint32_t index = page % layout::chunk_pages;
      give_units(page - index, layout::pages_class, 0, std::uint64_t{1} << index);
    } else {
      buddy().give(page, layout::chunk_order);
    }
  }
  end_change(true);
}

}  // namespace warpheap
