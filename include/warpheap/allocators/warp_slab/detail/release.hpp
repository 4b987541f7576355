// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocators/warp_slab/warp_slab.hpp>

// Blocks that come back, and the hints that lead to them.
//
// Three levels lead to a free block: the class's set of places, the hints of the slab, and the word. Invariant: after a
// release has returned, and while the block was not claimed, its bits on the levels above are set, or a thread that is
// about to set them, or cleared them to look again, is counted in `changes_begun` and not yet in `changes_ended`. A set
// bit above words without free blocks only costs time.
//
// A slab can be taken back as soon as its last block is free, so who shows or hides blocks may come late, and find
// another slab in its place. Hints of slabs are changed only if they are still those of the class, and of the place
// that is meant. Of the set of places, late news can only be a mark too many.
//
// Orders: releasing and clearing hints race as in Dekker's algorithm. Who releases sets the word and then looks at the
// hints; who clears clears a hint and then looks at the word, by RMWs that change nothing. All of these RMWs acquire
// and release, so of two on one word the later sees the earlier and what came before it: either the clearer sees the
// block, or the releaser the cleared bit. The same holds one level up.

namespace warpheap {

WARPHEAP_FN inline void warp_slab::begin_change(std::uint32_t c) const {
  // Released by the RMWs that follow.
  atomic_view{of_class(c).changes_begun}.fetch_add(1, memory_order::relaxed, thread_scope::device);
}
WARPHEAP_FN inline void warp_slab::end_change(std::uint32_t c) const {
  atomic_view{of_class(c).changes_ended}.fetch_add(1, memory_order::release, thread_scope::device);
}

// Makes blocks free. One lane.
WARPHEAP_FN inline void warp_slab::put_back(slab_claim blocks) const {
  // Releases the accesses of who had the blocks.
  const slab_word old{word(blocks.word).fetch_or(blocks.blocks, memory_order::acq_rel, thread_scope::device)};
  invariant((old.free() & blocks.blocks) == 0, "warp_slab: a block was freed twice");
  show(blocks.word, old.of_class());
}

// Makes sure that hints lead to a word which the caller saw to be of class `c` and to have free blocks. A bit that is
// there already has those above it, or is just being set or cleared by somebody whom the counts tell of.
WARPHEAP_FN inline void warp_slab::show(std::uint32_t at, std::uint32_t c) const {
  const std::uint32_t bit = 1u << at % classes::most_words;
  const atomic_view view{header(at / classes::most_words).hints};
  const slab_hints seen{view.load(memory_order::acquire, thread_scope::device)};
  if ((seen.words() & bit) == 0 && seen.is_of(c)) set_hint(at, c);
}

// Sets the hints that lead to a word, if it is still of a slab of class `c`.
WARPHEAP_COLD_FN inline void warp_slab::set_hint(std::uint32_t at, std::uint32_t c) const {
  using enum memory_order;
  using enum thread_scope;
  const std::uint32_t bit = 1u << at % classes::most_words;
  const atomic_view view{header(at / classes::most_words).hints};
  begin_change(c);
  slab_hints seen{view.load(relaxed, device)};
  while (seen.is_of(c)) {  // not a spin: it fails only when another change came first
    if (!view.compare_exchange(seen.value, seen.with(bit), acq_rel, device)) continue;
    hints(c).mark(seen.place());
    break;
  }
  end_change(c);
}

// Clears the hint of a word that was seen to have no free block, and that of the slab if it was its last; and sets
// again what turns out to lead somewhere. False if this is not the slab of place `place` any more.
WARPHEAP_COLD_FN inline bool warp_slab::hide(std::uint32_t c, std::uint32_t place, std::uint32_t at) const {
  using enum memory_order;
  using enum thread_scope;
  const std::uint32_t bit = 1u << at % classes::most_words;
  const atomic_view view{header(at / classes::most_words).hints};
  slab_hints seen{view.load(relaxed, device)};
  begin_change(c);
  bool same = true;
  do {  // not a spin: it fails only when another change came first
    same = seen.is_of(c) && seen.place() == place;
  } while (same && (seen.words() & bit) != 0 && !view.compare_exchange(seen.value, seen.without(bit), acq_rel, device));
  if (same && (seen.words() & bit) != 0) {
    const slab_word left{word(at).fetch_or(0, acq_rel, device)};
    if (left.free() != 0 || !left.is_of(c)) {  // who takes the slab back may still put it back
      set_hint(at, c);
    } else if ((seen.words() & ~bit) == 0) {
      drop_place(c, place);
    }
  }
  end_change(c);
  return same;
}

// Takes a place out of the class's set that seems to have no slab with hints.
WARPHEAP_COLD_FN inline void warp_slab::drop_place(std::uint32_t c, std::uint32_t place) const {
  using enum memory_order;
  using enum thread_scope;
  begin_change(c);
  hints(c).unmark(place);
  const std::uint32_t entry = table(c, place).fetch_or(0, acq_rel, device);
  if (entry != 0) {
    const slab_hints left{atomic_view{header(entry - 1).hints}.fetch_or(0, acq_rel, device)};
    if (left.words() != 0 && left.is_of(c) && left.place() == place) hints(c).mark(place);
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
