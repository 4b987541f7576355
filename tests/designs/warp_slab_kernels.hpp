// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/designs/warp_slab/warp_slab.hpp>
#include <warpheap/heap.hpp>

namespace warpheap::test {

/// A block for each of the first `lanes` lanes of a warp; `kept` remembers it for the launch that frees it.
struct take_one {
  WARPHEAP_FN void operator()(heap_ref<warp_slab> heap, std::uint64_t bytes, int lanes, void** kept) const {
    kept[grid_thread_index()] = lane_index() < lanes ? heap.malloc(bytes) : nullptr;
  }
};
struct give_one {
  WARPHEAP_FN void operator()(heap_ref<warp_slab> heap, void** kept) const { heap.free(kept[grid_thread_index()]); }
};

}  // namespace warpheap::test
