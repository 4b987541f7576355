// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <warpheap/allocator.hpp>
#include <warpheap/designs/warp_slab/statistics.hpp>
#include <warpheap/designs/warp_slab/warp_slab.hpp>
#include <warpheap/platform.hpp>

// The members for the host that copy or launch.

namespace warpheap {

// All metadata names units and words by number, and the data move by whole units, so a copy is enough.
inline void warp_slab::relocate(const arena& from, const arena& to) const {
  device_copy(to.metadata, from.metadata, metadata_bytes(from.bytes));
}

inline warp_slab_statistics warp_slab::statistics() const {
  const warp_slab_tally found = tally_of<warp_slab_tally>(*this);
  // How many blocks a slab has was settled when the heap was made. It is read from the metadata, since the handle of a
  // heap that moved to a larger place does not tell.
  const auto control = std::make_unique<layout::control>();
  device_snapshot(control.get(), &store().control(), sizeof(*control));
  warp_slab_statistics result{.unit_bytes = classes::unit_bytes,
                              .units = control->units,
                              .free_units = found.free_units,
                              .large_blocks = found.large_blocks,
                              .large_units = found.large_units,
                              .classes = {}};
  for (std::uint32_t c = 0; c < classes::count; ++c) {
    result.classes.push_back({.block_bytes = classes::bytes(c),
                              .slabs = found.slabs[c],
                              .blocks = found.slabs[c] * control->of_class[c].slab_blocks,
                              .free_blocks = found.free_blocks[c]});
  }
  return result;
}

}  // namespace warpheap
