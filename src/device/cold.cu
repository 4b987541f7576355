// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// The cold part of the default design, for code that is compiled with WARPHEAP_COLD_LINKED.

#include <warpheap/device.hpp>

namespace warpheap {

// A compiler leaves an inline function out that nothing calls, so this one calls them all. Nothing calls it.
struct warp_slab_cold_part {
  __device__ static void keep(warp_slab heap, slab_claim claim, void** block, unsigned long long number);
};

__device__ void warp_slab_cold_part::keep(warp_slab heap, slab_claim claim, void** block, unsigned long long number) {
  const auto n = static_cast<std::uint32_t>(number);
  block[0] = heap.take_elsewhere(n, n, claim, block[0]);
  block[1] = heap.take_without_slab(n);
  block[2] = heap.malloc_run(number, number);
  detail::slab_hints::show_of(heap.hints(), n, n);
  warp_slab::free_run_of(heap, n, n);
}

}  // namespace warpheap
