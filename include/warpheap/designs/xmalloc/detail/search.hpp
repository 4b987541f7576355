// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/xmalloc/detail/direct.hpp>
#include <warpheap/designs/xmalloc/detail/superblocks.hpp>
#include <warpheap/platform/device.hpp>

namespace warpheap::detail {

/// The slow path of malloc: what the queue at home lacks comes from the other queues of the class, from a superblock,
/// from the source of pages; and free blocks in the queues of other classes give way before a request is refused.
///
/// Invariant: null means that a search was proof of exhaustion (`search_proof`); or that another thread noted
/// such a proof and nothing was freed since; or that a limited number of searches found nothing while others took and
/// freed during each.
///
/// Lanes of a warp that come together search in turns. In a turn each class or order does one search, and no lane
/// begins the next turn before all have ended theirs. So what a lane waits for is done by lanes of its warp within a
/// turn, however the hardware schedules them: a change begins and ends within a turn.
template <class Layout>
class xmalloc_search {
 public:
  using blocks_type = std::conditional_t<Layout::has_superblocks, xmalloc_superblocks<Layout>, xmalloc_direct<Layout>>;
  static constexpr std::uint32_t none = blocks_type::none;

  WARPHEAP_FN explicit xmalloc_search(const arena& from) : blocks_(from) {}
  WARPHEAP_FN const blocks_type& blocks() const { return blocks_; }
  WARPHEAP_FN const xmalloc_lists<Layout>& lists() const { return blocks_.lists(); }
  WARPHEAP_FN const xmalloc_pages<Layout>& pages() const { return blocks_.pages(); }
  WARPHEAP_FN auto quiescence() const { return blocks_.quiescence(); }

  /// A block of class `c` for the caller, or null. Collective over `together`, whose lanes may want different classes
  /// and use different heaps.
  WARPHEAP_COLD_FN void* find(lane_mask together, std::uint32_t c) const {
    const lane_mask peers = match(together, pages().key() | c);
    const xmalloc_search self = *this;
    return search_in_turns(together, peers,
                           [self, c](lane_mask waiting, bool last) { return self.search_blocks(waiting, c, last); });
  }
  /// A block of 2^`order` pages for the caller, for which all free basic blocks give way, or null. Collective over
  /// `together`, whose lanes may want different orders and use different heaps.
  WARPHEAP_COLD_FN void* find_pages(lane_mask together, std::uint32_t order) const {
    static_assert(page_source::largest_order < alignof(typename Layout::control));  // the key leaves room for the order
    const lane_mask peers = match(together, pages().key() | order);
    const xmalloc_search self = *this;
    return search_in_turns(together, peers,
                           [self, order](lane_mask waiting, bool) { return self.search_pages(waiting, order); });
  }

 private:
  using course = search_course;

  // One search for blocks of class `c` for the lanes of `group`; `last`: the lanes may be refused if it finds none.
  // Collective.
  WARPHEAP_COLD_FN search_result search_blocks(lane_mask group, std::uint32_t c, bool last) const {
    std::uint32_t number = lists().pop(group, c);
    if (any(group, number != none)) return {block_of(number), course::pending};
    search_snapshot before{};
    if (quiescence().begins_refused(group, c, before)) return {nullptr, course::quiescent};
    number = blocks_.refill(group, c);
    if (any(group, number != none)) return {block_of(number), course::pending};
    if (flush(group, c)) return {nullptr, course::moved};
    if constexpr (Layout::has_superblocks) {
      // Too little for a superblock may be enough for a block, which wastes most of a page. So it must be certain that
      // there is no superblock, unless nothing is certain here.
      const course seen = course_of(group, before, c, Layout::source_order(c));
      if (seen != course::quiescent && !last) return {nullptr, seen};
      const std::uint32_t page = pages().source().take(group, Layout::block_order(c), retry_limit{2});
      if (any(group, page != page_source::none)) return {pages_at(page), course::pending};
    }
    return refuse(group, c, before, c, Layout::block_order(c));
  }

