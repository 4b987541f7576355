// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/dynasoar/detail/blocks.hpp>

// How slots come back: first the bits, then the permits. The giver that makes a block free in a full one lists it as
// active, and the giver of the last object retires it.

namespace warpheap::detail {

WARPHEAP_FN inline std::uint64_t dynasoar_blocks::give(std::uint32_t block, std::uint64_t mask) const {
  slab_entry& entry = headers_[block].entry;
  // The owner's permits keep the type and the generation what they are.
  const slab_entry::contents own = entry.look();
  const std::uint64_t were = slots(block).release_bits(0, mask);
  if (were == 0) return 0;
  const slab_step step = entry.give(static_cast<std::uint32_t>(popcount(were)));
  // Only as long as the block is what it was: a thread may have taken it, and others have retired it since.
  if (step.all_free() && entry.try_retire(own.size_class, own.generation)) {
    cold_call(
        [self = *this, block, type = own.size_class, full = step.first_free()] { self.retire(block, type, full); });
  } else if (step.first_free()) {
    leave_set(block, sets_.rest());
  }
  return were;
}

// Makes a block free whose entry is reserved for the caller. It may still be in the set of active blocks, whose takers
// it refuses; in `rest`, if the last give made the first slot free, or if a thread that moves it saw it reserved; or in
// the hands of such a thread, which follows the entry.
WARPHEAP_COLD_FN inline void dynasoar_blocks::retire(std::uint32_t block, std::uint32_t type, bool was_full) const {
  if (lists_blocks_) {
    // Relaxed: `vacate` releases it, and the next creator acquires that.
    atomic_view{allocated(type)[block / bit_tree::leaf_bits]}.fetch_and(
        ~(std::uint64_t{1} << block % bit_tree::leaf_bits), memory_order::relaxed, thread_scope::device);
  }
  headers_[block].entry.vacate();
  const std::uint32_t first = was_full ? sets_.rest() : active_set(type);
  const std::uint32_t second = was_full ? active_set(type) : sets_.rest();
  if (!sets_.moved(block, first, where())) sets_.moved(block, second, where());
}

WARPHEAP_FN inline bool dynasoar_blocks::give_together(lane_mask group, std::uint32_t block, std::uint32_t slot) const {
  const lane_mask same = match(group, key(block));
  const std::uint32_t bit = 1u << slot % 32;
  const std::uint32_t low = reduce_parts(group, same, slot < 32 ? bit : 0, bit_or{});
  const std::uint32_t high = reduce_parts(group, same, slot >= 32 && slot != no_slot ? bit : 0, bit_or{});
  sync(group);  // the leaders release what all lanes did
  std::uint64_t given = 0;
  if (is_leader(same)) given = give(block, std::uint64_t{high} << 32 | low);
  sync(same);  // no lane returns before its slot can be found; the leader waits for no lane
  given = shuffle(same, given, leader(same));
  return slot != no_slot && (given >> slot & 1) != 0;
}

}  // namespace warpheap::detail
