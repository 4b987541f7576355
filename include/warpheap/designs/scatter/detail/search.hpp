// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/scatter/detail/pages.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::detail {

/// How chunks are found: from a page that a hash names, onwards through the pages of its access block, then of others.
/// The lanes of a group look at neighbouring pages side by side, and each page with room serves as many of them as it
/// can.
///
/// Two sweeps, as in the paper: a quick one of a few regions of each access block that are not crowded, and a full one
/// of all open pages. Between the two a new access block is opened if the page source has one.
///
/// Invariant: a chunk is refused only after a full sweep and a look at the page source that found nothing, while
/// nothing moved and nothing was freed (`scatter_quiescence`); or after a limited number of those while other threads
/// took and freed during each.
template <class Table>
class scatter_search {
 public:
  using pages_type = scatter_pages<Table>;
  using chunk_bits = typename Table::chunk_bits;

  /// What a group asks for; one for all its lanes.
  struct request {
    scatter_chunk_size size;
    std::uint32_t alignment;
    std::uint32_t hash;
  };

  WARPHEAP_FN explicit scatter_search(const arena& from) : pages_(from) {}
  WARPHEAP_FN const pages_type& pages() const { return pages_; }

  /// Names the page of an access block at which the caller begins. As in the paper warps of a multiprocessor are told
  /// apart, 64 at most; in small access blocks fewer, or each size would be scattered over all pages.
  WARPHEAP_FN std::uint32_t hash_of(scatter_chunk_size size) const {
    const std::uint32_t shift = pages_.block_shift();
    const std::uint32_t warps = shift >= 12 ? 64 : shift <= 6 ? 1 : 1u << (shift - 6);
    return scatter_seed(size.bytes(), multiprocessor_index(), grid_warp_index() & (warps - 1),
                        static_cast<std::uint32_t>(pages_.page_bytes()));
  }

  /// A chunk for each lane of `group`; null for lanes that found none in a quick sweep. Collective.
  WARPHEAP_FN void* take_quickly(lane_mask group, const request& wanted) const {
    void* block = nullptr;
    std::uint32_t current = 0;
    std::uint32_t open_end = 0;
    if (is_leader(group)) {
      current = atomic_view{pages_.shared().current}.load(memory_order::relaxed, thread_scope::device);
      open_end = pages_.open_end();
    }
    current = shuffle(group, current, leader(group));
    open_end = shuffle(group, open_end, leader(group));
    lane_mask waiting = group;
    std::uint32_t at_block = current;
    for (std::uint32_t i = 0; i < Table::options.quick_blocks; ++i, ++at_block) {
      const std::uint32_t first = at_block << pages_.block_shift();
      if (first >= open_end) break;
      waiting = sweep_block(group, waiting, wanted, first, open_end, block);
      if (waiting == 0) break;
    }
    // Later requests begin where this one found chunks.
    if (waiting == 0 && at_block != current && is_leader(group)) {
      atomic_view{pages_.shared().current}.store(at_block, memory_order::relaxed, thread_scope::device);
    }
    return block;
  }

  /// A chunk for each lane of `group`, after a search of everything; null for lanes that are refused. Collective.
  WARPHEAP_COLD_FN void* take_slowly(lane_mask group, request wanted) const {
    const scatter_quiescence changes = pages_.changes();
    const std::uint32_t what = wanted.size.units;
    void* block = nullptr;
    lane_mask waiting = group;
    scatter_quiescence::retry_limits more;
    for (backoff wait;; wait.pause()) {
      scatter_snapshot before = changes.begin_search();
      if (any(group, is_leader(group) && changes.is_refused(what, before.freed))) break;
      const std::uint32_t opened = shuffle(group, count_opened(), leader(group));
      const std::uint32_t open_end = shuffle(group, pages_.open_end(), leader(group));
      const std::uint32_t first = pages_.first_page();
      bool settled = true;
      if (first < open_end) {
        const swept result = sweep_all(group, waiting, wanted, {first, start_of(wanted, first, open_end), open_end});
        if (result.block != nullptr) block = result.block;
        settled = result.settled;
        waiting = ballot(group, block == nullptr);
      }
      if (waiting == 0) break;
      const opening result = open_block(group, opened);
      if (result == opening::done) continue;
      before.unsettled = !all(group, settled) || result != opening::nothing;
      bool again = false;
      // A refusal of chunks with an alignment tells nothing of others, so it is not noted.
      if (is_leader(group)) {
        again = wanted.alignment <= scatter_chunk_size::unit_bytes
                    ? changes.shall_retry(what, before, more)
                    : changes.shall_retry(scatter_quiescence::unnoted, before, more);
      }
      if (!any(group, again)) break;
    }
    sync(group);
    return block;
  }

 private:
  enum class opening : std::uint32_t { done, nothing, unsure };
  // A page that a lane looked at, or `none`.
  struct found {
    std::uint32_t page;
    scatter_look seen;
  };
  static constexpr std::uint32_t few_lanes = 16;
  static constexpr std::uint32_t most_looks = 4;

