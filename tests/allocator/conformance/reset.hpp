// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <allocator/conformance/held_blocks.hpp>
#include <allocator/conformance/trial.hpp>
#include <cstdint>
#include <string>

namespace warpheap::test {

/// `reset` takes back all blocks, whatever state the heap is in, and handles made before stay valid.
template <class A>
void reset_takes_back_everything(findings& found) {
  if constexpr (!A::capabilities.reset) {
    found.skip("reset");
  } else {
    trial<A> t{found, fill_heap_bytes<A>()};
    const watched_heap<A> old = t.watched();
    t.reset();  // an empty heap stays one
    const std::uint64_t bytes = fill_sizes<A>(t.heap().size()).front();
    block_list list = list_for(t, bytes);
    const std::uint64_t first = t.fill(list, bytes);
    for (int round = 0; round < 3; ++round) {
      t.reset();
      list.clear();
      if constexpr (A::capabilities.counts_live) {
        found.expect(t.heap().statistics().live_bytes == 0u,
                     "after a reset " + std::to_string(*t.heap().statistics().live_bytes) + " B are live");
      }
      t.run_unwatched(t.fill_threads(), fill_kernel{}, old, list.view(), bytes);
      found.expect(list.size() == first, "after a reset a heap of " + std::to_string(first) + " blocks of " +
                                             std::to_string(bytes) + " B held " + std::to_string(list.size()));
    }
  }
}

}  // namespace warpheap::test
