// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/scatter/detail/pages.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::detail {

/// Blocks of 2^k pages, for requests above half a page: from the page source, which gets back empty pages that are open
/// for chunks when it has no block. (The paper scans for such pages backwards, one thread at a time.)
///
/// Invariant: a block is refused only after the page source had none, all empty pages were closed, and it still had
/// none, while nothing moved and nothing was freed; or after a limited number of such searches, none of which met
/// memory that another thread had in hand. Searches that met such memory are repeated without a limit: see
/// `scatter_quiescence::shall_retry`.
template <class Table>
class scatter_large {
 public:
  using pages_type = scatter_pages<Table>;

  WARPHEAP_FN explicit scatter_large(const pages_type& pages) : pages_(pages) {}

  /// A block of at least `bytes` bytes for the caller, or null. Collective over lanes that come together.
  WARPHEAP_COLD_FN void* take_block(std::uint64_t bytes) const {
    if (bytes > Table::largest_page_bytes << page_source::largest_order) return nullptr;
    const std::uint32_t order = page_source::order_for(((bytes - 1) >> pages_.shift()) + 1);
    if (order > page_source::largest_order) return nullptr;
    static_assert(page_source::largest_order < alignof(typename pages_type::control));  // the key has room for it
    const lane_mask group = match(active_group(), pages_.key() | order);
    std::uint32_t page = page_source::none;
    const bool refused = is_leader(group) && pages_.changes().is_refused(number_of(order), pages_.changes().freed());
    if (!any(group, refused)) page = search(group, order);
    sync(group);
    return page != page_source::none ? reinterpret_cast<void*>(pages_.address_of(page)) : nullptr;
  }

  /// Gives back the block at `page`. Collective over lanes that come together.
  WARPHEAP_COLD_FN void give_block(std::uint32_t page) const {
    const lane_mask group = match(active_group(), pages_.key());
    pages_.source().give(group, page);
    if (is_leader(group)) pages_.changes().note_free();
    sync(group);  // no lane returns before the note: an old refusal would still hold for it
  }

 private:
  WARPHEAP_FN static std::uint32_t number_of(std::uint32_t order) { return 8000 + order; }
  static_assert(8000 + page_source::largest_order < scatter_quiescence::unnoted);

  // The page of a block for each lane of `group`, or `none`. Collective.
  //
  // A search is repeated as long as another thread has memory in hand, which may be a lane of another group of this
  // warp. So the lanes that came together and are to search again begin each search together: pages that a search takes
  // in hand are closed, given to the source or open again before the ballot. A lane that leaves has nothing in hand.
  WARPHEAP_COLD_FN std::uint32_t search(lane_mask group, std::uint32_t order) const {
    const page_source source = pages_.source();
    const scatter_quiescence changes = pages_.changes();
    std::uint32_t page = source.take(group, order, retry_limit{2});
    lane_mask waiting = ballot(group, page == page_source::none);
    if (page != page_source::none || waiting == 0) return page;
    lane_mask together = active_group();
    scatter_quiescence::retry_limits more;
    // The lanes of `waiting` have no block. A search is work, however long.
    for (backoff wait;; wait.pause(), wait.end()) {
      const scatter_snapshot before = changes.begin_search();
      page = source.take(waiting, order, retry_limit{2});
      waiting = ballot(waiting, page == page_source::none);
      const bool again = page == page_source::none && shall_search(waiting, order, before, more);
      together = ballot(together, again);
      if (!again) return page;
    }
  }

  // After a search of the source in vain, which `before` began: closes empty pages if there are any. True if the lanes
  // of `group` are to search again. Collective; one answer for all lanes.
  WARPHEAP_COLD_FN bool shall_search(lane_mask group, std::uint32_t order, scatter_snapshot before,
                                     scatter_quiescence::retry_limits& more) const {
    bool settled = true;
    bool again = has_empty_pages(group, settled);
    if (again) {
      close_pages(group, order);
    } else if (is_leader(group)) {
      before.unsettled = !settled || !pages_.source().refuses(order);
      again = pages_.changes().shall_retry(number_of(order), before, more);
    }
    return any(group, again);
  }

  // True if a page that is open for chunks seems to be empty. `settled` becomes false if a page is about to change what
  // it is. Collective; one answer for all lanes.
  WARPHEAP_COLD_FN bool has_empty_pages(lane_mask group, bool& settled) const {
    const Table table = pages_.table();
    const std::uint32_t end = shuffle(group, pages_.open_end(), leader(group));
    bool all_settled = true;
    for (std::uint32_t at = pages_.first_page(); at < end;) {  // not a spin: each turn goes on to later pages
      std::uint32_t budget = 0;
      const scatter_row here = table.row(group, at, end, false, budget);
      const std::uint32_t page = here.page(static_cast<std::uint32_t>(group_rank(group)));
      scatter_look seen = scatter_look::nothing();
      if (page != scatter_row::none) seen = table.look(page);
      all_settled = all_settled && seen.settled();
      if (any(group, seen.is_empty())) return true;
      at = here.next(static_cast<std::uint32_t>(group_size(group)), end);
    }
    settled = all(group, all_settled);
    return false;
  }

  // Closes empty pages, a few times as many as a block for each lane of `group` has, or all. From the highest access
  // block downwards, since chunks are sought from the lowest on. Collective.
  WARPHEAP_COLD_FN void close_pages(lane_mask group, std::uint32_t order) const {
    const std::uint32_t end = shuffle(group, pages_.open_end(), leader(group));
    const std::uint64_t wanted = std::uint64_t{4} * static_cast<std::uint32_t>(group_size(group)) << order;
    if (is_leader(group)) pages_.changes().begin_change();
    sync(group);
    std::uint64_t closed = 0;
    for (std::uint32_t block = end == 0 ? 0 : pages_.block_of(end - 1) + 1; block-- != 0 && closed < wanted;) {
      std::uint32_t first = block << pages_.block_shift();
      const std::uint32_t upto = first + (1u << pages_.block_shift());
      if (first < pages_.first_page()) first = pages_.first_page();
      if (first < upto) closed += pages_.table().close(group, pages_.source(), first, upto < end ? upto : end);
    }
    sync(group);
    if (is_leader(group)) pages_.changes().end_change();
  }

  pages_type pages_;
};

}  // namespace warpheap::detail
