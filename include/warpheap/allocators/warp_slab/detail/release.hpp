// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocators/warp_slab/warp_slab.hpp>

// Blocks that come back, and the hints that lead to them.
//
// Three levels lead to a free block: the class's set of places, `maybe` of the slab, and the word. Invariant: after a
// release has returned, and while the block was not claimed, its bits on the levels above are set, or a thread that is
// about to set them, or cleared them to look again, is counted in `changes_begun` and not yet in `changes_ended`. A set bit
// above words without free blocks only costs time.
//
// Orders: releasing and clearing hints race as in Dekker's algorithm. Who releases sets the word and then looks at
// `maybe`; who clears clears `maybe` and then looks at the words, by RMWs that change nothing. All of these RMWs acquire
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

// Sets the hints that lead to a word of a slab of class `c`, which has free blocks. The caller knows that the slab stays
// what it is. A bit that is there already has those above it, or is just being set or cleared by somebody whom the
// counts tell of.
WARPHEAP_FN inline void warp_slab::show(std::uint32_t at, std::uint32_t c) const {
  using enum memory_order;
  using enum thread_scope;
  unit_header& slab = header(at / classes::most_words);
  const std::uint32_t bit = 1u << at % classes::most_words;
  const atomic_view maybe{slab.maybe};
  if ((maybe.load(acquire, device) & bit) != 0) return;
  begin_change(c);
  maybe.fetch_or(bit, acq_rel, device);
  hints(c).mark(slab.place);
  end_change(c);
}

// Clears the hint of a word that was seen to have no free block, and that of the slab if it was its last; and sets again what turns out to lead somewhere, or to be somebody else's.
WARPHEAP_FN inline void warp_slab::hide(std::uint32_t c, std::uint32_t place, std::uint32_t unit,
                                        std::uint32_t index) const {
  using enum memory_order;
  using enum thread_scope;
  const atomic_view maybe{header(unit).maybe};
  begin_change(c);
  const std::uint32_t bit = 1u << index;
  const bool last = (maybe.fetch_and(~bit, acq_rel, device) & ~bit) == 0;
  const slab_word seen{word(unit * classes::most_words + index).fetch_or(0, acq_rel, device)};
  bool leads = seen.free() != 0 || !seen.is_of(c);
  if (leads) {
    maybe.fetch_or(bit, acq_rel, device);
  } else if (last) {
    hints(c).unmark(place);
    leads = maybe.fetch_or(0, acq_rel, device) != 0 || table(c, place).fetch_or(0, acq_rel, device) != unit + 1;
  }
  if (leads) hints(c).mark(place);
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
  const lane_mask same = match(group, reinterpret_cast<std::uint64_t>(&word_of(mine)));  // lanes may use different heaps
  const std::uint32_t blocks = reduce(same, 1u << at % 32, bit_or{});
  sync(same);  // the leader releases the accesses of all
  if (is_leader(same)) put_back({mine, blocks});
}

}  // namespace warpheap
