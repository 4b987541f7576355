// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/warp_slab/warp_slab.hpp>

// Units that leave the heap for a while: `withdraw` takes them out of the set of free units, and `restore` adds them
// again. Nothing else of them changes.

namespace warpheap {

// The group that gets the heap's lock first takes all fully free slabs back, and the other groups of the grid help it.
// A group that comes late, or gets the lock later, learns that this is done: the launch's number is released and
// acquired, which passes on what was taken back.
WARPHEAP_FN inline void warp_slab::coalesce() const {
  const lane_mask group = active_group();
  const std::uint64_t launch = launch_number() + 1;
  const atomic_view coalesced{store().control().coalesced};
  const auto is_done = [&] {
    return any(group, is_leader(group) && coalesced.load(memory_order::acquire, thread_scope::device) == launch);
  };
  for (backoff wait; !is_done(); wait.pause()) {
    store().control().lock.try_hold(group, [&] {
      wait.end();
      if (is_done()) return;
      const auto units = static_cast<std::uint32_t>(store().control().units);
      while (reclamation().reclaim(group, units)) {  // not a spin: each turn takes slabs back
      }
      if (is_leader(group)) coalesced.store(launch, memory_order::release, thread_scope::device);
    });
    if (!reclamation().has_work(group)) continue;
    wait.end();
    reclamation().help(group);
  }
}

WARPHEAP_FN inline void warp_slab::withdraw(std::uint64_t* taken) const {
  store().units().withdraw(store().control().units, taken, grid_thread_index(), grid_threads());
}

WARPHEAP_FN inline void warp_slab::restore(const std::uint64_t* given) const {
  store().units().restore(store().control().units, given, grid_thread_index(), grid_threads());
}

}  // namespace warpheap
