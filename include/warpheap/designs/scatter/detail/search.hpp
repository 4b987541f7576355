// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/scatter/detail/chunks.hpp>
#include <warpheap/designs/scatter/detail/pages.hpp>
#include <warpheap/designs/scatter/detail/sweep.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::detail {

/// How chunks are found: from a page that a hash names, onwards through the pages of its access block, then of others.
/// The lanes of a group look at neighbouring pages side by side.
///
/// Two sweeps, as in the paper: a quick one of a few regions of each access block that are not crowded, and a full one
/// of all open pages. Between the two a new access block is opened if the page source has one. The quick sweep begins
/// in the caller, with the rows from the hashed page on as long as they have room. What follows is a cold function, so
/// that it costs kernels no registers.
///
/// Invariant: a chunk is refused only after a full sweep and a look at the page source that found nothing, while
/// nothing moved and nothing was freed (`scatter_quiescence`); or after a limited number of those while other threads
/// took and freed during each, and none of which met memory that another thread had in hand. Searches that met such
/// memory are repeated without a limit: see `scatter_quiescence::shall_retry`.
template <class Table>
class scatter_search {
 public:
  using pages_type = scatter_pages<Table>;
  using request = scatter_request;

  WARPHEAP_FN explicit scatter_search(const arena& from) : sweep_(from) {}
  WARPHEAP_FN const pages_type& pages() const { return sweep_.pages(); }

  /// Names the page of an access block at which the caller begins. As in the paper warps of a multiprocessor are told
  /// apart, 64 at most; in small access blocks fewer, or each size would be scattered over all pages.
  WARPHEAP_FN std::uint32_t hash_of(scatter_chunk_size size) const {
    const std::uint32_t shift = pages().block_shift();
    const std::uint32_t warps = shift >= 12 ? 64 : shift <= 6 ? 1 : 1u << (shift - 6);
    return scatter_seed(size.bytes(), multiprocessor_index(), grid_warp_index() & (warps - 1),
                        static_cast<std::uint32_t>(pages().page_bytes()));
  }

  /// What a lane has after `take_quickly`.
  struct quick {
    void* block;         ///< null: none yet
    std::uint32_t at;    ///< page at which the search goes on; one for all lanes of the group
    std::uint32_t full;  ///< page of which the lane took the last chunk, so `note_full` is to be called; or none
  };
  /// Takes a chunk for each lane of `group` from the rows at the hashed page, as long as they are not crowded.
  /// Collective.
  WARPHEAP_FN quick take_quickly(lane_mask group, const request& wanted) const {
    std::uint32_t current = 0;
    std::uint32_t open_end = 0;
    if (is_leader(group)) {
      // Relaxed: hints. A new heap begins after block 0 if its arena begins after page 0.
      current = atomic_view{pages().shared().current}.load(memory_order::relaxed, thread_scope::device);
      const std::uint32_t lowest = pages().block_of(pages().first_page());
      if (current < lowest) current = lowest;
      open_end = pages().open_end();
    }
    const scatter_range block_of_hash =
        block_range(shuffle(group, current, leader(group)), wanted, shuffle(group, open_end, leader(group)));
    quick mine{nullptr, block_of_hash.start, scatter_row::none};
    const auto lanes = static_cast<std::uint32_t>(group_size(group));
    const std::uint32_t looks = sweep_type::looks_of(lanes);
    lane_mask waiting = group;
    WARPHEAP_ROLLED
    for (std::uint32_t i = 0; i < Table::options.quick_looks && mine.at < block_of_hash.end; ++i) {
      const scatter_row here = pages().table().row_at(group, mine.at, block_of_hash.end);
      if (here.pages == 0) break;
      bool settled = true;
      typename sweep_type::picks found = sweep_.look_at(group, here, looks, wanted, settled);
      const std::uint32_t next = here.next(looks * lanes, block_of_hash.end);
      WARPHEAP_ROLLED
      for (int pass = 0; pass < 2 && waiting != 0; ++pass) {
        if (any(group, found.first.is_page())) {
          waiting = sweep_.chunks().take_from(group, waiting, wanted, found.first, mine.block, settled, mine.full);
        }
        found.first = found.second;
      }
      if (waiting == 0) return mine;
      // Pages that a lane saw and left for others are looked at again.
      if (!any(group, found.more)) mine.at = next;
    }
    if (mine.at >= block_of_hash.end) mine.at = block_of_hash.first;
    return mine;
  }

  /// A chunk for each lane of `group`: goes on with the quick sweep at page `at`, and then searches everything. Null
  /// for lanes that are refused. Collective.
  WARPHEAP_COLD_FN void* take_elsewhere(lane_mask group, request wanted, std::uint32_t at) const {
    void* block = sweep_blocks(group, wanted, at);
    const lane_mask rest = ballot(group, block == nullptr);
    if (block == nullptr) block = take_slowly(rest, wanted);
    sync(group);
    return block;
  }

 private:
  using sweep_type = scatter_sweep<Table>;
  enum class opening : std::uint32_t { done, nothing, unsure };
  // What a lane has after a search, and whether the group is to search again.
  struct searched {
    void* block;
    bool again;
  };

  WARPHEAP_FN std::uint32_t count_opened() const {
    return atomic_view{pages().shared().opened}.load(memory_order::relaxed, thread_scope::device);
  }

  // The open pages of access block `number`, from the page of the hash on. Without pages if it has none.
  WARPHEAP_FN scatter_range block_range(std::uint32_t number, const request& wanted, std::uint32_t open_end) const {
    const std::uint32_t pages_of_block = 1u << pages().block_shift();
    std::uint32_t first = number << pages().block_shift();
    const std::uint32_t hashed = first + (wanted.hash & (pages_of_block - 1));
    const std::uint32_t end = first + pages_of_block < open_end ? first + pages_of_block : open_end;
    if (first < pages().first_page()) first = pages().first_page();
    return {first, hashed >= first && hashed < end ? hashed : first, end};
  }