  // One search for blocks of 2^`order` pages for the lanes of `group`. Collective.
  WARPHEAP_COLD_FN search_result search_pages(lane_mask group, std::uint32_t order) const {
    if (order > page_source::largest_order) return {nullptr, course::quiescent};
    const std::uint32_t what = Layout::classes + order;
    search_snapshot before{};
    if (quiescence().begins_refused(group, what, before)) return {nullptr, course::quiescent};
    const std::uint32_t page = pages().source().take(group, order, retry_limit{2});
    if (any(group, page != page_source::none)) return {pages_at(page), course::pending};
    if (flush(group, none)) return {nullptr, course::moved};
    return refuse(group, what, before, none, order);
  }

  WARPHEAP_FN void* block_of(std::uint32_t number) const {
    return number == none ? nullptr : reinterpret_cast<void*>(pages().address_of_block(number));
  }
  WARPHEAP_FN void* pages_at(std::uint32_t page) const {
    return page == page_source::none ? nullptr : reinterpret_cast<void*>(pages().address_of(page));
  }

  // Gives the free blocks in the queues of all classes but `kept` back to the part below; true if there were any. A
  // queue is emptied of what it has at first, so pushes of others do not prolong it. Collective.
  WARPHEAP_COLD_FN bool flush(lane_mask group, std::uint32_t kept) const {
    if (!any(group, is_leader(group) && has_listed(kept))) return false;
    if (is_leader(group)) quiescence().begin_change();
    sync(group);
    bool found = false;
    for (std::uint32_t c = 0; c < Layout::classes; ++c) {
      if (c == kept) continue;
      for (std::uint32_t i = 0; i < Layout::lists; ++i) {
        if (flush_list(group, c, i)) found = true;
      }
    }
    sync(group);
    if (is_leader(group)) quiescence().end_change();
    return found;
  }
  WARPHEAP_FN bool flush_list(lane_mask group, std::uint32_t c, std::uint32_t list) const {
    const index_ring from = pages().list(c, list);
    const auto lanes = static_cast<std::uint32_t>(group_size(group));
    std::uint32_t left = shuffle(group, from.size(), leader(group));
    bool found = false;
    while (left != 0) {
      std::uint32_t number = none;
      from.pop(group, number);
      const lane_mask holders = ballot(group, number != none);
      if (holders == 0) break;
      if (number != none) blocks_.give(holders, c, number);
      found = true;
      left -= left < lanes ? left : lanes;
    }
    return found;
  }
  WARPHEAP_FN bool has_listed(std::uint32_t kept) const {
    for (std::uint32_t c = 0; c < Layout::classes; ++c) {
      if (c != kept && lists().size(c) != 0) return true;
    }
    return false;
  }

  // What happened since the leader's snapshot, in a search that found neither a block of class `c` nor one of 2^`order`
  // pages. Collective.
  WARPHEAP_COLD_FN course course_of(lane_mask group, const search_snapshot& before, std::uint32_t c,
                                    std::uint32_t order) const {
    auto seen = course::moved;
    sync(group);  // what all lanes read comes before the leader's second readings
    if (is_leader(group)) {
      // The source refuses if it has none for certain, and the queues are looked at once more.
      const bool serves = !pages().source().refuses(order) || has_listed(none) || (c != none && blocks_.may_serve(c));
      seen = quiescence().since(before);
      if (seen == course::quiescent && serves) seen = course::moved;
    }
    return static_cast<course>(shuffle(group, static_cast<std::uint32_t>(seen), leader(group)));
  }
  // The result of such a search, and a note if it is proof. Collective.
  WARPHEAP_COLD_FN search_result refuse(lane_mask group, std::uint32_t what, const search_snapshot& before,
                                        std::uint32_t c, std::uint32_t order) const {
    const course seen = course_of(group, before, c, order);
    if (seen == course::quiescent && is_leader(group)) quiescence().note_refusal(what, before);
    return {nullptr, seen};
  }

  blocks_type blocks_;
};

}  // namespace warpheap::detail
