// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocator.hpp>
#include <warpheap/designs/fdg/fdg.hpp>
#include <warpheap/platform.hpp>

namespace warpheap {

// All that is known names pages by number, and the data move whole. An arena that a kernel left open is to be opened
// anew there: handles hold addresses.
template <fdg_options Options>
void basic_fdg<Options>::relocate(const arena& from, const arena& to) const {
  device_copy(to.metadata, from.metadata, metadata_bytes(from.bytes));
}

}  // namespace warpheap
