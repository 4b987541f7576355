// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/structures/bit_tree.hpp>
#include <warpheap/structures/detail/word_bits.hpp>

// Runs of neighbours of a wanted length, from an aligned member on.

namespace warpheap {

WARPHEAP_COLD_FN inline index_run bit_tree::take_neighbours(std::uint32_t least, std::uint32_t most,
                                                            std::uint32_t alignment, std::uint32_t phase) const {
  const neighbours wanted{least, most, alignment, phase & (alignment - 1)};  // in memory, so that it needs no registers
  index_run run{0, 0};
  while (!search_neighbours_once(wanted, run))
    backoff{}.pause();  // not a spin: it searches anew, and pauses in between
  return run;
}

// One search; false if it found no run and may have missed members that a change was adding or taking.
WARPHEAP_COLD_FN inline bool bit_tree::search_neighbours_once(const neighbours& wanted, index_run& run) const {
  const quiescence_snapshot before = begin_snapshot();
  run = search_neighbours(wanted);
  return run.count != 0 || was_quiescent(before);
}

// One pass over the set.
WARPHEAP_COLD_FN inline index_run bit_tree::search_neighbours(const neighbours& wanted) const {
  std::uint32_t first = 0;  // of the run so far
  std::uint32_t end = 0;
  for (;;) {
    const index_run next = neighbours_of_leaf(end);
    // The run goes on if the next member follows, and ends anyhow when it is long enough.
    if (next.count == 0 || next.first != end || end - first >= wanted.most + wanted.alignment) {
      if (end - first >= wanted.least) {
        const index_run found = take_aligned(first, end, wanted);
        if (found.count != 0) return found;
        // Too short when aligned; or another thread took a part of it, and the snapshot tells of that.
      }
      if (next.count == 0) return {0, 0};
      first = static_cast<std::uint32_t>(next.first);
    }
    end = static_cast<std::uint32_t>(next.first + next.count);
    const std::uint64_t most = std::uint64_t{wanted.most} + wanted.alignment;
    if (end % leaf_bits == 0 && end - first < most) {
      end += leaf_bits * whole_leaves(end / leaf_bits, static_cast<std::uint32_t>((most - (end - first)) / leaf_bits));
    }
  }
}

// How many leaves from `leaf` on have all of their members, one after the other: as far as `most`. A hint while others
// add and take. One lane.
WARPHEAP_COLD_FN inline std::uint32_t bit_tree::whole_leaves(std::uint32_t leaf, std::uint32_t most) const {
  if (most > most_leaves - leaf) most = most_leaves - leaf;
  std::uint32_t count = 0;
  while (count < most) {  // not a spin: each turn goes on to later leaves
    const std::uint32_t at = leaf + count;
    if (groups_ != nullptr && group_of(at).is_full()) {
      const std::uint32_t rest = 64 - at % 64;
      const std::uint32_t groups = rest == 64 ? count_full_groups(at / 64, (most - count) / 64) : 0;
      count += groups != 0 ? 64 * groups : rest < most - count ? rest : most - count;
      continue;
    }
    const std::uint32_t wanted = most - count < at_once ? most - count : at_once;
    const std::uint32_t whole = whole_leaves_at_once(leaf + count, wanted);
    count += whole;
    if (whole < wanted) break;
  }
  return count;
}

// As `whole_leaves`, for `most` of up to `at_once` leaves, which are read side by side.
WARPHEAP_COLD_FN inline std::uint32_t bit_tree::whole_leaves_at_once(std::uint32_t leaf, std::uint32_t most) const {
  bool shown[at_once];
  for (std::uint32_t i = 0; i < at_once; ++i) shown[i] = i < most && is_shown(leaf + i);
  std::uint64_t lacking[at_once];
  for (std::uint32_t i = 0; i < at_once; ++i) lacking[i] = shown[i] ? ~shown_word(leaf + i) : 1;
  std::uint32_t count = 0;
  for (std::uint32_t i = at_once; i-- > 0;) count = lacking[i] == 0 ? count + 1 : 0;
  return count;
}

// The first member from `from` on, and those that follow it in the same leaf. A hint while others add and take.
WARPHEAP_COLD_FN inline index_run bit_tree::neighbours_of_leaf(std::uint32_t from) const {
  for (std::uint32_t leaf = 0; next_leaf(from / leaf_bits, leaf); from = (leaf + 1) * leaf_bits) {
    if (leaf != from / leaf_bits) from = leaf * leaf_bits;
    const std::uint64_t word = shown_word(leaf) >> from % leaf_bits;
    if (word == 0) continue;
    const auto gap = static_cast<std::uint32_t>(lowest_bit(word));
    return {from + gap, detail::trailing_ones(word >> gap)};
  }
  return {0, 0};
}

// Takes a run of the members [first, end), which were seen to be there: from the first aligned one on, as long as
// `wanted` allows. An empty run if it would be too short, or a member is gone.
WARPHEAP_COLD_FN inline index_run bit_tree::take_aligned(std::uint32_t first, std::uint32_t end,
                                                         const neighbours& wanted) const {
  // Members are below 2^25, so no sum overflows up to alignments of 2^28.
  const std::uint32_t below = wanted.alignment - 1;
  const std::uint32_t begin = ((first + wanted.phase + below) & ~below) - wanted.phase;
  if (begin >= end || end - begin < wanted.least) return {0, 0};
  const std::uint32_t room = end - begin < wanted.most ? end - begin : wanted.most;
  const index_run run{begin, room - room % wanted.least};
  return take_parts(run, wanted.least) ? run : index_run{0, 0};
}

}  // namespace warpheap
