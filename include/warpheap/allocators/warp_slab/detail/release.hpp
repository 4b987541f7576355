// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocators/warp_slab/warp_slab.hpp>

// Blocks that come back, and the hints that lead to them.
//
// Three levels lead to a free block: the class's set of places, the hint of the slab, and the word. Invariant: after a
// release has returned, and while the block was not claimed, the hint and the bit of the place are set, or a thread
// that is about to set them, or cleared them to look again, is counted in `changes_begun` and not yet in
// `changes_ended`. A hint of a slab without free blocks only costs time.
//
// A slab can be taken back as soon as its last block is free, so who shows or hides it may come late, and find another
// slab in its place. Hints are changed only if they are still those of the class, and of the place that is meant. Of
// the set of places, late news can only be a mark too many.
//
// Orders: releasing and hiding race as in Dekker's algorithm. Who releases sets the word and then looks at the hint;
// who hides clears the hint and then looks at all words of the slab, by RMWs that change nothing. These RMWs acquire
// and release, by themselves or by the fences around them, so of two on one word the later sees the earlier and what
// came before it: either the hider sees the block, or the releaser the cleared hint. The same holds one level up.

namespace warpheap {

WARPHEAP_FN inline void warp_slab::begin_change(std::uint32_t c) const {
  // Released by the RMWs that follow.
  atomic_view{of_class(c).changes_begun}.fetch_add(1, memory_order::relaxed, thread_scope::device);
}
WARPHEAP_FN inline void warp_slab::end_change(std::uint32_t c) const {
  atomic_view{of_class(c).changes_ended}.fetch_add(1, memory_order::release, thread_scope::device);
}

// Makes blocks free. One lane.
//
// A hint that is there already has the bit above it, or is just being set by somebody whom the counts tell of.
WARPHEAP_FN inline void warp_slab::put_back(slab_claim blocks) const {
  using enum memory_order;
  using enum thread_scope;
  // Releases the accesses of who had the blocks.
  const slab_word old{word(blocks.word).fetch_or(blocks.blocks, acq_rel, device)};
  invariant((old.free() & blocks.blocks) == 0, "warp_slab: a block was freed twice");
  const std::uint32_t unit = blocks.word / classes::most_words;
  const std::uint32_t c = old.of_class();
  const slab_hint seen{atomic_view{header(unit).hint}.load(acquire, device)};
  if (!seen.shown() && seen.is_of(c)) show(unit, c);
}

// Sets the hint of the slab that begins at `unit`, if it is still of class `c`.
WARPHEAP_COLD_FN inline void warp_slab::show(std::uint32_t unit, std::uint32_t c) const {
  using enum memory_order;
  using enum thread_scope;
  const atomic_view view{header(unit).hint};
  begin_change(c);
  slab_hint seen{view.load(acquire, device)};
  while (seen.is_of(c) && !seen.shown()) {  // not a spin: it fails only when another change came first
    if (!view.compare_exchange(seen.value, seen.with(), acq_rel, device)) continue;
    hints(c).mark(seen.place());
    break;
  }
  end_change(c);
}

// Clears the hint of a slab that was seen to have no free block, and sets it again if it turns out to have some.
// Collective.
WARPHEAP_COLD_FN inline void warp_slab::hide(lane_mask group, std::uint32_t c, std::uint32_t place,
                                             std::uint32_t unit) const {
  using enum memory_order;
  using enum thread_scope;
  bool cleared = false;
  if (is_leader(group)) {
    begin_change(c);
    const atomic_view view{header(unit).hint};
    slab_hint seen{view.load(relaxed, device)};
    while (!cleared && seen.shown() && seen.is_of(c) && seen.place() == place) {  // not a spin: as above
      cleared = view.compare_exchange(seen.value, seen.without(), acq_rel, device);
    }
  }
  if (any(group, cleared)) {
    sync(group);  // the clearing comes before the looks of all lanes
    // Two fences order all looks of a lane, each of which would wait by itself.
    fence(acq_rel, device);
    bool some = false;
    for (auto w = static_cast<std::uint32_t>(group_rank(group)); w < classes::words(c);
         w += static_cast<std::uint32_t>(group_size(group))) {
      const slab_word left{word(unit * classes::most_words + w).fetch_or(0, relaxed, device)};
      if (left.free() != 0 || !left.is_of(c)) some = true;  // who takes the slab back may still put it back
    }
    fence(acq_rel, device);
    some = any(group, some);
    sync(group);
    if (is_leader(group) && some) show(unit, c);
    if (is_leader(group) && !some) drop_place(c, place);
  }
  if (is_leader(group)) end_change(c);
}

// Takes a place out of the class's set that seems to have no slab with hints.
WARPHEAP_COLD_FN inline void warp_slab::drop_place(std::uint32_t c, std::uint32_t place) const {
  using enum memory_order;
  using enum thread_scope;
  begin_change(c);
  hints(c).unmark(place);
  const std::uint32_t entry = table(c, place).fetch_or(0, acq_rel, device);
  if (entry != 0) {
    const slab_hint left{atomic_view{header(entry - 1).hint}.fetch_or(0, acq_rel, device)};
    if (left.shown() && left.is_of(c) && left.place() == place) hints(c).mark(place);
  }
  end_change(c);
}

WARPHEAP_FN inline void warp_slab::free(void* freed) const {
  using enum memory_order;
  using enum thread_scope;
  const auto offset = static_cast<std::uint64_t>(static_cast<std::byte*>(freed) - data_);
  const auto unit = static_cast<std::uint32_t>(offset >> classes::unit_shift);
  // What the header says was written before the block was handed out.
  const std::uint32_t owner = header(unit).owner;
  if (owner >= layout::run_base) return free_run(unit, owner - layout::run_base);
  const std::uint32_t slab = unit - (owner >> 8);
  const auto in_slab = static_cast<std::uint32_t>(offset - (std::uint64_t{slab} << classes::unit_shift));
  const std::uint32_t at = classes::block_at((owner & 255) - 1, in_slab);
  const lane_mask group = active_group();
  const std::uint32_t mine = slab * classes::most_words + at / 32;
  const lane_mask same =
      match(group, reinterpret_cast<std::uint64_t>(&word_of(mine)));  // lanes may use different heaps
  const std::uint32_t blocks = reduce(same, 1u << at % 32, bit_or{});
  sync(same);  // the leader releases the accesses of all
  if (is_leader(same)) put_back({mine, blocks});
}

}  // namespace warpheap
