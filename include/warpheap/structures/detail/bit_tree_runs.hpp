// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/structures/bit_tree.hpp>
#include <warpheap/structures/detail/word_bits.hpp>

// Members that are taken: a run of neighbours that follow each other across leaves, some at either end of the set, or
// just those that are named.

namespace warpheap {

// Takes the lowest run of one leaf, up to `most` members of it, by one compare-and-swap: no member goes back, so no
// search misses one. An empty run if the leaf has no members; the leaf is hidden then. One lane.
WARPHEAP_FN inline index_run bit_tree::take_from_leaf(std::uint32_t leaf, std::uint64_t most) const {
  using enum memory_order;
  using enum thread_scope;
  std::uint64_t word = leaf_view(leaf).load(relaxed, device);
  while (word != 0) {
    const auto first = static_cast<std::uint32_t>(lowest_bit(word));
    const std::uint64_t length = detail::trailing_ones(word >> first);
    const std::uint64_t count = length < most ? length : most;
    const std::uint64_t mask = detail::bit_range(first, count);
    if (!leaf_view(leaf).compare_exchange(word, word & ~mask, acquire, device)) continue;
    if ((word & ~mask) == 0) hide(leaf);
    return {std::uint64_t{leaf} * leaf_bits + first, count};
  }
  hide(leaf);
  return {0, 0};
}

// Takes up to `most` more members, from the first one of `first_leaf` on: each lane takes some leaves, and what does
// not follow without a gap goes back. Returns how many follow. Collective.
WARPHEAP_COLD_FN inline std::uint32_t bit_tree::extend(lane_mask group, std::uint32_t first_leaf,
                                                       std::uint32_t most) const {
  std::uint32_t total = 0;
  // Members that go back are missing for a while.
  if (is_leader(group)) begin_change();
  sync(group);
  while (total < most && extend_once(group, first_leaf, most, total)) {  // not a spin: on to later leaves
  }
  if (total != 0) hide_together(group, first_leaf, first_leaf + (total + leaf_bits - 1) / leaf_bits);
  sync(group);
  if (is_leader(group)) end_change();
  return total;
}

// One turn of `extend`: takes leaves from member `total` on, and adds to `total` how many members follow without a gap.
// True if that is all that the turn wanted of its leaves, so another may follow. Collective.
WARPHEAP_COLD_FN inline bool bit_tree::extend_once(lane_mask group, std::uint32_t first_leaf, std::uint32_t most,
                                                   std::uint32_t& total) const {
  const auto lanes = static_cast<std::uint32_t>(group_size(group));
  const std::uint32_t mine = total / leaf_bits + static_cast<std::uint32_t>(group_rank(group));
  std::uint64_t got[rows] = {};
  take_rows(first_leaf, mine, lanes, most, got);
  sync(group);
  bool whole = true;
  for (std::uint32_t row = 0; row < rows; ++row) {
    const std::uint32_t follows = detail::trailing_ones(got[row]);
    const lane_mask broken = ballot(group, follows < leaf_bits);
    // Lanes up to the first that did not get a whole leaf keep what follows without a gap; later rows keep nothing.
    if (whole && lanes_below(broken) == 0 && follows != 0) got[row] &= ~detail::bit_range(0, follows);
    if (!whole) continue;
    if (broken == 0) {
      total += leaf_bits * lanes;
    } else {
      const int last = lowest_bit(broken);
      total += leaf_bits * static_cast<std::uint32_t>(popcount(group & low_bits(last))) + shuffle(group, follows, last);
      whole = false;
    }
  }
  for (std::uint32_t row = 0; row < rows; ++row) {
    if (got[row] != 0) put_back(first_leaf + mine + row * lanes, got[row]);
  }
  sync(group);
  return whole;
}

// Takes what is there of the leaves `mine` after `first_leaf`, and of those that are `lanes` further, as far as `most`
// members go. One lane.
WARPHEAP_COLD_FN inline void bit_tree::take_rows(std::uint32_t first_leaf, std::uint32_t mine, std::uint32_t lanes,
                                                 std::uint32_t most, std::uint64_t (&got)[rows]) const {
  using enum memory_order;
  using enum thread_scope;
  bool shown[rows];
  for (std::uint32_t row = 0; row < rows; ++row) shown[row] = is_shown(first_leaf + mine + row * lanes);
  for (std::uint32_t row = 0; row < rows; ++row) {
    const std::uint32_t before = (mine + row * lanes) * leaf_bits;
    const std::uint32_t wanted = before < most ? most - before : 0;
    if (wanted != 0 && shown[row]) {
      const std::uint64_t mask = detail::bit_range(0, wanted < leaf_bits ? wanted : leaf_bits);
      const std::uint32_t leaf = first_leaf + mine + row * lanes;
      const auto count = static_cast<std::uint32_t>(popcount(mask));
      if (groups_ != nullptr && !count_off(leaf, count)) continue;
      got[row] = leaf_view(leaf).fetch_and(~mask, acquire, device) & mask;
      if (groups_ != nullptr && got[row] != mask) {
        count_on(leaf, count - static_cast<std::uint32_t>(popcount(got[row])));
      }
    }
  }
}

WARPHEAP_COLD_FN inline index_run bit_tree::take_run(lane_mask group, std::uint64_t most) const {
  invariant(groups_ == nullptr, "bit_tree: take_run in a set with groups");
  index_run run{0, 0};
  if (is_leader(group)) {
    for (std::uint32_t leaf = 0; run.count == 0 && find(false, leaf);) run = take_from_leaf(leaf, most);
  }
  run = {shuffle(group, run.first, leader(group)), shuffle(group, run.count, leader(group))};
  if (run.count != 0 && run.count < most && (run.first + run.count) % leaf_bits == 0) {
    const std::uint64_t rest = most - run.count;
    constexpr std::uint32_t all = most_leaves * leaf_bits;
    run.count += extend(group, static_cast<std::uint32_t>((run.first + run.count) / leaf_bits),
                        rest < all ? static_cast<std::uint32_t>(rest) : all);
  }
  return run;
}

// `take_high` if `highest`, else `take_low`. Collective.
WARPHEAP_COLD_FN inline std::uint64_t bit_tree::take_some(bool highest, lane_mask group, std::uint32_t leaves,
                                                          std::uint32_t most, std::uint32_t& leaf) const {
  using enum memory_order;
  using enum thread_scope;
  const auto rank = static_cast<std::uint32_t>(group_rank(group));
  const auto lanes = static_cast<std::uint32_t>(group_size(group));
  const std::uint32_t used = leaves < lanes ? leaves : lanes;
  invariant(groups_ == nullptr, "bit_tree: take_high or take_low in a set with groups");
  for (;;) {
    bool found = false;
    std::uint32_t end = 0;
    if (is_leader(group)) found = find(highest, end);
    if (!any(group, found)) return 0;
    end = shuffle(group, end, leader(group));
    leaf = highest ? end - rank : end + rank;
    std::uint64_t got = 0;
    bool emptied = false;
    const bool shown = rank < used && is_shown(leaf);  // below the lowest the number wraps around
    const lane_mask lookers = ballot(group, shown);
    if (shown) {
      std::uint64_t mask = leaf_view(leaf).load(relaxed, device);
      if (popcount(mask) > static_cast<int>(most)) {
        // Keep the members above the highest bit above which there are more than wanted.
        std::uint32_t bit = 0;
        for (std::uint32_t step = 32; step != 0; step /= 2) {
          if (popcount(mask >> (bit + step)) > static_cast<int>(most)) bit += step;
        }
        mask &= ~std::uint64_t{0} << (bit + 1);
      }
      const std::uint64_t before = leaf_view(leaf).fetch_and(~mask, acquire, device);
      emptied = (before & ~mask) == 0;
      got = before & mask;
    }
    if (any(group, emptied)) {
      const auto reach = static_cast<std::uint32_t>(popcount(group & low_bits(highest_bit(lookers))));
      hide_together(group, highest ? end - reach : end, highest ? end + 1 : end + reach + 1);
    }
    if (any(group, got != 0)) return got;
  }
}

// As `take_exactly`. In a set with groups each `part` members of the run are added by themselves, so a group is taken
// as a whole only if it lies in one part.
WARPHEAP_COLD_FN inline bool bit_tree::take_parts(index_run run, std::uint32_t part) const {
  // Members are below 2^25.
  const auto first = static_cast<std::uint32_t>(run.first);
  const std::uint32_t end = first + static_cast<std::uint32_t>(run.count);
  begin_change();
  bool complete = true;
  std::uint32_t at = first;
  while (complete && at != end) {  // not a spin: each turn goes on to later leaves
    complete = groups_ == nullptr ? take_next(at, end) : take_next_of_groups(at, at - (at - first) % part + part);
  }
  if (!complete) {
    for (std::uint32_t back = first; back < at; back += part) add({back, at - back < part ? at - back : part});
  } else if (groups_ == nullptr) {
    hide_taken(first, end);
  }
  end_change();
  return complete;
}

// Hides the leaves of the members [first, end), which were taken, where nothing is left. One lane, with the change
// begun.
WARPHEAP_COLD_FN inline void bit_tree::hide_taken(std::uint32_t first, std::uint32_t end) const {
  const std::uint32_t leaf = first / leaf_bits;
  const std::uint32_t last = (end - 1) / leaf_bits;
  if (last != leaf) {
    hide_together(lane_bit(), leaf, last + 1);
  } else if (shown_word(leaf) == 0) {
    hide(leaf);
  }
}

// Takes the members [at, end), or those of the first few leaves of them, and goes on to the next; none, and false, if
// one is not in the set. One lane, with the change begun.
WARPHEAP_COLD_FN inline bool bit_tree::take_next(std::uint32_t& at, std::uint32_t end) const {
  const std::uint32_t leaf = at / leaf_bits;
  const std::uint32_t stop = end - leaf * leaf_bits < at_once * leaf_bits ? end : (leaf + at_once) * leaf_bits;
  std::uint64_t got[at_once];
  if (take_leaves(at, stop, got)) {
    at = stop;
    return true;
  }
  for (std::uint32_t i = 0; i < at_once; ++i) {
    if (got[i] != 0) insert(leaf + i, got[i]);
  }
  return false;
}

// Takes what is there of the members [at, stop), which lie in `at_once` leaves at most; true if that is all. Several
// leaves at a time, since each access waits for memory; the fence stands for the acquires of all. One lane.
WARPHEAP_COLD_FN inline bool bit_tree::take_leaves(std::uint32_t at, std::uint32_t stop,
                                                   std::uint64_t (&got)[at_once]) const {
  using enum memory_order;
  using enum thread_scope;
  const std::uint32_t leaf = at / leaf_bits;
  std::uint64_t lacking[at_once];
  for (std::uint32_t i = 0; i < at_once; ++i) {
    const std::uint32_t begin = (leaf + i) * leaf_bits;
    std::uint64_t mask = 0;
    if (begin < stop) {
      const std::uint32_t from = at < begin ? 0 : at - begin;
      const std::uint32_t upto = stop - begin < leaf_bits ? stop - begin : leaf_bits;
      mask = detail::bit_range(from, upto - from);
    }
    got[i] = mask == 0 ? 0 : leaf_view(leaf + i).fetch_and(~mask, before_acquire_fence, device) & mask;
    lacking[i] = mask ^ got[i];
  }
  fence(acquire, device);
  std::uint64_t any_lacking = 0;
  for (std::uint32_t i = 0; i < at_once; ++i) any_lacking |= lacking[i];
  return any_lacking == 0;
}

}  // namespace warpheap
