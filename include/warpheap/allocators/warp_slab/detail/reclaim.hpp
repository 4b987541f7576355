// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocators/warp_slab/warp_slab.hpp>

// Slabs without a block in use go back to the units, for any class and for runs.

namespace warpheap {

// Takes back each slab, of any class, whose blocks are all free; true if there was one. The lock's holder. Collective.
WARPHEAP_COLD_FN inline bool warp_slab::reclaim(lane_mask group) const {
  bool found = false;
  for (std::uint64_t left = control_->used_classes; left != 0; left &= left - 1) {  // not a spin: one turn a class
    found = reclaim_class(group, static_cast<std::uint32_t>(lowest_bit(left))) || found;
  }
  sync(group);
  return found;
}

// The same for one class. Only a slab with a hint can be all free, unless a hint is just changing: then all slabs are
// looked at.
WARPHEAP_COLD_FN inline bool warp_slab::reclaim_class(lane_mask group, std::uint32_t c) const {
  using enum memory_order;
  using enum thread_scope;
  std::uint32_t begun = 0;
  bool quiet = false;
  if (is_leader(group)) {
    const std::uint32_t ended = atomic_view{of_class(c).changes_ended}.load(acquire, device);
    begun = atomic_view{of_class(c).changes_begun}.load(acquire, device);
    quiet = begun == ended;
  }
  sync(group);
  // Only the lock's holder changes it.
  const std::uint32_t places = atomic_view{of_class(c).places}.load(relaxed, device);
  const auto rank = static_cast<std::uint32_t>(group_rank(group));
  const auto lanes = static_cast<std::uint32_t>(group_size(group));
  const std::uint32_t part = (places + lanes - 1) / lanes;
  const std::uint32_t from = rank * part < places ? rank * part : places;
  const std::uint32_t to = places - from < part ? places : from + part;
  bool found = false;
  std::uint64_t marked = 0;
  for (std::uint32_t at = next_place(c, from, to, marked); at < to; at = next_place(c, at + 1, to, marked)) {
    found = reclaim_slab(c, at) || found;
  }
  sync(group);
  if (is_leader(group)) {
    fence(acquire, device);
    quiet = quiet && atomic_view{of_class(c).changes_begun}.load(acquire, device) == begun;
  }
  if (any(group, found)) return true;
  if (any(group, is_leader(group) && quiet)) return false;
  for (std::uint32_t at = rank; at < places; at += lanes) found = reclaim_slab(c, at) || found;
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
  const auto is_whole = [&](std::uint32_t w, slab_word seen) {
    return seen.is_of(c) && seen.free() == layout::all_blocks(c, w);
  };
  for (std::uint32_t w = 0; w < words; ++w) {
    if (!is_whole(w, {word(first + w).load(relaxed, device)})) return false;
  }
  // Whoever misses these blocks meanwhile sees the change.
  begin_change(c);
  std::uint32_t taken = 0;
  for (; taken < words; ++taken) {
    slab_word seen{word(first + taken).load(relaxed, device)};
    bool took = false;
    // Acquires what those who had the blocks did; tag and all, so that nobody takes the slab for one of the class.
    while (!took && is_whole(taken, seen)) {  // not a spin: it fails only when another change came first
      took = word(first + taken).compare_exchange(seen.value, 0, acq_rel, device);
    }
    if (!took) break;
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
    // A hider may have been there meanwhile, so they do not say that they are shown.
    while (taken-- > 0) {
      const slab_word whole = slab_word::make(c, layout::all_blocks(c, taken)).unshown();
      word(first + taken).store(whole.value, release, device);
    }
  }
  end_change(c);
  return all;
}

}  // namespace warpheap
