// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocators/warp_slab/warp_slab.hpp>

// Slabs without a block in use go back to the units, for any class and for runs.

namespace warpheap {

// Takes back each slab, of any class, whose blocks are all free; true if there was one. The lock's holder. Collective.
WARPHEAP_COLD_FN inline bool warp_slab::reclaim(lane_mask group) const {
  using enum memory_order;
  using enum thread_scope;
  const auto lanes = static_cast<std::uint32_t>(group_size(group));
  bool found = false;
  for (std::uint32_t c = 0; c < classes::count; ++c) {
    const std::uint32_t places = atomic_view{of_class(c).places}.load(relaxed, device);
    for (auto at = static_cast<std::uint32_t>(group_rank(group)); at < places; at += lanes) {
      found = reclaim_slab(c, at) || found;
    }
  }
  sync(group);
  return any(group, found);
}

// One lane, for this slab.
WARPHEAP_COLD_FN inline bool warp_slab::reclaim_slab(std::uint32_t c, std::uint32_t place) const {
  using enum memory_order;
  using enum thread_scope;
  const std::uint32_t entry = table(c, place).load(relaxed, device);
  if (entry == 0) return false;
  const std::uint32_t unit = entry - 1;
  const std::uint32_t first = unit * classes::most_words;
  const std::uint32_t words = classes::words(c);
  const auto whole = [&](std::uint32_t w) { return slab_word::make(c, layout::all_blocks(c, w)); };
  for (std::uint32_t w = 0; w < words; ++w) {
    if (word(first + w).load(relaxed, device) != whole(w).value) return false;
  }
  // Whoever misses these blocks meanwhile sees the change.
  begin_change(c);
  std::uint32_t taken = 0;
  for (; taken < words; ++taken) {
    std::uint64_t expected = whole(taken).value;
    // Acquires what those who had the blocks did; tag and all, so that nobody takes the slab for one of the class.
    if (!word(first + taken).compare_exchange(expected, 0, acq_rel, device)) break;
  }
  const bool all = taken == words;
  if (all) {
    table(c, place).store(0, relaxed, device);
    atomic_view{of_class(c).vacant}.fetch_add(1, relaxed, device);
    atomic_view{header(unit).hint}.store(0, relaxed, device);  // late changes of the hint end here
    for (std::uint32_t u = 0; u < classes::units(c); ++u) header(unit + u).owner = 0;
    hints(c).unmark(place);
    free_units().add({unit, classes::units(c)});
  } else {
    while (taken-- > 0) word(first + taken).store(whole(taken).value, release, device);
  }
  end_change(c);
  return all;
}

}  // namespace warpheap
