// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/xmalloc/detail/pages.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::detail {

/// The first level: a few queues of free basic blocks for each class, by number.
///
/// Invariant: a block that is in a queue is free, and is in one queue once. Where the layout has superblocks, its
/// permit is taken from its superblock.
///
/// A request and a free begin at the queue that the warp's number names. A queue that is full refuses at one moment of
/// the call, so no block is lost or there twice; the caller gives the block to the part below.
template <class Layout>
class xmalloc_lists {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  WARPHEAP_FN explicit xmalloc_lists(const arena& from) : pages_(from) {}
  WARPHEAP_FN const xmalloc_pages<Layout>& pages() const { return pages_; }
  WARPHEAP_FN auto quiescence() const { return pages_.quiescence(); }

  /// The queue at which the caller's warp begins.
  WARPHEAP_FN static std::uint32_t home() { return spread(grid_warp_index()) >> 16 & (Layout::lists - 1); }

  /// A block of class `c` for each lane of `group` from the queue at home; `none` for the lanes that get none.
  /// Collective.
  WARPHEAP_FN std::uint32_t pop_at_home(lane_mask group, std::uint32_t c) const {
    std::uint32_t number = none;
    pages_.list(c, shuffle(group, home(), leader(group))).pop(group, number);
    return number;
  }
  /// As `pop_at_home`, from all queues of the class. Collective.
  WARPHEAP_FN std::uint32_t pop(lane_mask group, std::uint32_t c) const {
    std::uint32_t number = none;
    const std::uint32_t first = shuffle(group, home(), leader(group));
    for (std::uint32_t i = 0; i < Layout::lists; ++i) {
      const lane_mask waiting = ballot(group, number == none);
      if (waiting == 0) break;
      if (number == none) pages_.list(c, first ^ i).pop(waiting, number);
    }
    sync(group);
    return number;
  }
  /// Puts the block of each lane of `group`, all of class `c`, into the queue at home; false to lanes that find it
  /// full. Collective.
  WARPHEAP_FN bool push(lane_mask group, std::uint32_t c, std::uint32_t number) const {
    return pages_.list(c, shuffle(group, home(), leader(group))).push(group, number);
  }
  /// Puts `count` blocks of class `c` into the queue at home, 1 or more: `number_of(i)` for each i from 0 on. Returns
  /// how many found room, which are the first ones. One lane.
  template <class NumberOf>
  WARPHEAP_FN std::uint32_t push_row(std::uint32_t c, std::uint32_t count, NumberOf number_of) const {
    return pages_.list(c, home()).push_row(count, number_of);
  }
  /// Blocks in the queues of class `c`. A hint while others push and pop.
  WARPHEAP_FN std::uint32_t size(std::uint32_t c) const {
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0; i < Layout::lists; ++i) sum += pages_.list(c, i).size();
    return sum;
  }

 private:
  xmalloc_pages<Layout> pages_;
};

}  // namespace warpheap::detail
