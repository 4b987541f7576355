// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/warp_slab/warp_slab.hpp>

namespace warpheap {

WARPHEAP_FN inline warp_slab::warp_slab(const arena& from)
    : data_(unit_heap::first_page(from.data)),
      control_(reinterpret_cast<layout::control*>(from.metadata)),
      lead_(static_cast<std::uint64_t>(data_ - from.data)),
      initial_units_(units_in(from.bytes)),
      seat_mask_(layout::seats(initial_units_) - 1) {}

// Adds units [from, to) to the set of free ones; thread `index` of `threads` that share the work.
WARPHEAP_FN inline void warp_slab::initialise() const {
  units().add(0, initial_units_, grid_thread_index(), grid_threads());
  for (std::uint64_t i = grid_thread_index(); i < classes::count; i += grid_threads()) {
    const auto c = static_cast<std::uint32_t>(i);
    of_class(c).slab_units = classes::units(c, is_small());
    of_class(c).slab_blocks = classes::blocks(c, is_small());
  }
  if (grid_thread_index() == 0) control_->units = initial_units_;
}

WARPHEAP_FN inline void warp_slab::grow(std::uint64_t bytes) const { units().grow(control_->units, units_in(bytes)); }

WARPHEAP_FN inline void* warp_slab::malloc(std::uint64_t bytes) const {
  if (bytes > classes::largest_bytes) return cold_call([*this, bytes] { return malloc_run(bytes, 1); });
  return take_block(active_group(), classes::of(bytes));
}

WARPHEAP_FN inline void* warp_slab::aligned_malloc(std::uint64_t alignment, std::uint64_t bytes) const {
  // Blocks of a power of two are aligned to their size, up to this.
  constexpr std::uint64_t most = 4096;
  if (alignment <= capabilities.alignment) return malloc(bytes);
  if (bytes > classes::largest_bytes || alignment > most) {
    return cold_call([*this, bytes, alignment] { return malloc_run(bytes, alignment); });
  }
  return malloc(next_power_of_two(bytes < alignment ? alignment : bytes));
}

WARPHEAP_FN inline std::uint64_t warp_slab::usable_size(const void* block) const {
  const auto unit = static_cast<std::uint32_t>(
      static_cast<std::uint64_t>(static_cast<const std::byte*>(block) - data_) >> classes::unit_shift);
  const unit_owner owner{header(unit).owner};
  return owner.is_run() ? std::uint64_t{owner.run_units()} << classes::unit_shift : classes::bytes(owner.of_class());
}

}  // namespace warpheap
