// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/halloc/detail/heads.hpp>
#include <warpheap/platform/device.hpp>

namespace warpheap::detail {

/// The slow path of malloc: what the head at home lacks is drawn from another head, from a slab that becomes the head,
/// or taken as a page. Fully free slabs and heads of other classes give way before a request is refused.
///
/// Invariant: null means that a search was proof of exhaustion (`halloc_quiescence`), or that another thread noted such
/// a proof and nothing was freed since.
template <class Layout>
class halloc_search {
 public:
  using classes = typename Layout::classes;
  using outcome = typename halloc_heads<Layout>::outcome;

  WARPHEAP_FN explicit halloc_search(const arena& from) : heads_(from) {}
  WARPHEAP_FN const halloc_heads<Layout>& heads() const { return heads_; }
  WARPHEAP_FN const halloc_slabs<Layout>& slabs() const { return heads_.slabs(); }
  WARPHEAP_FN const halloc_pages<Layout>& pages() const { return heads_.pages(); }
  WARPHEAP_FN halloc_quiescence<Layout> quiescence() const { return slabs().quiescence(); }

  /// What a search found: units of a slab for the group, or else a page for some lanes. Neither: memory is refused.
  struct result {
    halloc_draw draw;
    std::uint32_t page;  // the caller's, or `page_source::none`
  };

  /// Finds up to `wanted` units of class `c`. Collective over `group`, the lanes that lack a block.
  WARPHEAP_COLD_FN result find(lane_mask group, std::uint32_t c) const {
    const auto wanted = static_cast<std::uint32_t>(group_size(group));
    const std::uint32_t h = shuffle(group, heads_.home(), leader(group));
    const result nothing{{0, 0, 0, false}, page_source::none};
    if (any(group, is_leader(group) && quiescence().is_refused(c))) return nothing;
    halloc_snapshot before{};
    bool searched = false;  // since the snapshot
    // All lanes of `group` meet in each turn. What others wait for is done before: a replacement ends within `replace`.
    for (backoff wait;; wait.pause()) {
      outcome how{};
      halloc_draw got = heads_.draw_anywhere(group, c, h, wanted);
      if (got.units == 0) got = heads_.replace(group, c, h, wanted, how);
      if (got.units != 0) return {got, page_source::none};
      if (how != outcome::nothing) continue;
      if (!searched) {  // from here on each turn may become the proof
        if (is_leader(group)) before = quiescence().begin_search();
        sync(group);  // what all lanes read from here on comes after it
        searched = true;
        continue;
      }
      searched = false;
      if (any(group, is_leader(group) && heads_.flush(c))) continue;
      const std::uint32_t page = pages().source().take(group, 0);
      if (any(group, page != page_source::none)) return {{0, 0, 0, false}, page};
      if (is_proof(group, before, [c](const slab_entry::contents& seen) {
            return seen.size_class == c ? seen.free != 0 : seen.free == seen.capacity;
          })) {
        if (is_leader(group)) quiescence().note_refusal(c, before);
        return nothing;
      }
    }
  }

  /// Finds a block of 2^`order` pages, for which heads and fully free slabs give way; `page_source::none` if memory is
  /// refused. One lane.
  WARPHEAP_COLD_FN std::uint32_t find_pages(std::uint32_t order) const {
    if (order > page_source::largest_order) return page_source::none;
    const std::uint32_t what = classes::count + order;
    if (quiescence().is_refused(what)) return page_source::none;
    for (backoff wait;; wait.pause()) {
      const halloc_snapshot before = quiescence().begin_search();
      const std::uint32_t page = pages().source().take(order);
      if (page != page_source::none) return page;
      if (heads_.flush(classes::count) || slabs().dissolve_free()) continue;
      if (is_proof(lane_bit(), before, [](const slab_entry::contents& seen) { return seen.free == seen.capacity; })) {
        quiescence().note_refusal(what, before);
        return page_source::none;
      }
    }
  }

 private:
  // True if nothing moved since the leader's snapshot, no head has tickets, and no entry is as `serves` says.
  template <class Serves>
  WARPHEAP_FN bool is_proof(lane_mask group, const halloc_snapshot& before, Serves serves) const {
    if (heads_.any_tickets(group) || slabs().any_entry(group, serves)) return false;
    sync(group);  // what all lanes read comes before the leader's second readings
    return any(group, is_leader(group) && quiescence().was_quiet(before));
  }

  halloc_heads<Layout> heads_;
};

}  // namespace warpheap::detail
