// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>
#include <warpheap/structures/detail/buddy_layout.hpp>
#include <warpheap/structures/retry_limit.hpp>

namespace warpheap {

/// A buddy system over numbered pages that any number of threads take blocks from and give them back to: a block of
/// order k is 2^k pages, from a multiple of 2^k on. What is free is always merged as far as it can be, so when all is
/// given back, the largest block that the pages hold is there again. The pages may be any range, and it may grow.
///
/// Six orders share a word. Blocks of orders 0 to 5 are aligned groups of bits in a word of 64 pages; order 6, a free
/// word, is one bit in a word of the next of four levels; and so on. So within a word splitting and merging is no work
/// at all, and each operation is one atomic, unless a word is broken open or becomes whole.
///
/// Any subset of lanes may call. Zero bytes are a system without pages. No thread waits for another one, except a
/// thread that finds no block while words are being broken or merged.
///
/// Memory order: what a thread did before it gave a block back happens before what the thread does that takes a page of
/// it. A collective take passes it on to all lanes of the group by a `sync`.
///
/// TBuddy of Gelado & Garland, Throughput-oriented GPU memory allocation, PPoPP 2019, keeps three states in a binary
/// tree with locks and a semaphore for each order; docs/design/buddy_tree.md tells why this form, and what it promises.
class buddy_tree {
 public:
  static constexpr std::uint32_t largest_order = 24;  ///< 64 GiB of 4 KiB pages
  /// Page numbers are below this.
  static constexpr std::uint32_t most_pages = 1u << detail::buddy_layout::page_bits;
  static constexpr std::uint32_t none = ~std::uint32_t{0};  ///< no page
  using span = detail::buddy_layout::span;                  ///< state of 4,096 pages
  using state = detail::buddy_layout::state;                ///< the rest
  static constexpr bool notes_refusals = true;              ///< `refuses` knows
  static constexpr const char* bulk_name = "bulk";          ///< name of the design `bulk` over this system
  /// Pages that a span is for.
  static constexpr std::uint32_t span_pages = detail::buddy_layout::span_pages;

  /// The system whose state is at `upper`, and at `spans` for the pages from `first_span * span_pages` on. A span
  /// begins `span_stride` bytes after the one before, a multiple of its alignment; so what else an owner keeps for so
  /// many pages can lie between.
  WARPHEAP_FN buddy_tree(state* upper, span* spans, std::uint32_t first_span, std::uint32_t span_stride = sizeof(span))
      : upper_(upper), spans_(spans), first_span_(first_span), span_stride_(span_stride) {}

  /// Adds the pages [first, first + count), below `most_pages`, which it did not have; cut into the largest blocks. One
  /// lane; others may use the system.
  WARPHEAP_FN void add(std::uint32_t first, std::uint32_t count) const;

  /// Takes a block of `order` and returns its first page; `none` if none was free at one moment of the call, but for
  /// blocks that came back in calls that had not returned then. One lane, or each for itself.
  ///
  /// A thread that finds nothing while others give looks again, up to `most.searches` times in all; then `none` says
  /// only that each of so many searches found nothing where it looked. What others only move is waited for.
  WARPHEAP_FN std::uint32_t take(std::uint32_t order, retry_limit most = {}) const;

  /// Takes a block for each lane of `group`, all of the same order, as `take` does for one. Fills the group from as few
  /// words as possible; lanes that get none when others do are the highest. Collective.
  WARPHEAP_FN std::uint32_t take(lane_mask group, std::uint32_t order, retry_limit most = {}) const;

  /// True if somebody looked in vain for a block of `order` and nothing was given since, so that `take` would refuse at
  /// once. Two loads.
  WARPHEAP_FN bool refuses(std::uint32_t order) const;

  /// Gives back the block of `order` at `page`, whole. One lane, or each for itself.
  WARPHEAP_FN void give(std::uint32_t page, std::uint32_t order) const;

  /// Gives back a block for each lane of `group`, each with a page and an order of its own; blocks of one word go back
  /// by one atomic. Collective.
  WARPHEAP_FN void give(lane_mask group, std::uint32_t page, std::uint32_t order) const;

  /// A byte of each page, for the use of its owner; it keeps what is written to it.
  WARPHEAP_FN std::uint8_t& tag(std::uint32_t page) const { return span_at(page / span_pages).tags[page % span_pages]; }

  /// Pages that are free. Exact while nobody takes or gives; looks at all words of `[0, pages)`. One lane.
  WARPHEAP_FN std::uint64_t free_pages(std::uint32_t pages) const;

 private:
  using layout = detail::buddy_layout;

