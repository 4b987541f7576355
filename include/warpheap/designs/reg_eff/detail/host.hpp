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

namespace detail {

struct tally_reg_eff {
  template <class A>
  WARPHEAP_FN void operator()(A allocator, reg_eff_statistics* sums) const {
    allocator.tally(*sums);
    if (grid_thread_index() == 0) sums->granules = allocator.ring().units();
  }
};

}  // namespace detail

template <reg_eff_options Options>
reg_eff_statistics basic_reg_eff<Options>::statistics() const {
  const device_array<reg_eff_statistics> sums(1);
  launch({describe_machine().multiprocessors * std::uint64_t{4}, 256}, detail::tally_reg_eff{}, *this, sums.data());
  reg_eff_statistics found = sums.at(0);
  found.granule_bytes = layout::granule;
  found.cursors = layout::cursors;
  return found;
}

}  // namespace warpheap
