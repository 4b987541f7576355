// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/warp_slab/warp_slab.hpp>

// What a pointer means: the header of its unit tells what the unit is part of, the slab's words which blocks are free.
//
// Orders: all loads are relaxed. A thread that asks about a block has got the pointer from the thread that took it, so
// what was written before the block was handed out is visible. For all other memory the answer is exact only if no
// thread takes or frees a block there meanwhile.

namespace warpheap {

WARPHEAP_COLD_FN inline block_location warp_slab::locate(const void* pointer) const {
  using enum memory_order;
  using enum thread_scope;
  // Below the first unit this wraps around to more than there is.
  const std::uint64_t offset =
      reinterpret_cast<std::uint64_t>(pointer) - reinterpret_cast<std::uint64_t>(store().data());
  if (offset >> classes::unit_shift >= store().control().units) return block_location::outside;
  const auto unit = static_cast<std::uint32_t>(offset >> classes::unit_shift);
  const unit_owner owner{atomic_view{store().header(unit).owner}.load(relaxed, device)};
  if (owner.is_slab()) return locate_in_slab(offset, unit, owner);
  if (!owner.is_run()) return locate_in_run(unit);
  return offset % classes::unit_bytes == 0 ? block_location::block : block_location::inside;
}

// A byte of unit `unit`, which is part of a slab, as its header `owner` says.
WARPHEAP_COLD_FN inline block_location warp_slab::locate_in_slab(std::uint64_t offset, std::uint32_t unit,
                                                                 unit_owner owner) const {
  using enum memory_order;
  using enum thread_scope;
  const std::uint32_t c = owner.of_class();
  const std::uint32_t slab = unit - owner.below();
  const std::uint32_t in_slab = owner.in_slab(offset);
  const std::uint32_t at = owner.block_at(in_slab);
  if (at >= store().blocks_of(c)) return block_location::free;  // what is left after the last block
  const slab_word seen{store().word(word_number::make(slab, at / 32)).load(relaxed, device)};
  // A slab that is being taken back has no block, and its words are of no class.
  if (!seen.is_of(c) || (seen.free_bits() >> at % 32 & 1) != 0) return block_location::free;
  return in_slab == at * classes::bytes(c) ? block_location::block : block_location::inside;
}

// A byte of unit `unit`, whose header has no owner: it is a later unit of a run, or free. It goes back to the first
// unit that is free or has an owner: units of a run are not free, so that is the first of its run at the latest. That
// takes as long as the run is, and is needed only for a pointer that malloc did not return.
WARPHEAP_COLD_FN inline block_location warp_slab::locate_in_run(std::uint32_t unit) const {
  using enum memory_order;
  using enum thread_scope;
  constexpr std::uint32_t bits = bit_tree::leaf_bits;
  for (std::uint32_t at = unit;; --at) {  // not a spin: each turn goes on to the unit below
    if ((store().free_units().leaf_word(at / bits) >> at % bits & 1) != 0) return block_location::free;
    const unit_owner owner{atomic_view{store().header(at).owner}.load(relaxed, device)};
    if (owner.value != 0) {
      // An owner that does not cover `unit`, a slab or a run that is too short, is there only if it changed meanwhile.
      const bool covers = owner.is_run() && owner.run_units() > unit - at;
      return covers ? block_location::inside : block_location::free;
    }
    if (at == 0) return block_location::free;
  }
}

}  // namespace warpheap
