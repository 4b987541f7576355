// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/structures/buddy_tree.hpp>
#include <warpheap/structures/detail/aligned_blocks.hpp>

namespace warpheap {

// Invariant: a page is free by at most one bit: that of its word, or of one of the units that it is in. A word of a
// level is all ones for a moment only: the thread that completes it makes it 0 and sets the bit of the unit above,
// unless somebody takes from it first. (Level 3 has nothing above.)
//
// Invariant: when an operation has returned, and no change is under way, each word that is not 0 has its bit in the
// word that shows it, and the bits above that are set for good. A bit that shows a word which is 0 costs time only.
//
// A *change* takes bits away for a while that others may need: a unit that is broken, a word that is merged, a bit that
// shows. Changes are counted when they begin and when they end.
//
// Orders. Giving releases what the giver did, by the change of the word that makes the block free; taking acquires it.
// A merge acquires all givers of the word and releases the unit; breaking a unit acquires it and releases its
// parts. Showing and hiding race as in Dekker's algorithm; both go through changes of the shown word, of which the
// later sees what came before the earlier: either the hider sees the bits that were given, or the giver that the bit is
// gone.

namespace detail {

// The bits of a block in its word, for `at.level` = `level`.
WARPHEAP_FN inline std::uint64_t buddy_mask(std::uint32_t page, std::uint32_t order, std::uint32_t level) {
  return block_bits(std::uint64_t{1} << (page >> 6 * level) % 64, order - 6 * level);
}
WARPHEAP_FN inline std::uint32_t buddy_level(std::uint32_t order) {
  return order / 6 < buddy_layout::levels ? order / 6 : buddy_layout::levels - 1;
}

}  // namespace detail

// The word of `column` at `rank`.
WARPHEAP_FN inline atomic_view<std::uint64_t> buddy_tree::word(std::uint32_t rank, std::uint32_t column,
                                                               std::uint32_t index) const {
  if (rank == 0) return atomic_view{span_at(index / 64).leaf[index % 64]};
  if (rank == 1) return atomic_view{span_at(index).rank1[column]};
  if (rank == 2) return atomic_view{upper_->rank2[column][index]};
  return atomic_view{upper_->rank3[column][index]};
}

// A change that is seen was seen to begin: the fence releases the count with each relaxed access that follows.
WARPHEAP_FN inline void buddy_tree::begin_change() const {
  upper_->changes.begin();
  fence(memory_order::release, thread_scope::device);
}
WARPHEAP_FN inline void buddy_tree::end_change() const { upper_->changes.end(); }

WARPHEAP_FN inline auto buddy_tree::begin_snapshot() const -> quiescence_snapshot {
  using enum memory_order;
  using enum thread_scope;
  const auto changes = upper_->changes.quiescence();
  const std::uint64_t given = atomic_view{upper_->given}.load(relaxed, device);
  fence(acquire, device);
  return {given, changes};
}

WARPHEAP_FN inline bool buddy_tree::was_quiescent(const quiescence_snapshot& before) const {
  using enum memory_order;
  using enum thread_scope;
  fence(acquire, device);  // what the search read comes before these
  return upper_->changes.was_quiescent(before.changes) &&
         atomic_view{upper_->given}.load(relaxed, device) == before.given;
}

// Sets the bits that show a word which is not 0. Acquires, so that a thread that relies on a bit of another relies on
// those above it, too; they are set first.
WARPHEAP_FN inline void buddy_tree::show(word_position at) const {
  using enum memory_order;
  using enum thread_scope;
  if (at.level + 1 == layout::levels) return;
  const std::uint64_t bit = std::uint64_t{1} << at.index % 64;
  const atomic_view shown = word(at.level + 1, at.level, at.index / 64);
  if ((shown.load(acquire, device) & bit) != 0) return;
  std::uint32_t index = at.index / 64;
  for (std::uint32_t rank = at.level + 2; rank < layout::levels; ++rank, index /= 64) {
    const std::uint64_t over = std::uint64_t{1} << index % 64;
    const atomic_view above = word(rank, at.level, index / 64);
    if ((above.load(relaxed, device) & over) == 0) above.fetch_or(over, relaxed, device);
  }
  shown.fetch_or(bit, acq_rel, device);
}

// Clears the bit that shows a word which was seen to be 0, and puts it back if it is not 0 any more.
WARPHEAP_FN inline void buddy_tree::hide(word_position at) const {
  using enum memory_order;
  using enum thread_scope;
  if (at.level + 1 == layout::levels) return;
  const std::uint64_t bit = std::uint64_t{1} << at.index % 64;
  const atomic_view shown = word(at.level + 1, at.level, at.index / 64);
  if ((shown.load(relaxed, device) & bit) == 0) return;
  begin_change();
  shown.fetch_and(~bit, acq_rel, device);
  if (free_word(at).fetch_or(0, acq_rel, device) != 0) shown.fetch_or(bit, acq_rel, device);
  end_change();
}

// Makes the units of `mask` in a word free, and merges upwards.
WARPHEAP_FN inline void buddy_tree::put(word_position at, std::uint64_t mask) const {
  using enum memory_order;
  using enum thread_scope;
  for (bool merging = false;;) {  // not a spin: each turn goes one level up
    const std::uint64_t before = free_word(at).fetch_or(mask, acq_rel, device);
    invariant((before & mask) == 0, "buddy_tree: a block was given back twice");
    std::uint64_t whole = ~std::uint64_t{0};
    bool merged = false;
    if ((before | mask) == whole && at.level + 1 != layout::levels) {
      if (!merging) begin_change();
      merging = true;
      // Acquires, since others may have taken from the word and completed it again meanwhile.
      merged = free_word(at).compare_exchange(whole, 0, acquire, device);
      stop_point("buddy_tree.put.merged");
      if (merged) hide(at);
    }
    if (!merged) {
      show(at);
      if (merging) end_change();
      return;
    }
    mask = std::uint64_t{1} << at.index % 64;
    at = {at.level + 1, at.index / 64};
  }
}

WARPHEAP_FN inline bool buddy_tree::refuses(std::uint32_t order) const {
  using enum memory_order;
  using enum thread_scope;
  if (order > largest_order) return true;
  const std::uint64_t refused = atomic_view{upper_->refused[order]}.load(relaxed, device);
  return refused != 0 && refused == atomic_view{upper_->given}.load(acquire, device) + 1;
}

WARPHEAP_FN inline std::uint32_t buddy_tree::take(std::uint32_t order, retry_limit most) const {
  if (order > largest_order) return none;
  const grab found = take_some(order, 1, most);
  if (found.starts == 0) return none;
  return (found.at.index * 64 + static_cast<std::uint32_t>(lowest_bit(found.starts))) << 6 * found.at.level;
}

WARPHEAP_FN inline std::uint32_t buddy_tree::take(lane_mask group, std::uint32_t order, retry_limit most) const {
  std::uint32_t page = none;
  if (order > largest_order) return page;
  const auto lanes = static_cast<std::uint32_t>(group_size(group));
  const auto rank = static_cast<std::uint32_t>(group_rank(group));
  for (std::uint32_t done = 0; done < lanes;) {  // not a spin: each turn serves lanes, or is the last
    grab found{{0, 0}, 0};
    if (is_leader(group)) found = take_some(order, lanes - done, most);
    sync(group);  // what the leader acquired, all did
    const std::uint64_t starts = shuffle(group, found.starts, leader(group));
    if (starts == 0) break;
    const std::uint32_t base = shuffle(group, found.at.index, leader(group)) * 64;
    const std::uint32_t level = shuffle(group, found.at.level, leader(group));
    const auto got = static_cast<std::uint32_t>(popcount(starts));
    if (rank >= done && rank < done + got) {
      const int bit = nth_set_bit(starts, static_cast<int>(rank - done));
      page = (base + static_cast<std::uint32_t>(bit)) << 6 * level;
    }
    done += got;
  }
  return page;
}

WARPHEAP_FN inline void buddy_tree::give(std::uint32_t page, std::uint32_t order) const {
  require(order <= largest_order && page < most_pages && (page & ((1u << order) - 1)) == 0,
          "buddy_tree: a block of an order begins at a multiple of its size");
  const std::uint32_t level = detail::buddy_level(order);
  put({level, page >> (6 * level + 6)}, detail::buddy_mask(page, order, level));
  // After the block is to be found, so that a search that finds nothing and this unchanged knows that no call returned.
  atomic_view{upper_->given}.fetch_add(1, memory_order::release, thread_scope::device);
}

WARPHEAP_FN inline void buddy_tree::give(lane_mask group, std::uint32_t page, std::uint32_t order) const {
  require(order <= largest_order && page < most_pages && (page & ((1u << order) - 1)) == 0,
          "buddy_tree: a block of an order begins at a multiple of its size");
  const std::uint32_t level = detail::buddy_level(order);
  const std::uint32_t index = page >> (6 * level + 6);
  const lane_mask peers = match(group, level << 24 | index);
  const std::uint64_t mask = reduce_parts(group, peers, detail::buddy_mask(page, order, level), bit_or{});
  sync(group);  // the leaders release what all did
  if (!is_leader(peers)) return;
  put({level, index}, mask);
  atomic_view{upper_->given}.fetch_add(1, memory_order::release, thread_scope::device);
}

WARPHEAP_FN inline void buddy_tree::add(std::uint32_t first, std::uint32_t count) const {
  require(first <= most_pages && count <= most_pages - first, "buddy_tree: more pages than it can have");
  detail::for_each_aligned_block(first, count, largest_order,
                                 [this](std::uint32_t page, std::uint32_t order) { give(page, order); });
}

WARPHEAP_FN inline std::uint64_t buddy_tree::free_pages(std::uint32_t pages) const {
  using enum memory_order;
  std::uint64_t sum = 0;
  const std::uint32_t first = first_span_ * span_pages;
  for (std::uint32_t level = 0; level < layout::levels; ++level) {
    const std::uint32_t shift = 6 * level + 6;
    for (std::uint32_t index = first >> shift; index << shift < pages; ++index) {
      const std::uint64_t bits = free_word({level, index}).load(relaxed, thread_scope::device);
      sum += static_cast<std::uint64_t>(popcount(bits)) << 6 * level;
    }
  }
  return sum;
}

}  // namespace warpheap

#include <warpheap/structures/detail/buddy_tree_search.hpp>
