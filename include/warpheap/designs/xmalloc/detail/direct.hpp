// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/xmalloc/detail/lists.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::detail {

/// What is below the first level of `xmalloc_flat`: basic blocks come from the source of pages, one by one.
template <class Layout>
class xmalloc_direct {
 public:
  static constexpr std::uint32_t none = xmalloc_lists<Layout>::none;

  WARPHEAP_FN explicit xmalloc_direct(const arena& from) : lists_(from) {}
  WARPHEAP_FN const xmalloc_lists<Layout>& lists() const { return lists_; }
  WARPHEAP_FN const xmalloc_pages<Layout>& pages() const { return lists_.pages(); }
  WARPHEAP_FN auto quiescence() const { return lists_.quiescence(); }

  /// A block of class `c` for each lane of `group`; `none` for the lanes that get none. Collective.
  WARPHEAP_COLD_FN std::uint32_t refill(lane_mask group, std::uint32_t c) const {
    const std::uint32_t page = pages().source().take(group, Layout::source_order(c), retry_limit{2});
    return page == page_source::none ? none : pages().block_of_page(page);
  }
  /// Gives back a free block of each lane of `group`, whose blocks are of one class. Collective.
  WARPHEAP_COLD_FN void give(lane_mask group, std::uint32_t, std::uint32_t number) const {
    pages().source().give(group, pages().page_of_block(number));
  }
  /// True if there may be a block of class `c`. A hint while others take and give. One lane.
  WARPHEAP_FN bool may_serve(std::uint32_t c) const { return !pages().source().refuses(Layout::source_order(c)); }
  /// Bytes of free blocks that only this part knows of. Each thread of a grid adds up its share.
  WARPHEAP_FN std::uint64_t free_bytes() const { return 0; }

 private:
  xmalloc_lists<Layout> lists_;
};

}  // namespace warpheap::detail