  WARPHEAP_FN std::uint32_t count_opened() const {
    return atomic_view{pages_.shared().opened}.load(memory_order::relaxed, thread_scope::device);
  }

  // The page at which a full sweep begins: that of the hash, in all that is open.
  WARPHEAP_FN static std::uint32_t start_of(const request& wanted, std::uint32_t first, std::uint32_t end) {
    return first + static_cast<std::uint32_t>(std::uint64_t{spread(wanted.hash)} * (end - first) >> 32);
  }

  // A quick sweep of the access block that begins at `first`, from the page of the hash on and around. Collective;
  // returns the lanes that have no block yet.
  WARPHEAP_FN lane_mask sweep_block(lane_mask group, lane_mask waiting, const request& wanted, std::uint32_t first,
                                    std::uint32_t open_end, void*& block) const {
    const std::uint32_t pages = 1u << pages_.block_shift();
    const std::uint32_t hashed = first + (wanted.hash & (pages - 1));
    const std::uint32_t end = first + pages < open_end ? first + pages : open_end;
    if (first < pages_.first_page()) first = pages_.first_page();
    if (first >= end) return waiting;
    bool settled = true;
    const range all{first, hashed >= first && hashed < end ? hashed : first, end};
    return sweep(group, waiting, wanted, all, true, block, settled);
  }

  // True if the chunks of a page are right for a request.
  WARPHEAP_FN static bool serves(scatter_look seen, const request& wanted) {
    return scatter_chunk_size{seen.units()}.serves(wanted.size, wanted.alignment, Table::options.waste_factor);
  }

  // Pages [first, end), from `start` on and around.
  struct range {
    std::uint32_t first, start, end;
  };

  // A full sweep, as a function of its own, so that its variables do not lie beside those of the search.
  struct swept {
    void* block;
    bool settled;
  };
  WARPHEAP_COLD_FN swept sweep_all(lane_mask group, lane_mask waiting, request wanted, range all) const {
    // Lanes that have a block by now take none.
    void* block = (waiting & lane_bit()) != 0 ? nullptr : served_before();
    bool settled = true;
    sweep(group, waiting, wanted, all, false, block, settled);
    return {block == served_before() ? nullptr : block, settled};
  }
  // No block of any heap, but not null.
  WARPHEAP_FN static void* served_before() { return reinterpret_cast<void*>(std::uint64_t{1}); }

  // Serves lanes of `waiting` from the pages of a range: all of them, or with `quick` a few rows of those that are not
  // crowded. `settled` becomes false for a lane that met memory that was about to move. Collective; returns the lanes
  // that have no block yet.
  WARPHEAP_FN lane_mask sweep(lane_mask group, lane_mask waiting, const request& wanted, const range& all, bool quick,
                              void*& block, bool& settled) const {
    const Table table = pages_.table();
    const auto lanes = static_cast<std::uint32_t>(group_size(group));
    // A few lanes look at more pages each: the looks do not wait for one another.
    const std::uint32_t looks = lanes < few_lanes ? most_looks : 1;
    std::uint32_t budget = Table::options.quick_looks;
    std::uint32_t at = all.start;
    std::uint32_t end = all.end;
    for (;;) {  // not a spin: each turn goes on to later pages, once around, or serves lanes
      const scatter_row here = table.row(group, at, end, quick, budget);
      found sized{scatter_row::none, scatter_look::nothing()};
      found empty = sized;
      std::uint32_t seen_pages = 0;  // that could serve the lane
      bool looked = false;
      WARPHEAP_ROLLED
      for (std::uint32_t i = looks; i-- != 0;) {
        const std::uint32_t page = here.page(i * lanes + static_cast<std::uint32_t>(group_rank(group)));
        if (page == scatter_row::none) continue;
        looked = true;
        const scatter_look seen = table.look(page);
        settled = settled && seen.settled();
        if (seen.is_empty()) {
          empty = {page, seen};
          ++seen_pages;
        } else if (seen.room() != 0 && serves(seen, wanted)) {
          sized = {page, seen};
          ++seen_pages;
        }
      }
      // While half of the pages are empty, the first that serves, so that threads do not crowd. Then pages that have
      // chunks of such a size before empty ones, or each size would spread over all pages.
      const int empties = popcount(ballot(group, empty.page != scatter_row::none));
      if (2 * empties >= popcount(ballot(group, looked))) {
        if (empty.page < sized.page) sized = empty;
        empty.page = scatter_row::none;
      }
      if (sized.page != scatter_row::none) --seen_pages;
      if (empty.page != scatter_row::none) --seen_pages;
      WARPHEAP_ROLLED
      for (int pass = 0; pass < 2; ++pass) {
        if (any(group, sized.page != scatter_row::none)) {
          waiting = take_from(group, waiting, wanted, sized, block, settled);
          if (waiting == 0) return waiting;
        }
        sized = empty;
      }
      if (quick && budget == 0) return waiting;
      // Pages that a lane saw and left for others are looked at again.
      if (any(group, seen_pages != 0)) continue;
      at = here.next(looks * lanes, end);
      if (at < end) continue;
      if (end == all.start || all.start == all.first) return waiting;
      at = all.first;
      end = all.start;
    }
  }

