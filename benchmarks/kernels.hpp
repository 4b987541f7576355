// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Kernels and steps that cases share. Each kernel here is compiled once for each allocator, which takes seconds: use
/// these before writing another one.

#include <cstdint>
#include <warpheap/heap.hpp>

#include "measure/requests.hpp"
#include "options.hpp"

namespace warpheap::bench {

/// Every thread that has a request to make makes it.
template <device_allocator A>
struct malloc_kernel {
  WARPHEAP_FN void operator()(heap_ref<A> heap, requests asked, void** blocks) const {
    std::uint64_t index = 0;
    if (asked.makes(index)) blocks[index] = heap.malloc(asked.bytes(index));
  }
};

/// As `malloc_kernel`, for blocks of up to 1,024 threads: with some designs a thread of that takes more registers than
/// each of so many can have.
template <device_allocator A>
struct malloc_in_large_blocks_kernel : malloc_kernel<A> {
  static constexpr std::uint32_t largest_block = 1024;
};

/// Every thread that made a request gives its block back.
template <device_allocator A>
struct free_kernel {
  WARPHEAP_FN void operator()(heap_ref<A> heap, requests asked, void* const* blocks) const {
    std::uint64_t index = 0;
    if (asked.makes(index)) heap.free(blocks[index]);
  }
};

/// What no allocator goes without: every thread that has a request to make stores a pointer, here the address that it
/// stores to.
struct store_kernel {
  WARPHEAP_FN void operator()(requests asked, void** blocks) const {
    std::uint64_t index = 0;
    if (asked.makes(index)) blocks[index] = blocks + index;
  }
};

/// All blocks of `from` are free again, at once: by a reset or, where the design has none, by a new heap.
template <device_allocator A>
void make_empty(heap<A>& from, const run_options& options) {
  if constexpr (A::capabilities.reset) {
    from.reset();
  } else {
    from = heap<A>{options.heap_bytes};
  }
}

}  // namespace warpheap::bench
