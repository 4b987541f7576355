// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/reg_eff/reg_eff.hpp>

// free: one atomic operation on the header of the block.

namespace warpheap {

template <reg_eff_options Options>
WARPHEAP_FN void basic_reg_eff<Options>::free(void* block) const {
  if constexpr (Options.connect_on_free) {
    ring().give_and_connect(place_of(block));
  } else {
    ring().give(place_of(block));
  }
}

template <reg_eff_options Options>
WARPHEAP_FN std::uint64_t basic_reg_eff<Options>::usable_size(const void* block) const {
  const std::uint32_t place = place_of(block);
  return (ring_word::next(ring().look(place)) - place) * layout::granule;
}

}  // namespace warpheap
