// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <allocator/conformance/trial.hpp>
#include <cstdint>

namespace warpheap::test {

/// One thread's walk: a block that grows and shrinks keeps its contents as far as they fit.
struct realloc_kernel {
  template <class A>
  WARPHEAP_FN void operator()(watched_heap<A> heap, std::uint64_t largest) const {
    const std::uint64_t self = grid_thread_index();
    std::uint64_t bytes = 0;
    unsigned char* block = nullptr;  // a realloc of null is a malloc
    random_stream random{7, self};
    for (int step = 0; step < 12; ++step) {
      const std::uint64_t wanted = random.size(heap.capped(largest));
      if (block != nullptr) heap.disown(block, bytes);
      auto* const moved = static_cast<unsigned char*>(heap.heap.realloc(block, wanted));
      if (!heap.log.expect(moved != nullptr, problem::refused, wanted, moved)) return;
      block = moved;
      heap.watch(block, wanted, A::capabilities.alignment);
      const std::uint64_t kept = bytes < wanted ? bytes : wanted;
      for (std::uint64_t i = 0; i < kept; ++i) {
        if (!heap.log.expect(block[i] == value(self, i), problem::damaged, wanted, block)) break;
      }
      bytes = wanted;
      for (std::uint64_t i = 0; i < bytes; ++i) block[i] = value(self, i);
    }
    // What cannot be served leaves the block alone.
    for (const std::uint64_t impossible : {unlimited, std::uint64_t{1} << 60}) {
      void* const moved = heap.heap.realloc(block, impossible);
      heap.log.expect(moved == nullptr, problem::granted, impossible, moved);
    }
    for (std::uint64_t i = 0; i < bytes; ++i) {
      if (!heap.log.expect(block[i] == value(self, i), problem::damaged, bytes, block)) break;
    }
    heap.free(block, bytes);
  }
  WARPHEAP_FN static unsigned char value(std::uint64_t self, std::uint64_t index) {
    return static_cast<unsigned char>(self * 31 + index * 7 + 1);
  }
};

/// `realloc` keeps contents while it grows and shrinks a block, and the block itself when it cannot.
template <class A>
void realloc_keeps_contents(findings& found) {
  if constexpr (!A::capabilities.knows_size) {
    found.skip("knows_size");
  } else {
    trial<A> t{found, this_backend == backend::host ? 8_MiB : 256_MiB};
    t.run(scaled_for<A>(512, 1 << 14), realloc_kernel{}, std::uint64_t{1000});
  }
}

struct usable_size_kernel {
  template <class A>
  WARPHEAP_FN void operator()(watched_heap<A> heap) const {
    const std::uint64_t bytes = heap.capped(1 + grid_thread_index() % 700);
    auto* const block = static_cast<unsigned char*>(heap.must_malloc(bytes));
    if (block == nullptr) return;
    // All that is said to be usable is the owner's, so it is claimed beyond what was asked for.
    const std::uint64_t usable = heap.heap.usable_size(block);
    heap.disown(block, bytes);
    heap.watch(block, usable, A::capabilities.alignment);
    for (std::uint64_t i = 0; i < usable; ++i) block[i] = 1;
    heap.free(block, usable);
  }
};

/// `usable_size` is at least what was asked for, and no other block reaches into it.
template <class A>
void usable_size_is_usable(findings& found) {
  if constexpr (!A::capabilities.knows_size) {
    found.skip("knows_size");
  } else {
    trial<A> t{found, this_backend == backend::host ? 8_MiB : 256_MiB};
    t.run(scaled_for<A>(1024, 1 << 14), usable_size_kernel{});
  }
}

}  // namespace warpheap::test