  // Takes chunks for lanes of `waiting` from the pages that lanes found: from each as many as it has and the pages
  // before it leave. Collective; returns the lanes that have no block yet.
  WARPHEAP_FN lane_mask take_from(lane_mask group, lane_mask waiting, const request& wanted, const found& mine_found,
                                  void*& block, bool& settled) const {
    const std::uint32_t page = mine_found.page;
    const scatter_look seen = mine_found.seen;
    const bool has_page = page != scatter_row::none;
    const Table table = pages_.table();
    const auto needed = static_cast<std::uint32_t>(popcount(waiting));
    const std::uint32_t capacity = wanted.size.capacity(pages_.page_units());
    const std::uint32_t room = !has_page ? 0 : seen.units() == 0 ? capacity : seen.room();
    const std::uint32_t before = exclusive_scan(group, room < needed ? room : needed, std::uint32_t{0}, plus{});
    const std::uint32_t asks = before >= needed ? 0 : room < needed - before ? room : needed - before;
    scatter_share share{0, 0, false, false};
    if (asks != 0) {
      share = table.try_take(page, seen, wanted.size, asks);
      settled = settled && share.count == asks;  // another thread was faster; there may be more
    }
    [[maybe_unused]] const bool last = share.last;
    for (bool fresh = share.fresh;;) {  // not a spin: each turn makes chunks of units that the lanes have
      std::uint32_t word = 0;
      std::uint32_t bits = 0;
      if (share.count != 0) {
        bits = fresh ? low_bits(static_cast<int>(share.count)) : claim(page, share, wanted.hash, word);
      }
      const dealt mine = deal(group, waiting, static_cast<std::uint32_t>(popcount(bits)));
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
      share.count -= static_cast<std::uint32_t>(popcount(bits));
      waiting = ballot(group, block == nullptr);
      if (!any(group, share.count != 0)) break;
    }
    if constexpr (Table::notes_full) {
      if (last) cold_call([table, page] { table.note_full(page); });
    }
    sync(group);  // what the lane that took a chunk acquired, its new owner sees
    return waiting;
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

  // Takes an access block, or the largest part of one, of 2^`order` pages, with the change begun; `none` if it got
  // nothing. One lane.
  WARPHEAP_COLD_FN std::uint32_t take_pages(const page_source& source, std::uint32_t& order) const {
    pages_.changes().begin_change();
    std::uint32_t page = page_source::none;
    for (std::uint32_t wanted = pages_.block_shift() + 1; wanted-- != 0 && page == page_source::none;) {
      if (!source.refuses(wanted)) page = source.take(wanted, patience{2});
    }
    if (page == page_source::none) {
      pages_.changes().end_change();
    } else {
      order = source.forget(page);
    }
    return page;
  }

  // Opens an access block, or the largest part of one that the page source has. Collective. `opened` is what the caller
  // saw before its sweep: if others opened one since, that is `done`, too.
  WARPHEAP_COLD_FN opening open_block(lane_mask group, std::uint32_t opened) const {
    auto& shared = pages_.shared();
    std::uint32_t page = page_source::none;
    std::uint32_t order = 0;
    opening result = opening::unsure;
    if (is_leader(group)) {
      const page_source source = pages_.source();
      if (source.refuses(0)) {
        result = opening::nothing;  // and no change in vain, which would disturb all that search
      } else if (count_opened() != opened) {
        result = opening::done;
      } else if (shared.opening.try_acquire()) {
        if (count_opened() != opened) {
          result = opening::done;
          shared.opening.release();
        } else {
          page = take_pages(source, order);
          if (page == page_source::none) shared.opening.release();
        }
      }
    }
    page = shuffle(group, page, leader(group));
    order = shuffle(group, order, leader(group));
    if (page != page_source::none) {
      sync(group);  // what the leader acquired with the pages, each lane releases that opens some
      pages_.table().open(group, page, 1u << order);
      sync(group);
      if (is_leader(group)) {
        pages_.raise_open_end(page + (1u << order));
        // Relaxed: hints for those that search.
        atomic_view{shared.current}.store(pages_.block_of(page), memory_order::relaxed, thread_scope::device);
        atomic_view{shared.opened}.fetch_add(1, memory_order::relaxed, thread_scope::device);
        pages_.changes().end_change();
        shared.opening.release();
      }
      result = opening::done;
    }
    return static_cast<opening>(shuffle(group, static_cast<std::uint32_t>(result), leader(group)));
  }

  pages_type pages_;
};

}  // namespace warpheap::detail
