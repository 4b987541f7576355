// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/structures/bit_tree.hpp>
#include <warpheap/structures/detail/word_bits.hpp>

// Runs of aligned blocks, found by a whole group. A block begins in one leaf and ends there or in the next, so each
// lane looks for blocks that begin in a leaf of its own.
//
// Beside the group, other threads take only blocks within a leaf, which count as changes. So without a change, a block
// that was in the set when the search began is there until the search comes by; and if the search finds no block, none
// was there when it began.

namespace warpheap {
namespace detail {

// The bits of the word of leaf `leaf` with which blocks of `size` set bits begin, at multiples of `size` from member 0
// on; they may go on in the word of the next leaf.
WARPHEAP_FN inline std::uint64_t blocks_of(std::uint32_t leaf, std::uint64_t word, std::uint64_t next,
                                           std::uint32_t size) {
  for (std::uint32_t length = 1, step = 1; length < size; length += step) {
    step = length < size - length ? length : size - length;
    word &= word >> step | next << (64 - step);
    next &= next >> step;
  }
  std::uint64_t multiples = 1;
  for (std::uint32_t step = size; step < 64; step *= 2) multiples |= multiples << step;
  const std::uint32_t above = leaf * 64 % size;  // how far above a multiple the leaf begins
  return word & (above == 0 ? multiples : multiples << (size - above));
}

// The members of blocks of `size` neighbours in one leaf that begin with the members `begins`.
WARPHEAP_FN inline std::uint64_t members_of(std::uint64_t begins, std::uint32_t size) {
  for (std::uint32_t length = 1, step = 1; length < size; length += step) {
    step = length < size - length ? length : size - length;
    begins |= begins << step;
  }
  return begins;
}

}  // namespace detail

WARPHEAP_COLD_FN inline index_run bit_tree::take_blocks(lane_mask group, std::uint32_t size, std::uint32_t most) const {
  const blocks wanted{size, most};  // in memory, so that it needs no registers
  index_run run{0, 0};
  while (search_blocks(group, wanted, run)) {  // not a spin: once more only if another took of what was found
    extend_blocks(group, wanted, run);
    if (run.count != 0) break;
  }
  return run;
}

WARPHEAP_COLD_FN inline bool bit_tree::has_block(lane_mask group, std::uint32_t size) const {
  std::uint32_t leaf = 0;
  return look_for_blocks(group, leaf, size);
}

// Extends `run`, which begins with a block, by members of later leaves that follow it, and adds those again that are no
// whole block at its end. Collective.
WARPHEAP_COLD_FN inline void bit_tree::extend_blocks(lane_mask group, const blocks& wanted, index_run& run) const {
  const std::uint64_t end = run.first + run.count;
  const auto rest = static_cast<std::uint32_t>(wanted.size * wanted.most - run.count);
  if (rest != 0 && end % leaf_bits == 0) {
    run.count += extend(group, static_cast<std::uint32_t>(end / leaf_bits), rest);
  }
  const std::uint32_t broken = static_cast<std::uint32_t>(run.count) % wanted.size;
  run.count -= broken;
  if (broken != 0 && is_leader(group)) add({run.first + run.count, broken});
}

// Takes the blocks of the first leaf that has one; of the last block maybe a part, which goes on in the next leaf.
// False if at one moment of the call no leaf had a block. Collective.
WARPHEAP_COLD_FN inline bool bit_tree::search_blocks(lane_mask group, const blocks& wanted, index_run& run) const {
  std::uint32_t leaf = 0;
  while (find_blocks(group, leaf, wanted.size)) {  // not a spin: once more only if another took what was found
    if (is_leader(group)) run = blocks_from_leaf(leaf, wanted);
    run = {shuffle(group, run.first, leader(group)), shuffle(group, run.count, leader(group))};
    if (run.count != 0) return true;
  }
  return false;
}

// The first leaf with a block of `size`; false if at one moment of the call no leaf had one. Collective.
WARPHEAP_COLD_FN inline bool bit_tree::find_blocks(lane_mask group, std::uint32_t& leaf, std::uint32_t size) const {
  bool quiescent = false;
  while (!look_for_blocks_once(group, leaf, size, quiescent)) {  // not a spin: it searches anew, and pauses in between
    if (quiescent) return false;
    backoff{}.pause();
    sync(group);
  }
  return true;
}

// One search; `quiescent` if it found no block and the set had none. Collective.
WARPHEAP_COLD_FN inline bool bit_tree::look_for_blocks_once(lane_mask group, std::uint32_t& leaf, std::uint32_t size,
                                                            bool& quiescent) const {
  const quiescence_snapshot before = begin_snapshot();
  sync(group);
  if (look_for_blocks(group, leaf, size)) return true;
  // Members that were on their way in may have been missed.
  quiescent = is_leader(group) && was_quiescent(before);
  sync(group);
  quiescent = any(group, quiescent);
  return false;
}

// One pass over the set. Collective.
WARPHEAP_COLD_FN inline bool bit_tree::look_for_blocks(lane_mask group, std::uint32_t& leaf, std::uint32_t size) const {
  std::uint32_t from = 0;
  while (find_together(group, from)) {  // not a spin: each turn goes on to later leaves
    const lane_mask having = look_together(group, from, size);
    if (having != 0) {
      leaf = from + static_cast<std::uint32_t>(popcount(group & low_bits(leader(having))));
      return true;
    }
    from += static_cast<std::uint32_t>(group_size(group));
  }
  return false;
}

// The bits of `leaf`, which is shown, with which blocks of `size` begin. One lane.
WARPHEAP_FN inline std::uint64_t bit_tree::blocks_of_leaf(std::uint32_t leaf, std::uint32_t size) const {
  const bool goes_on = leaf_bits % size != 0 && is_shown(leaf + 1);
  return detail::blocks_of(leaf, leaf_word(leaf), goes_on ? leaf_word(leaf + 1) : 0, size);
}

// The lanes whose leaf, `from` and the lane's rank, has a block of `size`. Collective.
WARPHEAP_COLD_FN inline lane_mask bit_tree::look_together(lane_mask group, std::uint32_t from,
                                                          std::uint32_t size) const {
  const std::uint32_t mine = from + static_cast<std::uint32_t>(group_rank(group));
  return ballot(group, is_shown(mine) && blocks_of_leaf(mine, size) != 0);
}

// As `next_leaf` from `leaf` on, by one lane for all. Collective.
WARPHEAP_COLD_FN inline bool bit_tree::find_together(lane_mask group, std::uint32_t& leaf) const {
  bool found = false;
  if (is_leader(group)) found = next_leaf(leaf, leaf);
  const lane_mask reconverged = reconverge(group);
  leaf = shuffle(reconverged, leaf, leader(group));
  return any(reconverged, found);
}

// Takes the members of `leaf` from its first block on that follow each other, `wanted.most` blocks of them at most and
// as far as others have not taken them. One lane.
WARPHEAP_COLD_FN inline index_run bit_tree::blocks_from_leaf(std::uint32_t leaf, const blocks& wanted) const {
  const std::uint64_t begins = blocks_of_leaf(leaf, wanted.size);
  if (begins == 0) return {0, 0};
  const auto first = static_cast<std::uint32_t>(lowest_bit(begins));
  const std::uint32_t most = wanted.size * wanted.most;
  const std::uint32_t length = detail::trailing_ones(shown_word(leaf) >> first);
  const std::uint32_t count = length < most ? length : most;
  if (count == 0) return {0, 0};
  const std::uint64_t mask = detail::bit_range(first, count);
  std::uint64_t before = 0;
  if (!begin_take_of(leaf, mask, before)) return {0, 0};
  const std::uint64_t got = before & mask;
  const std::uint32_t whole = detail::trailing_ones(got >> first);
  end_take_of(leaf, mask, before, whole == 0 ? got : got & ~detail::bit_range(first, whole));
  return {std::uint64_t{leaf} * leaf_bits + first, whole};
}

// Begins a change, and takes those members of `mask` that `leaf` has; `before` becomes what it had. `end_take_of` ends
// the change: members that go back are missing for a while. False, with the change ended, if the leaf's group was
// taken. One lane.
WARPHEAP_COLD_FN inline bool bit_tree::begin_take_of(std::uint32_t leaf, std::uint64_t mask,
                                                     std::uint64_t& before) const {
  if (!begin_take(leaf, static_cast<std::uint32_t>(popcount(mask)))) {
    end_change();
    return false;
  }
  before = leaf_view(leaf).fetch_and(~mask, memory_order::acquire, thread_scope::device);
  return true;
}

// Ends such a take of `mask`, of which `rest` goes back. One lane.
WARPHEAP_COLD_FN inline void bit_tree::end_take_of(std::uint32_t leaf, std::uint64_t mask, std::uint64_t before,
                                                   std::uint64_t rest) const {
  if (rest != 0) {
    add(leaf, rest);
  } else if ((before & ~mask) == 0) {
    hide(leaf);
  }
  const std::uint64_t lacking = mask & ~before;
  if (groups_ != nullptr && lacking != 0) count_on(leaf, static_cast<std::uint32_t>(popcount(lacking)));
  end_change();
}

WARPHEAP_COLD_FN inline std::uint64_t bit_tree::take_blocks_apart(lane_mask group, std::uint32_t size,
                                                                  std::uint32_t most, std::uint32_t& leaf) const {
  std::uint32_t from = 0;
  while (find_together(group, from)) {  // not a spin: each turn goes on to later leaves
    leaf = from + static_cast<std::uint32_t>(group_rank(group));
    std::uint64_t mine = is_shown(leaf) ? detail::blocks_of(leaf, leaf_word(leaf), 0, size) : 0;
    mine = share_of_blocks(group, mine, most);
    if (mine != 0) mine = take_blocks_of(leaf, mine, size);
    if (any(reconverge(group), mine != 0)) return mine;
    from += static_cast<std::uint32_t>(group_size(group));
  }
  return 0;
}

// Some of the blocks that the caller saw, so that all lanes together have `most` at most, and each one its share of
// these. Collective.
WARPHEAP_COLD_FN inline std::uint64_t bit_tree::share_of_blocks(lane_mask group, std::uint64_t begins,
                                                                std::uint32_t most) const {
  const auto lanes = static_cast<std::uint32_t>(group_size(group));
  const std::uint32_t each = most / lanes + (most % lanes != 0 ? 1 : 0);
  const auto seen = static_cast<std::uint32_t>(popcount(begins));
  std::uint32_t count = seen < each ? seen : each;
  const std::uint32_t before = exclusive_scan(group, count, std::uint32_t{0}, plus{});
  const std::uint32_t left = before < most ? most - before : 0;
  if (count > left) count = left;
  if (count == seen) return begins;
  const std::uint64_t next = std::uint64_t{1} << detail::nth_mark(begins, static_cast<int>(count));
  return begins & (next - 1);
}

// Takes blocks that the caller saw in a leaf, as far as no thread took of them meanwhile. Returns the members with
// which they begin. One lane.
//
// It counts as a change, as a take of one block does.
WARPHEAP_COLD_FN inline std::uint64_t bit_tree::take_blocks_of(std::uint32_t leaf, std::uint64_t begins,
                                                               std::uint32_t size) const {
  const std::uint64_t mask = detail::members_of(begins, size);
  std::uint64_t before = 0;
  if (!begin_take_of(leaf, mask, before)) return 0;
  const std::uint64_t got = before & mask;
  if (got != mask) begins &= detail::blocks_of(leaf, got, 0, size);
  end_take_of(leaf, mask, before, got & ~detail::members_of(begins, size));
  return begins;
}

WARPHEAP_COLD_FN inline bool bit_tree::try_take_block(std::uint32_t size, std::uint32_t mine, std::uint32_t window,
                                                      std::uint32_t& first) const {
  constexpr std::uint32_t most = 12;  // looks at leaves without a block, which may be about to be hidden
  std::uint32_t looks = 0;
  for (backoff wait; looks < most;) {  // not a spin: but for such looks another was quicker and has a block
    std::uint32_t leaf = 0;
    if (!find_in_window(mine / (leaf_bits / size), window, looks, leaf)) return false;
    const block_found then = take_block_of(leaf, size, mine, first);
    if (then == block_found::taken) return true;
    if (then == block_found::none) {
      ++looks;
      wait.pause();
    }
    // Threads that wanted the same block part.
    mine = spread(mine + 1);
    mine ^= mine >> 15;
  }
  return false;
}

WARPHEAP_COLD_FN inline bool bit_tree::try_take_from(std::uint32_t size, std::uint32_t mine, std::uint32_t& leaf,
                                                     std::uint32_t& first) const {
  constexpr std::uint32_t most = 16;       // looks at leaves without a block
  constexpr std::uint32_t most_lost = 64;  // blocks that others were quicker to take, or a part of which they had
  std::uint32_t looks = 0;
  bool from_begin = leaf == 0;
  for (std::uint32_t lost = 0; looks < most && lost < most_lost;) {  // not a spin: both are bounded
    if (!next_leaf(leaf, leaf)) {
      if (from_begin) return false;
      from_begin = true;
      leaf = 0;
      continue;
    }
    const block_found then = take_block_of(leaf, size, mine, first);
    if (then == block_found::taken) return true;
    if (then == block_found::none) {
      leaf += ++looks;  // by longer and longer steps, since neighbours are mostly alike
    } else {
      ++lost;
      mine = spread(mine + leaf + lost) >> 16;  // threads that wanted the same block part
    }
  }
  return false;
}

// Sets `leaf` to the first leaf that may have members, from `mine` modulo `window` plus `looks` leaves above the lowest
// such leaf on; to that lowest one if there is no other. False if no leaf may have members.
WARPHEAP_COLD_FN inline bool bit_tree::find_in_window(std::uint32_t mine, std::uint32_t window, std::uint32_t looks,
                                                      std::uint32_t& leaf) const {
  std::uint32_t lowest = 0;
  if (!next_leaf(0, lowest)) return false;
  if (!next_leaf(lowest + mine % window + looks, leaf)) leaf = lowest;
  return true;
}

// Takes one of the blocks of a leaf, if there are any and no other thread takes a part of it first. One lane.
//
// It counts as a change even when no member goes back: a search that passes this leaf later, and found others empty
// before, must learn that a block was here.
WARPHEAP_COLD_FN inline auto bit_tree::take_block_of(std::uint32_t leaf, std::uint32_t size, std::uint32_t mine,
                                                     std::uint32_t& first) const -> block_found {
  const std::uint64_t begins = detail::blocks_of(leaf, leaf_word(leaf), 0, size);
  if (begins == 0) return block_found::none;
  // By its position, if that is free, so that callers with different numbers want different blocks.
  const std::uint32_t own = mine % (leaf_bits / size) * size;
  const std::uint32_t bit =
      (begins >> own & 1) != 0
          ? own
          : detail::nth_mark(begins, static_cast<int>(mine % static_cast<std::uint32_t>(popcount(begins))));
  first = leaf * leaf_bits + bit;
  return try_take({first, size}) ? block_found::taken : block_found::lost;
}

WARPHEAP_COLD_FN inline bool bit_tree::try_take(index_run run) const {
  const auto leaf = static_cast<std::uint32_t>(run.first / leaf_bits);
  const std::uint64_t mask = detail::bit_range(static_cast<std::uint32_t>(run.first % leaf_bits), run.count);
  const auto count = static_cast<std::uint32_t>(run.count);
  std::uint64_t got = 0;
  // A change, also where no member goes back: a search that is to prove that no block was in the set must see the take.
  if (begin_take(leaf, count)) {
    const std::uint64_t before = leaf_view(leaf).fetch_and(~mask, memory_order::acquire, thread_scope::device);
    got = before & mask;
    if (got != mask) {
      if (got != 0) add(leaf, got);
      if (groups_ != nullptr) count_on(leaf, count - static_cast<std::uint32_t>(popcount(got)));
    } else if ((before & ~mask) == 0) {
      hide(leaf);
    }
  }
  end_change();
  return got == mask;
}

}  // namespace warpheap
