// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/warp_slab/warp_slab.hpp>

// The way of a block that comes back. What is seldom needed lies in release.hpp, with the invariant of the hints; a
// translation unit with WARPHEAP_COLD_LINKED has this file and calls the other.

namespace warpheap {

// Makes blocks free. One lane, after a fence that releases the accesses of who had the blocks.
WARPHEAP_FN inline void warp_slab::put_back(slab_claim blocks) const {
  const slab_word old{word(blocks.word).fetch_or(blocks.blocks, after_release_fence, thread_scope::device)};
  invariant((old.free() & blocks.blocks) == 0, "warp_slab: a block was freed twice");
  stop_point("warp_slab.put_back.freed");
  if (!old.shown()) show_of(*this, blocks.word, old.of_class());
}

WARPHEAP_FN inline void warp_slab::free(void* freed) const {
  using enum memory_order;
  using enum thread_scope;
  const auto offset = static_cast<std::uint64_t>(static_cast<std::byte*>(freed) - data_);
  const word_halves halves = split(offset);
  const std::uint32_t unit = halves.high << (32 - classes::unit_shift) | halves.low >> classes::unit_shift;
  // What the header says was written before the block was handed out.
  const unit_owner owner{header(unit).owner};
  // Each releases the accesses of all in the group, while the header is on its way.
  const lane_mask group = active_group();
  const bool alone = group == lane_bit();
  if (!alone) sync(group);
  fence(release, device);
  const lane_mask of_slabs = alone ? group : ballot(group, !owner.is_run());
  if (owner.is_run()) return free_run_of(*this, unit, owner.run_units());
  const std::uint32_t at = owner.block_at(owner.in_slab(offset));
  slab_claim back{word_number::make(unit - owner.below(), at / 32), 1u << at % 32};
  if (!alone) {
    // Lanes may use different heaps: the word's address, less what the addresses of all words have in common.
    const std::uint64_t common = layout::sections_at() + offsetof(unit_section, word);
    const lane_mask same = match(of_slabs, reinterpret_cast<std::uint64_t>(&word_of(back.word)) - common);
    back.blocks = reduce_parts(of_slabs, same, back.blocks, bit_or{});
    if (group_rank(same) == 0) put_back(back);
    sync(of_slabs);  // no lane returns before its leader's change, and all see it
    return;
  }
  put_back(back);
}

}  // namespace warpheap
