// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/kma/detail/pages.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::detail {

/// Permits of a superblock in the hands of a thread, and the slot from which on their blocks are sought.
struct kma_draw {
  std::uint32_t page;     // where the superblock begins
  std::uint32_t permits;  // 0: nothing was drawn, and the rest is unspecified
  std::uint32_t start;    // in a superblock of which nothing came back yet the blocks from here on are free

  WARPHEAP_FN static kma_draw of(std::uint32_t page, slab_step step) {
    return {page, step.amount(), step.capacity - step.before};
  }
};

/// Superblocks: the ring of free ones over the source of pages, and the blocks of those in use.
///
/// Invariant: a page in the ring is free and has an unowned state. The source counts it as taken, of order 0. A page is
/// in the ring at most once.
///
/// Invariant: a permit of the state word is taken before a bit is set, and given after the bit is clear. So a thread
/// that has taken permits finds as many clear bits, and a superblock with a taken block keeps its class.
template <class Layout>
class kma_superblocks {
 public:
  using classes = typename Layout::classes;
  static constexpr std::uint32_t none = page_source::none;

  WARPHEAP_FN explicit kma_superblocks(const arena& from) : pages_(from) {}
  WARPHEAP_FN const kma_pages<Layout>& pages() const { return pages_; }
  WARPHEAP_FN auto quiescence() const { return pages_.quiescence(); }

  /// False if there is no free superblock; true may be a mistake. One lane.
  WARPHEAP_FN bool may_have_free() const { return pages_.ring().size() != 0 || !pages_.source().refuses(0); }

  /// A free superblock for each lane of `group`, or `none`. Collective, within a change.
  WARPHEAP_COLD_FN std::uint32_t take(lane_mask group) const {
    std::uint32_t page = none;
    pages_.ring().pop(group, page);
    const lane_mask rest = ballot(group, page == none);
    if (page == none) page = pages_.source().take(rest, 0, retry_limit{2});
    sync(group);
    return page;
  }
  /// Gives back a superblock of each lane of `group`, whose state is unowned. Collective, within a change.
  WARPHEAP_COLD_FN void give(lane_mask group, std::uint32_t page) const {
    const bool in = pages_.ring().push(group, page);
    const lane_mask rest = ballot(group, !in);
    if (!in) pages_.source().give(rest, page);
    sync(group);
  }
  /// Gives what is in the ring at first back to the source; true if there was something. Collective.
  WARPHEAP_COLD_FN bool flush(lane_mask group) const {
    const index_ring ring = pages_.ring();
    const auto lanes = static_cast<std::uint32_t>(group_size(group));
    std::uint32_t left = shuffle(group, ring.size(), leader(group));
    if (left == 0) return false;
    if (is_leader(group)) quiescence().begin_change();
    sync(group);
    bool found = false;
    while (left != 0) {  // not a spin: each turn takes pages out, or ends
      std::uint32_t page = none;
      ring.pop(group, page);
      const lane_mask holders = ballot(group, page != none);
      if (holders == 0) break;
      if (page != none) pages_.source().give(holders, page);
      found = true;
      left -= left < lanes ? left : lanes;
    }
    sync(group);
    if (is_leader(group)) quiescence().end_change();
    return found;
  }

  /// Makes the free superblock at `page` one of class `c` with `permits` blocks, 1 to 32, in the caller's hands: the
  /// first ones. One lane, within a change.
  WARPHEAP_COLD_FN void assign(std::uint32_t page, std::uint32_t c, std::uint32_t permits) const {
    const slot_bits<> bits = pages_.bits(page, c);
    bits.reset(lane_bit());
    bits.claim_bits(0, low_bits(static_cast<int>(permits)));
    pages_.state(page).assign(c, classes::capacity(c), permits);
  }

  /// Address of block `slot` of the superblock of class `c` at `page`.
  WARPHEAP_FN void* block_at(std::uint32_t page, std::uint32_t c, std::uint32_t slot) const {
    return reinterpret_cast<void*>(pages_.address_of(page) + slot * classes::bytes(c));
  }
  /// Sets the bits of up to `of.permits` free blocks from `of.start` on, in its word and the next one: bit i of the
  /// result stands for slot i of the first word on. Where nothing came back yet, these are all. One lane.
  WARPHEAP_FN std::uint64_t claim_near(kma_draw of, std::uint32_t c) const {
    constexpr std::uint32_t word_bits = slot_bits<>::word_bits;
    const slot_bits<> bits = pages_.bits(of.page, c);
    const std::uint32_t word = of.start / word_bits;
    const std::uint64_t wanted = std::uint64_t{low_bits(static_cast<int>(of.permits))} << of.start % word_bits;
    std::uint64_t got = bits.claim_bits(word, static_cast<std::uint32_t>(wanted));
    const auto next = static_cast<std::uint32_t>(wanted >> word_bits);
    if (next != 0 && word + 1 < bits.words()) {
      got |= std::uint64_t{bits.claim_bits(word + 1, next)} << word_bits;
    }
    return got;
  }
  /// The block of a lane that holds a permit of the superblock. Collective over `group`, whose lanes hold a permit
  /// each.
  WARPHEAP_COLD_FN void* claim(lane_mask group, kma_draw of, std::uint32_t c) const {
    return block_at(of.page, c, pages_.bits(of.page, c).claim_counted(group, of.start));
  }

 private:
  kma_pages<Layout> pages_;
};

}  // namespace warpheap::detail
