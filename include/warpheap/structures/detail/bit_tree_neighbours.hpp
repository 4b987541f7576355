// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/structures/bit_tree.hpp>

// Members that are neighbours, as many as somebody needs and where they are aligned.

namespace warpheap {

WARPHEAP_COLD_FN inline index_run bit_tree::take_neighbours(std::uint32_t least, std::uint32_t most,
                                                            std::uint32_t alignment, std::uint32_t phase) const {
  for (;;) {  // not a spin: it searches anew, and pauses in between
    const watch before = begin_watch();
    const index_run run = search_neighbours(least, most, alignment, phase);
    // Members that were on their way in or out may have been missed.
    if (run.count != 0 || was_quiet(before)) return run;
    backoff{}.pause();
  }
}

// One pass over the set.
WARPHEAP_COLD_FN inline index_run bit_tree::search_neighbours(std::uint32_t least, std::uint32_t most,
                                                              std::uint32_t alignment, std::uint32_t phase) const {
  struct {
    std::uint32_t first, count;
  } run{0, 0};
  std::uint32_t at = 0;
  for (;;) {
    std::uint32_t leaf = 0;
    const bool more = next_leaf(at / leaf_bits, leaf);
    std::uint64_t word = 0;
    if (more) {
      if (leaf != at / leaf_bits) at = leaf * leaf_bits;
      word = leaf_word(leaf) >> at % leaf_bits;
    }
    // The run goes on if it reaches here and the next member is there, and ends anyhow when it is long enough.
    const bool goes_on = more && run.first + run.count == at && (word & 1) != 0;
    if (run.count >= least && (!goes_on || run.count >= most + alignment)) {
      const index_run found = take_aligned(run.first, run.first + run.count, least, most, alignment, phase);
      if (found.count != 0) return found;
      // Too short when aligned; or somebody took some of it, which is seen afterwards.
    }
    if (!goes_on || run.count >= most + alignment) run.count = 0;
    if (!more) return {0, 0};
    if (word == 0) {
      at = (at & ~(leaf_bits - 1)) + leaf_bits;
      continue;
    }
    if (run.count == 0) {
      const int gap = lowest_bit(word);
      at += static_cast<std::uint32_t>(gap);
      word >>= gap;
      run.first = at;
    }
    const std::uint32_t ones = detail::trailing_ones(word);
    run.count += ones;
    at += ones;
  }
}

// The same of the members [first, end) alone, which were seen to be there.
WARPHEAP_COLD_FN inline index_run bit_tree::take_aligned(std::uint32_t first, std::uint32_t end, std::uint32_t least,
                                                         std::uint32_t most, std::uint32_t alignment,
                                                         std::uint32_t phase) const {
  // How far member 0 lies behind an aligned one. Members are below 2^25, so no sum overflows up to alignments of 2^28.
  phase &= alignment - 1;
  const std::uint32_t begin = ((first + phase + alignment - 1) & ~(alignment - 1)) - phase;
  if (begin >= end || end - begin < least) return {0, 0};
  const std::uint32_t room = end - begin < most ? end - begin : most;
  const index_run run{begin, room - room % least};
  return take_exactly(run) ? run : index_run{0, 0};
}

}  // namespace warpheap
