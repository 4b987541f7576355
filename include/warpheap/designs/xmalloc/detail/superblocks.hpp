// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/xmalloc/detail/lists.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::detail {

/// The second level: superblocks, each of basic blocks of one class, and for each class a queue of those that have free
/// blocks.
///
/// A superblock is known by its first page. Its entry counts permits, which are blocks that are free in the superblock;
/// a bit for each block tells which. Blocks that a thread has, or that are in a queue of the first level, are taken.
///
/// Invariants. A permit is taken before its bit is set, and given after its bit is clear. So who has taken permits
/// finds as many clear bits, and a superblock with a taken block keeps its class.
///
/// The bit of class c in `listed` is set from before the page is put into the queue of class c until after it is taken
/// out. So the queue has a page at most once, and has room for all. A superblock of class c with permits has that bit
/// set, except within a change: who takes a page out clears the bit first and then takes all permits, and whose give
/// finds none sets it afterwards.
///
/// A superblock whose blocks are all free goes back to the source at once. Its page stays in the queue and does no
/// harm: who takes it out finds an entry that is not of the class, or one that has permits, which it may take.
///
/// What moves superblocks and blocks is a change (`search_proof`).
///
/// Orders. `listed` releases when it is set and acquires when it is cleared: who clears a bit that a giver found set
/// sees the giver's permits. Marks in `class_of` are plain bytes: the owner of the superblock writes them before it
/// hands out a block, and after all blocks came back.
template <class Layout>
class xmalloc_superblocks {
 public:
  static constexpr std::uint32_t none = xmalloc_lists<Layout>::none;

  WARPHEAP_FN explicit xmalloc_superblocks(const arena& from) : lists_(from) {}
  WARPHEAP_FN const xmalloc_lists<Layout>& lists() const { return lists_; }
  WARPHEAP_FN const xmalloc_pages<Layout>& pages() const { return lists_.pages(); }
  WARPHEAP_FN auto quiescence() const { return lists_.quiescence(); }

  /// Takes all free blocks of a superblock of class `c`, or of a new one. Lanes of `group` get a block each as far as
  /// there are; what is left goes to the queue at home, and back if that is full. `none` for the lanes that get none.
  /// Collective.
  WARPHEAP_COLD_FN std::uint32_t refill(lane_mask group, std::uint32_t c) const {
    blocks of{page_source::none, 0};
    if (is_leader(group) && may_serve(c)) {
      quiescence().begin_change();
      of = take_listed(c);
      if (of.mask == 0) of = take_new(c);
      if (of.mask == 0) quiescence().end_change();
    }
    of = {shuffle(group, of.page, leader(group)), shuffle(group, of.mask, leader(group))};
    if (of.mask == 0) return none;
    sync(group);  // what the leader acquired, and the marks of a new superblock
    const std::uint32_t served = lowest(of.mask, group_size(group));
    std::uint32_t number = none;
    if (group_rank(group) < popcount(served)) {
      number = block_of(of.page, c, static_cast<std::uint32_t>(nth_set_bit(served, group_rank(group))));
    }
    if (is_leader(group)) {
      const std::uint32_t refused = push_all(c, {of.page, of.mask & ~served});
      if (refused != 0) put_back(c, {of.page, refused});
      quiescence().end_change();
    }
    return number;
  }

  /// Gives back a free block of each lane of `group`, whose blocks are of class `c`. Collective.
  WARPHEAP_COLD_FN void give(lane_mask group, std::uint32_t c, std::uint32_t number) const {
    const std::uint32_t page = pages().page_of_block(number) & ~((1u << Layout::source_order(c)) - 1);
    const std::uint32_t slot = (number - pages().block_of_page(page)) >> c;
    const lane_mask same = match(group, page);
    const std::uint32_t mask = reduce_parts(group, same, 1u << slot, bit_or{});
    sync(group);  // the leaders release what all lanes did
    if (is_leader(same)) {
      require(popcount(mask) == group_size(same), "xmalloc: a block is freed twice");
      quiescence().begin_change();
      put_back(c, {page, mask});
      quiescence().end_change();
    }
    sync(group);
  }

  /// True if there may be a block of class `c`. A hint while others take and give. One lane.
  WARPHEAP_FN bool may_serve(std::uint32_t c) const {
    return pages().superblocks(c).size() != 0 || !pages().source().refuses(Layout::source_order(c));
  }
  /// Bytes of blocks that are free in superblocks. Each thread of a grid adds up its share.
  WARPHEAP_FN std::uint64_t free_bytes() const {
    std::uint64_t sum = 0;
    const std::uint64_t end = pages().control().end;
    for (std::uint64_t page = pages().first_page() + grid_thread_index(); page < end; page += grid_threads()) {
      const slab_entry::contents seen = pages().entry(static_cast<std::uint32_t>(page)).look();
      if (seen.is_assigned()) sum += std::uint64_t{seen.free} * Layout::bytes(seen.size_class);
    }
    return sum;
  }

 private:
  // Basic blocks of the superblock at a page: bits for those that the caller has.
  struct blocks {
    std::uint32_t page;
    std::uint32_t mask;
  };

