// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/halloc/detail/heads.hpp>
#include <warpheap/platform/device.hpp>

namespace warpheap::detail {

/// The slow path of malloc: what the head at home lacks is drawn from another head, from a slab that becomes the head,
/// from a busy slab, or taken as a page. Fully free slabs, and heads of other classes that hand out no block, give way
/// before a request is refused.
///
/// Invariant: null means that a search was proof of exhaustion (`search_proof`); or that another thread noted such
/// a proof and nothing was freed since; or that a limited number of searches found nothing while others took and freed
/// during each.
///
/// Lanes of a warp that come together search in turns. In a turn each class or order does one search, and no lane
/// begins the next turn before all have ended theirs. So what a lane waits for is done by lanes of its warp within a
/// turn, however the hardware schedules them: a replacement of a head, and a change, begin and end within a turn.
template <class Layout>
class halloc_search {
 public:
  using classes = typename Layout::classes;
  using outcome = typename halloc_heads<Layout>::outcome;

  WARPHEAP_FN explicit halloc_search(const arena& from) : heads_(from) {}
  WARPHEAP_FN const halloc_heads<Layout>& heads() const { return heads_; }
  WARPHEAP_FN const halloc_slabs<Layout>& slabs() const { return heads_.slabs(); }
  WARPHEAP_FN const halloc_pages<Layout>& pages() const { return heads_.pages(); }
  WARPHEAP_FN auto quiescence() const { return slabs().quiescence(); }

  /// A block of class `c` for the caller, or null. Collective over `together`, whose lanes may want different classes
  /// and use different heaps.
  WARPHEAP_COLD_FN void* find(lane_mask together, std::uint32_t c) const {
    const lane_mask peers = match(together, pages().key() | c);
    const halloc_search self = *this;
    return search_in_turns(together, peers,
                           [self, c](lane_mask waiting, bool) { return self.search_blocks(waiting, c); });
  }
  /// A block of 2^`order` pages for the caller, for which heads and fully free slabs give way, or null. Collective over
  /// `together`, whose lanes may want different orders and use different heaps.
  WARPHEAP_COLD_FN void* find_pages(lane_mask together, std::uint32_t order) const {
    static_assert(page_source::largest_order < alignof(typename Layout::control));  // the key leaves room for the order
    const lane_mask peers = match(together, pages().key() | order);
    const halloc_search self = *this;
    return search_in_turns(together, peers,
                           [self, order](lane_mask waiting, bool) { return self.search_pages(waiting, order); });
  }

 private:
  using course = search_course;

  // One search for blocks of class `c` for the lanes of `group`. Collective.
  WARPHEAP_COLD_FN search_result search_blocks(lane_mask group, std::uint32_t c) const {
    const auto wanted = static_cast<std::uint32_t>(group_size(group));
    const std::uint32_t h = shuffle(group, heads_.home(), leader(group));
    search_snapshot before{};
    outcome how = outcome::waits;
    halloc_draw got = heads_.draw_anywhere(group, c, h, wanted);
    // While another thread replaces the head, few words are read in a turn: thousands of threads may come so.
    if (got.permits == 0 && !any(group, is_leader(group) && heads_.is_locked(c, h))) {
      if (quiescence().begins_refused(group, c, before)) return {nullptr, course::quiescent};
      got = heads_.replace(group, c, h, wanted, how);
    }
    if (got.permits == 0) got = heads_.draw_busy(group, c, wanted);
    if (got.permits != 0) {
      const bool holds = static_cast<std::uint32_t>(group_rank(group)) < got.permits;
      const lane_mask holders = ballot(group, holds);
      void* const block = holds ? slabs().claim(holders, c, got.page, got.start) : nullptr;
      return {block, course::pending};
    }
    // A thread that replaces the head is about to have permits.
    if (how != outcome::nothing) return {nullptr, course::pending};
    if (heads_.flush_unused(group, c, false)) return {nullptr, course::moved};
    const std::uint32_t page = pages().source().take(group, 0, retry_limit{2});
    if (any(group, page != page_source::none)) return {block_of(page), course::pending};
    const course seen = course_of(group, before, 0, c);
    if (seen == course::quiescent && is_leader(group)) quiescence().note_refusal(c, before);
    return {nullptr, seen};
  }

  // One search for blocks of 2^`order` pages for the lanes of `group`. Collective.
  WARPHEAP_COLD_FN search_result search_pages(lane_mask group, std::uint32_t order) const {
    if (order > page_source::largest_order) return {nullptr, course::quiescent};
    const std::uint32_t what = classes::count + order;
    search_snapshot before{};
    if (quiescence().begins_refused(group, what, before)) return {nullptr, course::quiescent};
    const std::uint32_t page = pages().source().take(group, order, retry_limit{2});
    if (any(group, page != page_source::none)) return {block_of(page), course::pending};
    const bool flushed = heads_.flush_unused(group, classes::count, false);
    sync(group);  // the leader finds the slabs that other lanes took back
    if (any(group, is_leader(group) && slabs().dissolve_free()) || flushed) return {nullptr, course::moved};
    const course seen = course_of(group, before, order, classes::count);
    if (seen == course::quiescent && is_leader(group)) quiescence().note_refusal(what, before);
    return {nullptr, seen};
  }

  WARPHEAP_FN void* block_of(std::uint32_t page) const {
    return page == page_source::none ? nullptr : reinterpret_cast<void*>(pages().address_of(page));
  }

  // What happened since the leader's snapshot, in a search that found neither a block of class `c` nor one of 2^`order`
  // pages. If it was quiescent, heads and entries are looked at before it counts as proof. Collective.
  WARPHEAP_COLD_FN course course_of(lane_mask group, const search_snapshot& before, std::uint32_t order,
                                    std::uint32_t c) const {
    auto seen = course::pending;
    // The source refuses if it has none for certain. The counts first: mostly they tell, and that is a few loads.
    if (is_leader(group)) seen = quiescence().since(before);
    if (is_leader(group) && seen == course::quiescent && !pages().source().refuses(order)) seen = course::moved;
    seen = broadcast(group, seen);
    if (seen != course::quiescent) return seen;
    const auto serves = [c](const slab_entry::contents& entry) {
      return entry.size_class == c ? entry.free != 0 : entry.free == entry.capacity;
    };
    if (heads_.flush_unused(group, c, true) || heads_.any_serves(group, c) || slabs().any_entry(group, serves)) {
      return course::moved;
    }
    sync(group);  // what all lanes read comes before the leader's second readings
    if (is_leader(group)) seen = quiescence().since(before);
    return broadcast(group, seen);
  }
  WARPHEAP_FN static course broadcast(lane_mask group, course seen) {
    return static_cast<course>(shuffle(group, static_cast<std::uint32_t>(seen), leader(group)));
  }

  halloc_heads<Layout> heads_;
};

}  // namespace warpheap::detail
