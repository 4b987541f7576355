// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/ouroboros/ouroboros.hpp>

// Compaction of the queues, which the paper leaves to future work, and chunks that leave the heap for a while. The
// queues of a size are taken apart: chunks whose pages are all free become free, and may serve any size or leave the
// heap. A page that a thread has stays where it is, so its chunk stays with its size.

namespace warpheap {

/// As sizes share only the set of free chunks, and no other kernel uses the heap, each warp sweeps some of them, and no
/// lock is needed.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN void basic_ouroboros<Items, Kind, Options>::coalesce() const {
  const lane_mask group = active_group();
  const auto width = static_cast<std::uint32_t>(warp_width);
  const auto warps = static_cast<std::uint32_t>(divide_up(block_threads(), std::uint64_t{width}));
  // The warp may have come apart. One part is enough, and only one may be the renewer of a size.
  if (any(group, thread_index() % width == 0)) {
    for (std::uint32_t q = static_cast<std::uint32_t>(thread_index()) / width; q < layout::classes; q += warps) {
      if (any(group, is_leader(group) && reclamation().can_sweep(q))) reclamation().sweep_class(q, group);
    }
  }
  sync_block();
  // What sweeps added may lie in reserves of the queues.
  if (any(group, thread_index() == 0)) queues().trim_queues(group);
}

template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN void basic_ouroboros<Items, Kind, Options>::withdraw(std::uint64_t* units) const {
  chunks().heap().withdraw(chunks().control().chunks, units, grid_thread_index(), grid_threads());
}

template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN void basic_ouroboros<Items, Kind, Options>::restore(const std::uint64_t* units) const {
  chunks().heap().restore(chunks().control().chunks, units, grid_thread_index(), grid_threads());
}

}  // namespace warpheap