  WARPHEAP_FN std::uint32_t block_of(std::uint32_t page, std::uint32_t c, std::uint32_t slot) const {
    return pages().block_of_page(page) + (slot << c);
  }
  // The `count` lowest set bits, or all.
  WARPHEAP_FN static std::uint32_t lowest(std::uint32_t mask, int count) {
    return popcount(mask) > count ? lowest_set_bits(mask, count) : mask;
  }

  // Puts the blocks into the queue at home, and returns those that found no room. A lane that refills mostly does so
  // for itself alone, the leader of lanes that share a block; so it puts all in at once. One lane.
  WARPHEAP_FN std::uint32_t push_all(std::uint32_t c, blocks of) const {
    if (of.mask == 0) return 0;
    const xmalloc_superblocks self = *this;
    const std::uint32_t in =
        lists_.push_row(c, static_cast<std::uint32_t>(popcount(of.mask)), [self, c, of](std::uint32_t i) {
          return self.block_of(of.page, c, static_cast<std::uint32_t>(nth_set_bit(of.mask, static_cast<int>(i))));
        });
    return of.mask & ~lowest(of.mask, static_cast<int>(in));
  }

  // Takes all permits of a listed superblock. One lane, within a change.
  WARPHEAP_COLD_FN blocks take_listed(std::uint32_t c) const {
    using enum memory_order;
    using enum thread_scope;
    const index_ring queue = pages().superblocks(c);
    std::uint32_t page = 0;
    while (queue.pop(lane_bit(), page)) {  // not a spin: each turn takes a page out
      // Acquires the permits of those that found the bit set.
      pages().listed(page).fetch_and(~(1u << c), acquire, device);
      const std::uint32_t permits = pages().entry(page).try_take(c, slab_entry::most_blocks).amount();
      if (permits != 0) return {page, claim(page, permits)};
    }
    return {page_source::none, 0};
  }

  // The blocks of `permits` permits that the caller took. One lane.
  WARPHEAP_FN std::uint32_t claim(std::uint32_t page, std::uint32_t permits) const {
    using enum memory_order;
    using enum thread_scope;
    const atomic_view taken = pages().taken(page);
    std::uint32_t seen = taken.load(relaxed, device);  // a guess: the claims decide
    std::uint32_t mine = 0;
    while (popcount(mine) != static_cast<int>(permits)) {  // not a spin: whoever took a block had a permit, too
      const std::uint32_t wanted = lowest(Layout::all_blocks & ~seen, static_cast<int>(permits) - popcount(mine));
      // Acquires what the last owners of the blocks did.
      seen = taken.fetch_or(wanted, acquire, device);
      mine |= wanted & ~seen;
      seen |= wanted;
    }
    return mine;
  }

  // All blocks of a new superblock. One lane, within a change.
  WARPHEAP_COLD_FN blocks take_new(std::uint32_t c) const {
    const std::uint32_t order = Layout::source_order(c);
    const std::uint32_t page = pages().source().take(order, retry_limit{2});
    if (page == page_source::none) return {page, 0};
    mark(page, order, static_cast<std::uint8_t>(c + 1));
    // Relaxed: the caller has all of the superblock, and `assign` releases it.
    pages().taken(page).store(Layout::all_blocks, memory_order::relaxed, thread_scope::device);
    pages().entry(page).assign(c, Layout::options.superblock_blocks, Layout::options.superblock_blocks);
    return {page, Layout::all_blocks};
  }

  // Gives blocks of the superblock of class `c` back to it. One lane, within a change.
  WARPHEAP_COLD_FN void put_back(std::uint32_t c, blocks of) const {
    using enum memory_order;
    using enum thread_scope;
    // Releases what the owners of the blocks did.
    const std::uint32_t before = pages().taken(of.page).fetch_and(~of.mask, release, device);
    require((before & of.mask) == of.mask, "xmalloc: a block is freed twice");
    const slab_step step = pages().entry(of.page).give(static_cast<std::uint32_t>(popcount(of.mask)));
    if (step.all_free() && pages().entry(of.page).try_retire()) {
      dissolve(of.page);
    } else if (step.first_free()) {
      // Releases the permits to whoever clears the bit.
      if ((pages().listed(of.page).fetch_or(1u << c, release, device) >> c & 1) != 0) return;
      const bool has_room = pages().superblocks(c).push(lane_bit(), of.page);
      invariant(has_room, "xmalloc: a queue of superblocks is full");
      (void)has_room;
    }
  }

  // Turns the superblock, which the caller has retired, into pages. One lane, within a change.
  WARPHEAP_COLD_FN void dissolve(std::uint32_t page) const {
    mark(page, pages().source().order_of(page), 0);  // `give` releases it
    pages().entry(page).vacate();
    pages().source().give(page);
  }

  WARPHEAP_FN void mark(std::uint32_t page, std::uint32_t order, std::uint8_t value) const {
    for (std::uint32_t i = 0; i >> order == 0; ++i) pages().class_at(page + i) = value;
  }

  xmalloc_lists<Layout> lists_;
};

}  // namespace warpheap::detail
