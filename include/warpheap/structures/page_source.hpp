// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/structures/buddy_tree.hpp>

namespace warpheap {

/// Where a design gets numbered pages from, one or thousands: a buddy system that also knows of each page whether a
/// block begins there, and of which order. So a design hands out what is too large for its own scheme, up to the whole
/// heap, and `give` needs no size.
///
/// A block of order k is 2^k pages, from a multiple of 2^k on. The pages are any range of numbers, and `add` appends
/// more; zero bytes are a source without pages. Any subset of lanes may call.
///
/// Invariant: the tag of a page is 1 + k if a block of order k that begins there is in an owner's hands, from the
/// moment that `take` returns to that at which `give` or `forget` is called; else it is 0. Only the owner of a block
/// writes its tag, so a thread that has the block from its owner reads it without an atomic.
///
/// Memory order: what a thread did before it gave a block back happens before what the next owner of a page of it does.
/// `epoch` acquires: blocks that are counted can be found.
class page_source {
 public:
  static constexpr std::uint32_t none = buddy_tree::none;                    ///< no page, or no order
  static constexpr std::uint32_t largest_order = buddy_tree::largest_order;  ///< of a block
  static constexpr std::uint32_t most_pages = buddy_tree::most_pages;        ///< page numbers are below this
  static constexpr std::uint32_t span_pages = buddy_tree::span_pages;        ///< pages that a span is for
  using state = buddy_tree::state;                                           ///< what does not grow with the pages
  using span = buddy_tree::span;                                             ///< state of `span_pages` pages

  /// The source whose state is at `upper`, and at `spans` for the pages from `first_span * span_pages` on,
  /// `span_stride` bytes from one span to the next.
  WARPHEAP_FN page_source(state* upper, span* spans, std::uint32_t first_span = 0,
                          std::uint32_t span_stride = sizeof(span))
      : upper_(upper), spans_(spans), first_span_(first_span), span_stride_(span_stride) {}

  /// The smallest order whose blocks have `pages` pages or more; above `largest_order` if none has. `pages` is 1 or
  /// more.
  WARPHEAP_FN static std::uint32_t order_for(std::uint64_t pages) {
    return pages <= 1 ? 0 : static_cast<std::uint32_t>(highest_bit(pages - 1)) + 1;
  }

  /// Adds the pages [first, first + count), which it did not have, or of which the caller has the block forgotten. One
  /// lane; others may use the source.
  WARPHEAP_FN void add(std::uint32_t first, std::uint32_t count) const { tree().add(first, count); }
  /// Adds one such page for each lane of `group`; pages of one word by one atomic. Collective.
  WARPHEAP_COLD_FN void add_each(lane_mask group, std::uint32_t page) const;

  /// Takes a block of `order` and returns its first page. `none` if none was free at one moment of the call, but for
  /// blocks that came back in calls of `give` that had not returned then; or if `most.searches` searches each found
  /// nothing while others gave. One lane, or each for itself.
  WARPHEAP_COLD_FN std::uint32_t take(std::uint32_t order, retry_limit most = {}) const {
    return tagged(tree().take(order, most), order);
  }
  /// As `take`, a block of the same order for each lane of `group`. Lanes that get none when others do are the highest.
  /// Collective.
  WARPHEAP_COLD_FN std::uint32_t take(lane_mask group, std::uint32_t order, retry_limit most = {}) const {
    return tagged(tree().take(group, order, most), order);
  }

  /// Forgets the block at `page`, whose pages stay the caller's: they come back by `add` or `add_each`, in any parts.
  /// Returns its order. One lane.
  WARPHEAP_FN std::uint32_t forget(std::uint32_t page) const;

  /// Gives back the block that begins at `page`, whole. One lane, or each for itself.
  WARPHEAP_COLD_FN void give(std::uint32_t page) const;
  /// Gives back a block for each lane of `group`. Collective.
  WARPHEAP_COLD_FN void give(lane_mask group, std::uint32_t page) const;

  /// Blocks that came back or were added so far. A thread that was refused and finds this unchanged would be refused
  /// again. Acquires.
  WARPHEAP_FN std::uint64_t epoch() const {
    return atomic_view{upper_->given}.load(memory_order::acquire, thread_scope::device);
  }
  /// True if somebody looked in vain for a block of `order` and nothing came back since. Two loads.
  WARPHEAP_FN bool refuses(std::uint32_t order) const { return tree().refuses(order); }

  /// Order of the block that begins at `page` and is in an owner's hands; `none` if no such block begins there. The
  /// source has `page`. Exact for a thread that has the block from its owner; a hint for others.
  WARPHEAP_FN std::uint32_t order_of(std::uint32_t page) const;
  /// First page of the block in an owner's hands that covers `page`, or `none`. As exact as `order_of`. `begin` is the
  /// lowest page that the source has.
  WARPHEAP_COLD_FN std::uint32_t first_of(std::uint32_t page, std::uint32_t begin) const;

  /// Pages below `pages` that are free. Exact while nobody takes or gives. One lane.
  WARPHEAP_FN std::uint64_t free_pages(std::uint32_t pages) const { return tree().free_pages(pages); }

 private:
  WARPHEAP_FN buddy_tree tree() const { return {upper_, spans_, first_span_, span_stride_}; }
  WARPHEAP_FN std::uint32_t tagged(std::uint32_t page, std::uint32_t order) const {
    if (page != none) tree().tag(page) = static_cast<std::uint8_t>(order + 1);
    return page;
  }

  state* upper_;
  span* spans_;
  std::uint32_t first_span_;
  std::uint32_t span_stride_;
};

// Orders. Tags are plain bytes of which the owner of the page has the use: a take acquires what the last owner wrote,
// and a give releases it. A thread that is no owner reads the word around a tag as a hint.

WARPHEAP_FN inline std::uint32_t page_source::forget(std::uint32_t page) const {
  std::uint8_t& tag = tree().tag(page);
  const std::uint32_t order = std::uint32_t{tag} - 1;
  require(order <= largest_order, "page_source: no block begins at the page that is given back");
  tag = 0;
  return order;
}

WARPHEAP_COLD_FN inline void page_source::give(std::uint32_t page) const { tree().give(page, forget(page)); }

WARPHEAP_COLD_FN inline void page_source::give(lane_mask group, std::uint32_t page) const {
  tree().give(group, page, forget(page));
  sync(group);  // a leader counts for its lanes; no lane returns before, or its block would not be in `epoch`
}

WARPHEAP_COLD_FN inline void page_source::add_each(lane_mask group, std::uint32_t page) const {
  tree().give(group, page, 0);
  sync(group);  // as in give
}

WARPHEAP_FN inline std::uint32_t page_source::order_of(std::uint32_t page) const {
  const std::uint8_t* const tag = &tree().tag(page);
  const auto in_word = static_cast<std::uint32_t>(reinterpret_cast<std::uint64_t>(tag) % sizeof(std::uint32_t));
  const std::uint32_t tags = speculative_load(*reinterpret_cast<const std::uint32_t*>(tag - in_word));
  return (tags >> 8 * in_word & 0xff) - 1;
}

WARPHEAP_COLD_FN inline std::uint32_t page_source::first_of(std::uint32_t page, std::uint32_t begin) const {
  WARPHEAP_ROLLED
  for (std::uint32_t order = 0; order <= largest_order; ++order) {
    const std::uint32_t first = page & ~((1u << order) - 1);
    if (first < begin) break;
    if (order_of(first) == order) return first;
  }
  return none;
}

}  // namespace warpheap
