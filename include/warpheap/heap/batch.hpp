// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/heap/heap_ref.hpp>

namespace warpheap {

/// A kernel that takes a block for each of `count` sizes, in one launch of any shape. `blocks[i]` becomes a block of at
/// least `sizes[i]` bytes, or null when the heap cannot serve it. A size of 0 takes no block and gives null.
template <device_allocator A>
struct malloc_each {
  heap_ref<A> heap;                 ///< where the blocks come from
  const unsigned long long* sizes;  ///< bytes of each block
  void** blocks;                    ///< gets the blocks
  unsigned long long count;         ///< elements of both arrays

  /// Takes the blocks of the calling thread.
  WARPHEAP_FN void operator()() const {
    for (std::uint64_t i = grid_thread_index(); i < count; i += grid_threads()) {
      const std::uint64_t bytes = sizes[i];
      blocks[i] = bytes == 0 ? nullptr : heap.malloc(bytes);
    }
  }
};

/// A kernel that gives `count` blocks back, in one launch of any shape. Null is ignored.
template <device_allocator A>
struct free_each {
  heap_ref<A> heap;          ///< where the blocks came from
  void* const* blocks;       ///< blocks and nulls, each block once
  unsigned long long count;  ///< elements of the array

  /// Gives the blocks of the calling thread back.
  WARPHEAP_FN void operator()() const {
    for (std::uint64_t i = grid_thread_index(); i < count; i += grid_threads()) heap.free(blocks[i]);
  }
};

}  // namespace warpheap
