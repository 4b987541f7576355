// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/kma/detail/currents.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::detail {

/// The slow path of malloc: what the current superblock lacks comes from a listed one, from a free one, from the
/// current ones of other stripes; free superblocks become pages again before a block of pages is refused.
///
/// Invariant: null means that a search was proof of exhaustion (`search_proof`); or that another thread noted such a
/// proof and nothing was freed since; or that a limited number of searches found nothing while others took and freed
/// during each.
///
/// Lanes of a warp that come together search in turns. In a turn each class or order does one search, and no lane
/// begins the next turn before all have ended theirs: a change begins and ends within a turn.
template <class Layout>
class kma_search {
 public:
  using classes = typename Layout::classes;
  static constexpr std::uint32_t none = page_source::none;

  WARPHEAP_FN explicit kma_search(const arena& from) : currents_(from) {}
  WARPHEAP_FN const kma_currents<Layout>& currents() const { return currents_; }
  WARPHEAP_FN const kma_lists<Layout>& lists() const { return currents_.lists(); }
  WARPHEAP_FN const kma_superblocks<Layout>& superblocks() const { return currents_.superblocks(); }
  WARPHEAP_FN const kma_pages<Layout>& pages() const { return currents_.pages(); }
  WARPHEAP_FN auto quiescence() const { return currents_.quiescence(); }

  /// A block of class `c` for the caller, or null. Collective over `together`, whose lanes may want different classes
  /// and use different heaps.
  WARPHEAP_COLD_FN void* find(lane_mask together, std::uint32_t c) const {
    const lane_mask peers = match(together, pages().key() | c);
    const kma_search self = *this;
    return search_in_turns(together, peers,
                           [self, c](lane_mask waiting, bool) { return self.search_blocks(waiting, c); });
  }
  /// A block of 2^`order` pages for the caller, for which all free superblocks give way, or null. Collective over
  /// `together`, whose lanes may want different orders and use different heaps.
  WARPHEAP_COLD_FN void* find_pages(lane_mask together, std::uint32_t order) const {
    static_assert(page_source::largest_order < alignof(typename Layout::control));  // the key leaves room for the order
    const lane_mask peers = match(together, pages().key() | order);
    const kma_search self = *this;
    return search_in_turns(together, peers,
                           [self, order](lane_mask waiting, bool) { return self.search_pages(waiting, order); });
  }

  /// Blocks of free superblocks for lanes of `group`, or null; a superblock with blocks left becomes the current one.
  /// Collective.
  WARPHEAP_COLD_FN void* take_free(lane_mask group, std::uint32_t c) const {
    const bool tries = is_leader(group) && superblocks().may_have_free();
    if (!any(group, tries)) return nullptr;
    if (tries) quiescence().begin_change();
    sync(group);
    const auto lanes = static_cast<std::uint32_t>(group_size(group));
    const std::uint32_t first = static_cast<std::uint32_t>(group_rank(group)) * classes::capacity(c);
    const bool makes = first < lanes;
    const lane_mask makers = ballot(group, makes);
    std::uint32_t page = none;
    std::uint32_t permits = 0;
    if (makes) page = superblocks().take(makers);
    if (page != none) {
      permits = lanes - first < classes::capacity(c) ? lanes - first : classes::capacity(c);
      superblocks().assign(page, c, permits);
      if (permits != classes::capacity(c)) currents_.adopt(page, c);
    }
    const dealt mine = deal(group, group, permits);
    page = shuffle(group, page, mine.served() ? mine.source : lane_index());
    sync(group);  // what the makers acquired; and what they made can be found
    if (tries) quiescence().end_change();
    return mine.served() ? superblocks().block_at(page, c, mine.index) : nullptr;
  }

 private:
  using course = search_course;

  // One search for blocks of class `c` for the lanes of `group`. Collective.
  WARPHEAP_COLD_FN search_result search_blocks(lane_mask group, std::uint32_t c) const {
    void* block = take_any(group, c, false);
    if (any(group, block != nullptr)) return {block, course::pending};
    search_snapshot before{};
    if (quiescence().begins_refused(group, c, before)) return {nullptr, course::quiescent};
    block = take_any(group, c, true);
    if (any(group, block != nullptr)) return {block, course::pending};
    return refuse(group, c, before, 0);
  }
  // One search for blocks of 2^`order` pages for the lanes of `group`. Collective.
  WARPHEAP_COLD_FN search_result search_pages(lane_mask group, std::uint32_t order) const {
    if (order > page_source::largest_order) return {nullptr, course::quiescent};
    const std::uint32_t what = classes::count + order;
    search_snapshot before{};
    if (quiescence().begins_refused(group, what, before)) return {nullptr, course::quiescent};
    const std::uint32_t page = pages().source().take(group, order, retry_limit{2});
    if (any(group, page != none)) {
      return {page == none ? nullptr : reinterpret_cast<void*>(pages().address_of(page)), course::pending};
    }
    if (superblocks().flush(group)) return {nullptr, course::moved};
    return refuse(group, what, before, order);
  }