  // The page at which a full sweep begins: that of the hash, in all that is open.
  WARPHEAP_FN static std::uint32_t start_of(const request& wanted, std::uint32_t first, std::uint32_t end) {
    return first + static_cast<std::uint32_t>(std::uint64_t{spread(wanted.hash)} * (end - first) >> 32);
  }

  // Quick sweeps of a few access blocks, of the first from page `at` on and around. Null for lanes that found nothing.
  // Collective.
  WARPHEAP_COLD_FN void* sweep_blocks(lane_mask group, request wanted, std::uint32_t at) const {
    const std::uint32_t open_end = shuffle(group, pages().open_end(), leader(group));
    const std::uint32_t current = pages().block_of(at);
    std::uint32_t number = current;
    void* block = nullptr;
    for (std::uint32_t i = 0; i < Table::options.quick_blocks; ++i, ++number) {
      scatter_range all = block_range(number, wanted, open_end);
      if (all.first >= all.end) break;
      if (i == 0 && at >= all.first && at < all.end) all.start = at;
      block = sweep_.sweep(group, wanted, all, true, block).block;
      if (sweep_type::all_served(group, block)) {
        // Later requests begin where this one found chunks. Relaxed: a hint.
        if (number != current && is_leader(group)) {
          atomic_view{pages().shared().current}.store(number, memory_order::relaxed, thread_scope::device);
        }
        break;
      }
    }
    return block;
  }

  // A chunk for each lane of `group`, after searches of everything; null for lanes that are refused. Collective.
  //
  // A search is repeated as long as another thread has memory in hand, which may be a lane of another group of this
  // warp. So the lanes that came together and are to search again begin each search together: what a search takes in
  // hand, its pages and the lock to open them, it gives back before the ballot. A lane that leaves has nothing in hand.
  WARPHEAP_COLD_FN void* take_slowly(lane_mask group, request wanted) const {
    lane_mask together = active_group();
    scatter_quiescence::retry_limits more;
    searched got{nullptr, true};
    for (backoff wait;; wait.pause(), wait.end()) {  // a search is work, however long
      got = search_once(group, wanted, got.block, more);
      together = ballot(together, got.again);
      if (!got.again) break;
    }
    sync(group);
    return got.block;
  }

  // One search of everything, for lanes of `group` whose `block` is null. Collective.
  WARPHEAP_COLD_FN searched search_once(lane_mask group, request wanted, void* block,
                                        scatter_quiescence::retry_limits& more) const {
    const scatter_quiescence changes = pages().changes();
    scatter_snapshot before = changes.begin_search();
    if (any(group, is_leader(group) && changes.is_refused(wanted.size.units, before.freed))) return {block, false};
    const std::uint32_t opened = shuffle(group, count_opened(), leader(group));
    const std::uint32_t open_end = shuffle(group, pages().open_end(), leader(group));
    const std::uint32_t first = pages().first_page();
    bool settled = true;
    if (first < open_end) {
      const scatter_range everything{first, start_of(wanted, first, open_end), open_end};
      const scatter_served got = sweep_.sweep(group, wanted, everything, false, block);
      block = got.block;
      settled = got.settled;
    }
    if (sweep_type::all_served(group, block)) return {block, false};
    const opening result = open_block(group, opened);
    if (result == opening::done) return {block, true};
    before.unsettled = !all(group, settled) || result != opening::nothing;
    bool again = false;
    if (is_leader(group)) {
      // A refusal of chunks with an alignment tells nothing of others, so it is not noted.
      const bool noted = wanted.alignment <= scatter_chunk_size::unit_bytes;
      again = changes.shall_retry(noted ? wanted.size.units : scatter_quiescence::unnoted, before, more);
    }
    return {block, any(group, again)};
  }

  // Takes an access block, or the largest part of one, of 2^`order` pages, with the change begun; `none` if it got
  // nothing. One lane.
  WARPHEAP_COLD_FN std::uint32_t take_pages(const page_source& source, std::uint32_t& order) const {
    pages().changes().begin_change();
    std::uint32_t page = page_source::none;
    for (std::uint32_t wanted = pages().block_shift() + 1; wanted-- != 0 && page == page_source::none;) {
      if (!source.refuses(wanted)) page = source.take(wanted, retry_limit{2});
    }
    if (page == page_source::none) {
      pages().changes().end_change();
    } else {
      order = source.forget(page);
    }
    return page;
  }

  // Opens an access block, or the largest part of one that the page source has. Collective. `opened` is what the caller
  // saw before its sweep: if others opened one since, that is `done`, too.
  WARPHEAP_COLD_FN opening open_block(lane_mask group, std::uint32_t opened) const {
    auto& shared = pages().shared();
    std::uint32_t page = page_source::none;
    std::uint32_t order = 0;
    opening result = opening::unsure;
    if (is_leader(group)) {
      const page_source source = pages().source();
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
      pages().table().open(group, page, 1u << order);
      sync(group);
      if (is_leader(group)) {
        pages().raise_open_end(page + (1u << order));
        // Relaxed: hints for those that search.
        atomic_view{shared.current}.store(pages().block_of(page), memory_order::relaxed, thread_scope::device);
        atomic_view{shared.opened}.fetch_add(1, memory_order::relaxed, thread_scope::device);
        pages().changes().end_change();
        shared.opening.release();
      }
      result = opening::done;
    }
    return static_cast<opening>(shuffle(group, static_cast<std::uint32_t>(result), leader(group)));
  }

  sweep_type sweep_;
};

}  // namespace warpheap::detail
