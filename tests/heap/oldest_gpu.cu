// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// All designs for the oldest GPU that warpheap supports; it is compiled, and not run.

#include <cstdint>
#include <warpheap.hpp>
#include <warpheap/designs/registry.hpp>

namespace {

struct use_heap {
  template <class A>
  WARPHEAP_FN void operator()(warpheap::heap_ref<A> heap, std::uint64_t bytes) const {
    void* const block = heap.malloc(bytes);
    heap.free(heap.aligned_malloc(256, bytes));
    heap.free(block);
  }
};

}  // namespace

void use_all_designs(std::uint64_t bytes) {
  warpheap::for_each_registered([bytes](auto tag) {
    const warpheap::heap<typename decltype(tag)::type> heap{bytes};
    warpheap::launch({1, 32}, use_heap{}, heap.ref(), bytes);
  });
}
