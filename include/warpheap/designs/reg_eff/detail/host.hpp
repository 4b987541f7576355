// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocator.hpp>
#include <warpheap/designs/reg_eff/reg_eff.hpp>
#include <warpheap/platform.hpp>

// The members for the host that copy or launch.

namespace warpheap {

// All that is known names granules by number, and the data move as a whole.
template <reg_eff_options Options>
void basic_reg_eff<Options>::relocate(const arena& from, const arena& to) const {
  device_copy(to.metadata, from.metadata, metadata_bytes(from.bytes));
}

template <reg_eff_options Options>
reg_eff_statistics basic_reg_eff<Options>::statistics() const {
  reg_eff_statistics found = tally_of<reg_eff_statistics>(*this);
  found.granule_bytes = layout::granule;
  found.cursors = layout::cursors;
  return found;
}

}  // namespace warpheap
