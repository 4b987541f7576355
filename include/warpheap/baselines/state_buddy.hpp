// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/baselines/detail/state_buddy_layout.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>
#include <warpheap/sync.hpp>

namespace warpheap {

/// TBuddy as its paper has it, to be measured beside `buddy_tree`, whose calls it has: a static binary
/// tree with a node for each block that could be, in one of three states, and a bulk semaphore for each order.
///
/// A block is *available*; or it is *partial*: not to be had, but some block below it is available; or it is *busy*. An
/// allocation of order n waits at the semaphore of n. If it is granted a block, it goes down through partial nodes,
/// from a scattered place on, to an available node of height n, and makes it busy. If it is to produce, it takes a
/// block of order n + 1, keeps a half, and makes the other one available. A block that comes back is merged with its
/// buddy if that can be had, else made available. A thread that changed a node brings the state of its parent up to
/// date, and so on up.
///
/// Any subset of lanes may call; each lane acts for itself. Zero bytes are a system without pages. A thread waits for
/// producers, for holders of a node's lock, and for who merges what came back in pairs; one that is refused has seen a
/// moment without any of them.
///
/// Memory order: what a thread did before it gave a block back happens before what the thread does that takes a page of
/// it.
///
/// Gelado & Garland, Throughput-oriented GPU memory allocation, PPoPP 2019, section 4.1. What the paper leaves open,
/// and what is different here: docs/design/state_buddy.md.
class state_buddy {
 public:
  static constexpr std::uint32_t largest_order = detail::state_buddy_layout::orders - 1;  ///< 64 GiB of 4 KiB pages
  /// Page numbers are below this.
  static constexpr std::uint32_t most_pages = 1u << detail::state_buddy_layout::page_bits;
  static constexpr std::uint32_t none = ~std::uint32_t{0};  ///< no page
  using span = detail::state_buddy_layout::span;            ///< state of 4,096 pages
  using state = detail::state_buddy_layout::state;          ///< the rest
  static constexpr bool notes_refusals = false;             ///< `refuses` does not know
  static constexpr const char* bulk_name = "bulk_states";   ///< name of the design `bulk` over this system
  /// Pages that a span is for.
  static constexpr std::uint32_t span_pages = detail::state_buddy_layout::span_pages;

  /// The system whose state is at `upper`, and at `spans` for the pages from `first_span * span_pages` on.
  WARPHEAP_FN state_buddy(state* upper, span* spans, std::uint32_t first_span)
      : upper_(upper), spans_(spans), first_span_(first_span) {}

  /// Adds the pages [first, first + count), below `most_pages`, which it did not have; cut into the largest blocks. One
  /// lane; others may use the system.
  WARPHEAP_FN void add(std::uint32_t first, std::uint32_t count) const;

  /// Takes a block of `order` and returns its first page; `none` if no order had one that no other thread was to
  /// get, and no merge was under way, or if each of `most.searches` passes found none. One lane, or each for itself.
  WARPHEAP_FN std::uint32_t take(std::uint32_t order, retry_limit most = {}) const;
  /// Takes a block for each lane of the group, one by one.
  WARPHEAP_FN std::uint32_t take(lane_mask, std::uint32_t order, retry_limit most = {}) const {
    return take(order, most);
  }
  /// True if `take` would surely refuse at once, which this form does not know.
  WARPHEAP_FN static bool refuses(std::uint32_t order) { return order > largest_order; }

  /// Gives back the block of `order` at `page`, whole. One lane, or each for itself.
  WARPHEAP_FN void give(std::uint32_t page, std::uint32_t order) const;
  /// Gives back a block of each lane of the group, one by one.
  WARPHEAP_FN void give(lane_mask, std::uint32_t page, std::uint32_t order) const { give(page, order); }

  /// A byte of each page, for the use of its owner; it keeps what is written to it.
  WARPHEAP_FN std::uint8_t& tag(std::uint32_t page) const {
    return spans_[page / span_pages - first_span_].tags[page % span_pages];
  }

  /// Pages that are free. Exact while nobody takes or gives; looks at all nodes of `[0, pages)`. One lane.
  WARPHEAP_FN std::uint64_t free_pages(std::uint32_t pages) const;

 private:
  using layout = detail::state_buddy_layout;

  // A node of the tree: the block number `index` of its order.
  struct node {
    std::uint32_t order;
    std::uint32_t index;
    WARPHEAP_FN node parent() const { return {order + 1, index / 2}; }
    WARPHEAP_FN node buddy() const { return {order, index ^ 1}; }
    WARPHEAP_FN node child(std::uint32_t which) const { return {order - 1, 2 * index + which}; }
  };

  // What there is for an order: a block, or one that somebody may be making, or neither.
  enum class prospect { there, expected, none };

  WARPHEAP_FN atomic_view<std::uint32_t> word(node of) const;
  WARPHEAP_FN bool outside(node of) const;
  WARPHEAP_FN std::uint32_t state_of(node of) const;
  WARPHEAP_FN bool try_lock(node of, std::uint32_t& state) const;
  WARPHEAP_FN void unlock(node of, std::uint32_t state) const;
  WARPHEAP_FN void show(node of) const;
  WARPHEAP_FN bool occupy(node of) const;
  WARPHEAP_FN std::uint32_t state_from_below(node of) const;
  WARPHEAP_FN void update(node of) const;
  WARPHEAP_FN node find(std::uint32_t order) const;
  WARPHEAP_FN node split(node whole) const;
  WARPHEAP_FN void begin_merge() const;
  WARPHEAP_FN void end_merge() const;
  WARPHEAP_FN bool join(node freed) const;
  WARPHEAP_FN void put_merged(node freed) const;
  WARPHEAP_FN void merge(node half) const;
  WARPHEAP_FN void put(node freed) const;
  WARPHEAP_FN void sweep(std::uint32_t below) const;
  WARPHEAP_FN void merge_pairs(std::uint32_t below, std::uint32_t most) const;
  WARPHEAP_FN std::uint32_t try_take(std::uint32_t order) const;
  WARPHEAP_FN prospect look_from(std::uint32_t order) const;
  WARPHEAP_FN bool wait_for_more(std::uint32_t order) const;
  WARPHEAP_FN std::uint32_t top() const;
  WARPHEAP_FN static std::uint32_t first_new(std::uint32_t order, std::uint32_t index, std::uint32_t most);
  WARPHEAP_FN bool skip(std::uint32_t order, std::uint32_t& index, std::uint32_t upto, std::uint32_t mark) const;

  state* upper_;
  span* spans_;
  std::uint32_t first_span_;
};

}  // namespace warpheap

#include <warpheap/baselines/detail/state_buddy.hpp>