  // A word of the tree.
  struct word_position {
    std::uint32_t level;
    std::uint32_t index;  // of the word in its level
  };
  // What a search found: blocks of one word, one for each lowest bit in `starts`.
  struct grab {
    word_position at;
    std::uint64_t starts;
  };
  // A word that shows others, or one that they show, and what was seen in it.
  struct look {
    std::uint32_t index;
    std::uint64_t bits;
  };
  // Where neighbouring words lie: bytes from one to the next.
  struct column {
    std::uint64_t first;
    std::uint32_t step;
  };
  // What a pass with a snapshot says: the search is over, with blocks or because no block is free; or it may have
  // missed blocks that only moved meanwhile, or blocks that were given.
  enum class verdict : std::uint32_t { over, moved, given };
  struct pass_result {
    grab found;
    std::uint32_t needs;  // of `split`
    verdict what;
  };
  // Knows whether a search can have missed a block.
  struct quiescence_snapshot {
    std::uint64_t given;
    change_counter<std::uint32_t>::snapshot changes;
  };

  WARPHEAP_FN span& span_at(std::uint32_t number) const {
    auto* const first = reinterpret_cast<std::byte*>(spans_);
    return *reinterpret_cast<span*>(first + std::uint64_t{number - first_span_} * span_stride_);
  }
  WARPHEAP_FN atomic_view<std::uint64_t> word(std::uint32_t rank, std::uint32_t column, std::uint32_t index) const;
  WARPHEAP_FN atomic_view<std::uint64_t> free_word(word_position at) const {
    return word(at.level, at.level, at.index);
  }
  WARPHEAP_FN static std::uint32_t own_number(std::uint32_t turn);
  WARPHEAP_FN void show(word_position at) const;
  WARPHEAP_FN void hide(word_position at) const;
  WARPHEAP_FN void begin_change() const;
  WARPHEAP_FN void end_change() const;
  WARPHEAP_FN quiescence_snapshot begin_snapshot() const;
  WARPHEAP_FN bool was_quiescent(const quiescence_snapshot& before) const;
  WARPHEAP_FN void put(word_position at, std::uint64_t mask) const;
  WARPHEAP_FN look read_top(std::uint32_t level) const;
  WARPHEAP_FN look read_on(std::uint32_t level, std::uint32_t index) const;
  WARPHEAP_FN bool next_shown(std::uint32_t level, std::uint32_t from, std::uint32_t end, std::uint32_t& index) const;
  WARPHEAP_FN std::uint64_t take_from(word_position at, std::uint32_t order, std::uint32_t most) const;
  WARPHEAP_FN bool may_have(std::uint32_t level) const;
  WARPHEAP_FN bool may_have_below(std::uint32_t level, look top) const;
  WARPHEAP_FN column words_below(std::uint32_t rank, std::uint32_t level, std::uint32_t index) const;
  WARPHEAP_FN look best_below(std::uint32_t level, std::uint32_t rank, look above, std::uint32_t start,
                              std::uint32_t order, std::uint32_t most) const;
  WARPHEAP_FN look look_around(std::uint32_t level, look top, std::uint32_t start, std::uint32_t order,
                               std::uint32_t most) const;
  WARPHEAP_COLD_FN grab glance(std::uint32_t level, std::uint32_t order, std::uint32_t most) const;
  WARPHEAP_COLD_FN grab walk(std::uint32_t level, std::uint32_t order, std::uint32_t most) const;
  WARPHEAP_FN bool may_break(std::uint32_t level, std::uint32_t& needs) const;
  WARPHEAP_FN void broke(std::uint32_t level) const;
  WARPHEAP_FN void end_needs(std::uint32_t needs) const;
  WARPHEAP_COLD_FN grab break_unit(grab unit, std::uint32_t level, std::uint32_t order, std::uint32_t most) const;
  WARPHEAP_FN grab take_whole(std::uint32_t order) const;
  WARPHEAP_FN grab split(std::uint32_t level, std::uint32_t order, std::uint32_t most, std::uint32_t& needs,
                         bool& waits) const;
  WARPHEAP_COLD_FN pass_result take_with_snapshot(std::uint32_t order, std::uint32_t most, std::uint32_t needs) const;
  WARPHEAP_COLD_FN grab take_some(std::uint32_t order, std::uint32_t most, retry_limit tries) const;
  WARPHEAP_FN std::uint32_t& cache_entry(std::uint32_t level) const;

  state* upper_;
  span* spans_;
  std::uint32_t first_span_;
  std::uint32_t span_stride_;
};

}  // namespace warpheap

#include <warpheap/structures/detail/buddy_tree.hpp>