  // Blocks for lanes of `group`: of the current superblock, and for those that it lacks blocks for of listed ones, and
  // then of free ones unless the lists have more. If no lane got one, of any current one if `all`. Collective.
  WARPHEAP_COLD_FN void* take_any(lane_mask group, std::uint32_t c, bool all) const {
    kma_draw got{0, 0, 0};
    if (is_leader(group)) got = currents_.draw(c, currents_.home(), static_cast<std::uint32_t>(group_size(group)));
    void* block = take_drawn(group, c, got);
    bool has_more = false;
    const lane_mask lacking = ballot(group, block == nullptr);
    if (block == nullptr) block = take_listed(lacking, c, has_more);
    const lane_mask rest = ballot(group, block == nullptr && !has_more);
    if (block == nullptr && !has_more) block = take_free(rest, c);
    if (!all || any(group, block != nullptr)) return block;
    if (is_leader(group)) got = currents_.draw_any(c, static_cast<std::uint32_t>(group_size(group)));
    return take_drawn(group, c, got);
  }
  // Blocks of listed superblocks. As many lanes look as it takes if each finds a quarter of a superblock, from where
  // their numbers tell. What the leader leaves of a large superblock becomes the current one. `has_more`: each lane
  // that looked found something. Collective.
  WARPHEAP_COLD_FN void* take_listed(lane_mask group, std::uint32_t c, bool& has_more) const {
    constexpr std::uint32_t few = 8;
    const std::uint32_t share = (classes::capacity(c) + 3) / 4;
    const auto lanes = static_cast<std::uint32_t>(group_size(group));
    const std::uint32_t before = static_cast<std::uint32_t>(group_rank(group)) * share;
    std::uint32_t left = 0;
    kma_draw got{0, 0, 0};
    if (before < lanes) {
      const std::uint32_t wanted = lanes - before < share ? lanes - before : share;
      got = lists().take(c, wanted, static_cast<std::uint32_t>(grid_thread_index()), left);
      if (is_leader(group) && classes::capacity(c) > few && got.permits != 0 && left != 0) {
        quiescence().begin_change();
        lists().unlist(got.page, c);
        currents_.adopt(got.page, c);
        quiescence().end_change();
      }
    }
    sync(group);  // passes on what the lanes that looked acquired
    has_more = all(group, before >= lanes || got.permits != 0);
    const dealt mine = deal(group, group, got.permits);
    const int source = mine.served() ? mine.source : lane_index();
    got = {shuffle(group, got.page, source), shuffle(group, got.permits, source), shuffle(group, got.start, source)};
    const lane_mask served = ballot(group, mine.served());
    return mine.served() ? superblocks().claim(match(served, mine.source), got, c) : nullptr;
  }
  // A block for each of the lowest lanes of `group`, as many as the leader's draw has permits. Collective.
  WARPHEAP_COLD_FN void* take_drawn(lane_mask group, std::uint32_t c, kma_draw got) const {
    sync(group);  // passes on what the leader acquired
    got = {shuffle(group, got.page, leader(group)), shuffle(group, got.permits, leader(group)),
           shuffle(group, got.start, leader(group))};
    const bool holds = static_cast<std::uint32_t>(group_rank(group)) < got.permits;
    const lane_mask holders = ballot(group, holds);
    return holds ? superblocks().claim(holders, got, c) : nullptr;
  }

  // The result of a search that found neither a block of a class nor one of 2^`order` pages, and a note if it is proof.
  // Collective.
  WARPHEAP_COLD_FN search_result refuse(lane_mask group, std::uint32_t what, const search_snapshot& before,
                                        std::uint32_t order) const {
    auto seen = course::moved;
    sync(group);  // what all lanes read comes before the leader's second readings
    if (is_leader(group)) {
      // The source refuses if it has none for certain, and the ring is looked at once more.
      const bool serves = !pages().source().refuses(order) || pages().ring().size() != 0;
      seen = quiescence().since(before);
      if (seen == course::quiescent && serves) seen = course::moved;
      if (seen == course::quiescent) quiescence().note_refusal(what, before);
    }
    return {nullptr, static_cast<course>(shuffle(group, static_cast<std::uint32_t>(seen), leader(group)))};
  }

  kma_currents<Layout> currents_;
};

}  // namespace warpheap::detail
