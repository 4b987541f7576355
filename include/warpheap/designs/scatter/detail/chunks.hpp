// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/scatter/detail/pages.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::detail {

/// What a group asks for; one for all its lanes.
struct scatter_request {
  scatter_chunk_size size;
  std::uint32_t alignment;
  std::uint32_t hash;
};

/// A page that a lane looked at, or `scatter_row::none`.
struct scatter_found {
  std::uint32_t page;
  scatter_look seen;

  WARPHEAP_FN static constexpr scatter_found nothing() { return {scatter_row::none, scatter_look::nothing()}; }
  WARPHEAP_FN constexpr bool is_page() const { return page != scatter_row::none; }
};

/// What a lane got, and whether the memory that it met stood still.
struct scatter_served {
  void* block;
  bool settled;
};

/// Takes chunks from pages that the lanes of a group found, and deals them to the lanes that wait for one.
///
/// Invariant: a lane takes units off the count of a page before it claims bits there, so it claims as many bits as it
/// has units.
template <class Table>
class scatter_chunks {
 public:
  using pages_type = scatter_pages<Table>;
  using chunk_bits = typename Table::chunk_bits;

  WARPHEAP_FN explicit scatter_chunks(const arena& from) : pages_(from) {}
  WARPHEAP_FN const pages_type& pages() const { return pages_; }

  /// Takes chunks for lanes of `waiting` from the pages that lanes found: from each as many as it has and the pages
  /// before it leave. `full` becomes the page whose last chunk the caller took. The caller tells the table that
  /// (`note_full`), sooner or later; until then it takes from no other page. `settled` becomes false for a lane that
  /// another thread was faster than. Collective; returns the lanes that have no block yet.
  WARPHEAP_FN lane_mask take_from(lane_mask group, lane_mask waiting, const scatter_request& wanted,
                                  const scatter_found& found, void*& block, bool& settled, std::uint32_t& full) const {
    const std::uint32_t page = found.page;
    scatter_share share{0, 0, false, false};
    const std::uint32_t asks = part_of(group, waiting, wanted, found, full == scatter_row::none);
    if (asks != 0) {
      share = pages_.table().try_take(page, found.seen, wanted.size, asks);
      settled = settled && share.count == asks;  // another thread was faster; there may be more
    }
    if constexpr (Table::notes_full) {
      if (share.last) full = page;
    }
    for (bool fresh = share.fresh;;) {  // not a spin: each turn makes chunks of units that the lanes have
      std::uint32_t word = 0;
      std::uint32_t bits = 0;
      if (share.count != 0) {
        bits = fresh ? low_bits(static_cast<int>(share.count)) : claim(page, share, wanted.hash, word);
      }
      const auto got = static_cast<std::uint32_t>(popcount(bits));
      const dealt mine = deal(group, waiting, got);
      const int source = mine.served() ? mine.source : lane_index();
      const std::uint32_t its_bits = shuffle(group, bits, source);
      const std::uint32_t its_word = shuffle(group, word, source);
      const std::uint32_t its_page = shuffle(group, page, source);
      const std::uint32_t its_units = shuffle(group, share.units, source);
      if (mine.served()) {
        const std::uint32_t slot =
            its_word * 32 + static_cast<std::uint32_t>(nth_set_bit(its_bits, static_cast<int>(mine.index)));
        block = reinterpret_cast<void*>(pages_.address_of(its_page) +
                                        std::uint64_t{slot} * its_units * scatter_chunk_size::unit_bytes);
      }
      share.count -= got;
      waiting = ballot(group, block == nullptr);
      if (!any(group, share.count != 0)) break;
    }
    sync(group);  // what the lane that took a chunk acquired, its new owner sees
    return waiting;
  }

  /// `take_from` as a function of its own, for lanes whose `block` is null. Tells the table of a full page. Collective.
  WARPHEAP_COLD_FN scatter_served take_apart(lane_mask group, scatter_request wanted, scatter_found found,
                                             void* block) const {
    bool settled = true;
    std::uint32_t full = scatter_row::none;
    take_from(group, ballot(group, block == nullptr), wanted, found, block, settled, full);
    if constexpr (Table::notes_full) {
      if (full != scatter_row::none) pages_.table().note_full(full);
      sync(group);
    }
    return {block, settled};
  }

 private:
  // The chunks that the caller is to take from its page: what the pages of lower lanes leave to be taken, and what its
  // own page has. Collective.
  WARPHEAP_FN std::uint32_t part_of(lane_mask group, lane_mask waiting, const scatter_request& wanted,
                                    const scatter_found& found, bool may_take) const {
    const auto needed = static_cast<std::uint32_t>(popcount(waiting));
    std::uint32_t room = 0;
    if (found.is_page() && may_take) {
      room = found.seen.units() == 0 ? wanted.size.capacity(pages_.page_units()) : found.seen.room();
      if (room > needed) room = needed;
    }
    const std::uint32_t before = exclusive_scan(group, room, std::uint32_t{0}, plus{});
    return before >= needed ? 0 : room < needed - before ? room : needed - before;
  }

  // Takes bits of one word for units that the caller has: one or more, up to all of them. There is a free chunk for
  // each unit. One lane.
  WARPHEAP_FN std::uint32_t claim(std::uint32_t page, const scatter_share& share, std::uint32_t hash,
                                  std::uint32_t& word) const {
    const chunk_bits bits = pages_.table().bits(page, share.units);
    const std::uint32_t words = bits.words();
    word = words == 1 ? 0 : static_cast<std::uint32_t>(std::uint64_t{spread(hash)} * words >> 32);
    for (backoff wait;;) {
      for (std::uint32_t i = 0; i < words; ++i) {
        const std::uint32_t got = claim_in(page, word, bits.free_word(word), share.count);
        if (got != 0) return got;
        word = word + 1 < words ? word + 1 : 0;
      }
      wait.pause();  // other threads took what was seen, and gave back elsewhere
    }
  }
  WARPHEAP_FN std::uint32_t claim_in(std::uint32_t page, std::uint32_t word, std::uint32_t free,
                                     std::uint32_t count) const {
    if (free == 0) return 0;
    std::uint32_t wanted = free;
    if (count < static_cast<std::uint32_t>(popcount(free))) {
      wanted = free & low_bits(nth_set_bit(free, static_cast<int>(count)));
    }
    // Acquires from the release of the chunks' last owners.
    const std::uint32_t before =
        atomic_view{pages_.table().bit_word(page, word)}.fetch_or(wanted, memory_order::acquire, thread_scope::device);
    return wanted & ~before;
  }

  pages_type pages_;
};

}  // namespace warpheap::detail
