// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/warp_slab/warp_slab.hpp>

// The way of a block that comes back, and what its header tells.

namespace warpheap {

WARPHEAP_FN inline void warp_slab::free(void* freed) const {
  using enum memory_order;
  using enum thread_scope;
  const auto offset = static_cast<std::uint64_t>(static_cast<std::byte*>(freed) - store().data());
  const word_halves halves = split(offset);
  const std::uint32_t unit = halves.high << (32 - classes::unit_shift) | halves.low >> classes::unit_shift;
  // Not atomic: the header was written before the block was handed out, and stays as it is while the block is live.
  const unit_owner owner{store().header(unit).owner};
  // The fence of each lane releases the accesses of all lanes of the group, while the header is on its way.
  const lane_mask group = active_group();
  const bool alone = group == lane_bit();
  if (!alone) sync(group);
  fence(release, device);
  const lane_mask of_slabs = alone ? group : ballot(group, !owner.is_run());
  if (owner.is_run()) return free_run_of(*this, unit, owner.run_units());
  const std::uint32_t at = owner.block_at(owner.in_slab(offset));
  slab_claim back{word_number::make(unit - owner.below(), at / 32), 1u << at % 32};
  if (!alone) {
    // Lanes may use different heaps, so they compare addresses of words, less the offset that all words have.
    const std::uint64_t common = layout::sections_at() + offsetof(unit_section, word);
    const lane_mask same = match(of_slabs, reinterpret_cast<std::uint64_t>(&store().word_of(back.word)) - common);
    back.blocks = reduce_parts(of_slabs, same, back.blocks, bit_or{});
    if (group_rank(same) == 0) hints().put_back(back);
    sync(of_slabs);  // no lane returns before its leader has made the block free
    return;
  }
  hints().put_back(back);
}

WARPHEAP_FN inline std::uint64_t warp_slab::usable_size(const void* block) const {
  const auto unit = static_cast<std::uint32_t>(
      static_cast<std::uint64_t>(static_cast<const std::byte*>(block) - store().data()) >> classes::unit_shift);
  const unit_owner owner{store().header(unit).owner};
  return owner.is_run() ? std::uint64_t{owner.run_units()} << classes::unit_shift : classes::bytes(owner.of_class());
}

}  // namespace warpheap
