// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <allocator/conformance/trial.hpp>
#include <cstdint>

namespace warpheap::test {

/// Takes blocks as `fill_kernel` does and leaves no byte of them zero.
struct soil_kernel {
  template <class A>
  WARPHEAP_FN void operator()(watched_heap<A>, block_list_view list, std::uint64_t bytes) const {
    const std::uint64_t count = list.size();
    for (std::uint64_t i = grid_thread_index(); i < count; i += grid_threads()) {
      for (std::uint64_t at = 0; at < bytes; ++at) static_cast<unsigned char*>(list.blocks[i])[at] = 0xa5;
    }
  }
};

struct calloc_kernel {
  template <class A>
  WARPHEAP_FN void operator()(watched_heap<A> heap) const {
    const std::uint64_t count = 1 + grid_thread_index() % 13;
    constexpr std::uint64_t bytes = heap.capped(91) < 91 ? 1 : 7;
    auto* const block = static_cast<unsigned char*>(heap.calloc(count, bytes));
    if (!heap.log.expect(block != nullptr, problem::refused, count * bytes, block)) return;
    for (std::uint64_t at = 0; at < count * bytes; ++at) {
      if (!heap.log.expect(block[at] == 0, problem::dirty, count * bytes, block)) break;
    }
    for (std::uint64_t at = 0; at < count * bytes; ++at) block[at] = 0xa5;
    heap.free(block, count * bytes);
  }
};

/// `calloc` gives zero bytes where other contents were before.
template <class A>
void calloc_gives_zeros(findings& found) {
  if constexpr (!trial<A>::can_give_back) return found.skip("individual_free or reset");
  trial<A> t{found, fill_heap_bytes<A>()};
  const std::uint64_t bytes = fill_sizes<A>(t.heap().size()).back();
  block_list list = list_for(t, bytes);
  t.fill(list, bytes);
  t.run(t.fill_threads(), soil_kernel{}, list.view(), bytes);
  t.give_back(list, bytes);
  t.run(scaled_for<A>(512, 1 << 14), calloc_kernel{});
}

}  // namespace warpheap::test
