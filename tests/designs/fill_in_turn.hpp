// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/heap.hpp>

namespace warpheap::test {

/// Takes blocks of `bytes` bytes, 8 or more, until the heap refuses one, gives all of them back, and returns how many
/// there were. One lane.
template <class A>
WARPHEAP_FN std::uint64_t fill_and_empty(const heap_ref<A>& heap, std::uint64_t bytes) {
  void* last = nullptr;  // the blocks are a list
  std::uint64_t count = 0;
  while (void* const block = heap.malloc(bytes)) {
    *static_cast<void**>(block) = last;
    last = block;
    ++count;
  }
  while (last != nullptr) {
    void* const next = *static_cast<void**>(last);
    heap.free(last);
    last = next;
  }
  return count;
}

}  // namespace warpheap::test
