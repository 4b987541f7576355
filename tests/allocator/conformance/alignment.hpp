// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <allocator/conformance/trial.hpp>
#include <cstdint>

namespace warpheap::test {

struct alignment_of_sizes_kernel {
  template <class A>
  WARPHEAP_FN void operator()(watched_heap<A> heap) const {
    const std::uint64_t bytes = heap.capped(1 + grid_thread_index() % 4097);
    heap.free(heap.must_malloc(bytes), bytes);
  }
};

/// Blocks of every size are aligned as the design promises.
template <class A>
void blocks_are_aligned(findings& found) {
  trial<A> t{found, this_backend == backend::host ? 16_MiB : 256_MiB};
  t.run(scaled_for<A>(4097, 1 << 16), alignment_of_sizes_kernel{});
}

struct alignment_on_request_kernel {
  template <class A>
  WARPHEAP_FN void operator()(watched_heap<A> heap) const {
    const std::uint64_t self = grid_thread_index();
    std::uint64_t alignment = std::uint64_t{1} << (self % 13);
    if (alignment > A::capabilities.largest_alignment) alignment = A::capabilities.largest_alignment;
    const std::uint64_t bytes = heap.capped(self / 13 % 200);  // 0 is as good a size as any
    void* const block = heap.aligned_malloc(alignment, bytes);
    heap.log.expect(block != nullptr, problem::refused, bytes, block);
    heap.free(block, bytes);
  }
};

/// `aligned_malloc` aligns to each power of two up to 4096 that the design grants.
template <class A>
void aligned_blocks_are_aligned(findings& found) {
  trial<A> t{found, this_backend == backend::host ? 16_MiB : 256_MiB};
  t.run(scaled_for<A>(2600, 1 << 16), alignment_on_request_kernel{});
}

struct impossible_alignment_kernel {
  template <class A>
  WARPHEAP_FN void operator()(watched_heap<A> heap) const {
    for (const std::uint64_t alignment :
         {std::uint64_t{0}, std::uint64_t{3}, std::uint64_t{24}, std::uint64_t{4097}, unlimited, unlimited / 2 + 1}) {
      void* const block = heap.aligned_malloc(alignment, 16);
      heap.log.expect(block == nullptr, problem::granted, 16, block);
    }
    if constexpr (A::capabilities.largest_alignment < unlimited) {
      void* const block = heap.aligned_malloc(2 * A::capabilities.largest_alignment, 16);
      heap.log.expect(block == nullptr, problem::granted, 16, block);
    }
  }
};

/// `aligned_malloc` gives null for what is no power of two, and for more than the design grants.
template <class A>
void impossible_alignments_give_null(findings& found) {
  trial<A> t{found, 1_MiB};
  t.run(256, impossible_alignment_kernel{});
}

}  // namespace warpheap::test
