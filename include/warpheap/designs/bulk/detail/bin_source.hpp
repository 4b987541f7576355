// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/bulk/detail/bin_lists.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/sync.hpp>

namespace warpheap::detail {

/// Makes bins: of a page of a chunk for blocks of up to 128 bytes, of a whole chunk for larger
/// ones. A thread that the semaphore of a bin list elects to produce calls it, within a change
/// (quiescence.hpp). So does a thread that took a page from the list of any arena (search.hpp:
/// make_of_any_page).
///
/// When a request for a page is refused, `take_page` returns false, and nothing was taken. The producer gives its turn
/// up, so waiting threads decide for themselves, and the search goes on (search.hpp: find_units).
///
/// Invariant: the header of a bin, and the class of a page in the header of its chunk, are written
/// before the bin is listed; no other thread reaches them before.
template <class Layout>
class bulk_bin_source {
 public:
  WARPHEAP_FN explicit bulk_bin_source(const arena& from) : lists_(from) {}
  WARPHEAP_FN const bulk_bin_lists<Layout>& lists() const { return lists_; }
  WARPHEAP_FN const bulk_pages<Layout>& pages() const { return lists_.pages(); }

  /// False if a bin of the class certainly cannot be made now.
  WARPHEAP_COLD_FN bool can_make(std::uint32_t arena, std::uint32_t c) const {
    if (c < Layout::paged_sizes && lists().list_at(arena, Layout::pages_class).count.count().available > 0) return true;
    return !pages().buddy().refuses(Layout::chunk_order);
  }

  /// Makes a bin and lists it, less `keep` units, which are the caller's. False if memory is
  /// exhausted.
  WARPHEAP_FN bool make(std::uint32_t arena, std::uint32_t c, std::uint32_t keep, bulk_bin_units& made) const {
    std::uint32_t page = 0;
    if (!(c < Layout::paged_sizes ? take_page(arena, page) : pages().take_chunk(page))) return false;
    set_up(arena, c, page, keep);
    made = {page, keep, 0};
    return true;
  }

  /// Writes the header of a bin, or of a chunk that has bins, and lists it, less `keep` units.
  WARPHEAP_COLD_FN void set_up(std::uint32_t arena, std::uint32_t c, std::uint32_t page, std::uint32_t keep) const {
    using enum memory_order;
    using enum thread_scope;
    auto& head = pages().header_at(page);
    for (std::uint32_t i = 0; i < Layout::most_words; ++i) head.bits[i] = Layout::all_bits(c, i);
    head.state = bin_state::units_of(Layout::units(c) - keep) | bin_state::listed_bit;
    head.retired.next = nullptr;
    head.next = 0;
    head.arena = static_cast<std::uint16_t>(arena);
    head.of_class = static_cast<std::uint16_t>(c);
    if (c < Layout::paged_sizes) {
      const std::uint32_t index = page % Layout::chunk_pages;
      pages().header_at(page - index).classes[index] = static_cast<std::uint8_t>(c);
    }
    // Relaxed: a statistic.
    atomic_view{lists().list_at(arena, c).bins}.fetch_add(1, relaxed, device);
    lists().push(arena, c, page);
  }

  /// Requests a unit for each of `wanted` lanes; a function of its own, so that its code exists
  /// once.
  WARPHEAP_COLD_FN static bulk_semaphore::request request(bulk_semaphore& count, std::uint32_t wanted,
                                                          std::uint32_t batch) {
    return count.ask_for_lanes(wanted, batch);
  }

 private:
  /// Takes a page of one of the arena's chunks, by the same stages as a block.
  WARPHEAP_COLD_FN bool take_page(std::uint32_t arena, std::uint32_t& page) const {
    using standing = bulk_semaphore::standing;
    constexpr std::uint32_t c = Layout::pages_class;
    bulk_semaphore& count = lists().list_at(arena, c).count;
    bulk_bin_units taken{0, 1, 0};
    bool made = false;
    lane_mask group = active_group();
    bulk_semaphore::request mine = request(count, 1, Layout::units(c));
    do {
      if (mine.what() == standing::produces) {
        made = pages().take_chunk(taken.page);
        if (made) {
          set_up(arena, c, taken.page, 1);
          require(count.deliver(mine), "bulk: more pages than can be counted");
        } else {
          count.give_up(mine, bulk_semaphore::production::passing);
        }
      }
    } while (count.waits(mine, group));
    if (mine.what() == standing::failed) return false;
    if (!made) taken = lists().count_off_some_bin(arena, c, 1);
    page = taken.page + static_cast<std::uint32_t>(lowest_bit(lists().bins().claim(taken).bits));
    return true;
  }

  bulk_bin_lists<Layout> lists_;
};

}  // namespace warpheap::detail
