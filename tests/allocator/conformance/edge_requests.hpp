// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <allocator/conformance/trial.hpp>
#include <cstdint>

namespace warpheap::test {

struct nothing_asked_kernel {
  template <class A>
  WARPHEAP_FN void operator()(watched_heap<A> heap) const {
    heap.heap.free(nullptr);
    void* const first = heap.must_malloc(0);
    void* const second = heap.calloc(grid_thread_index() % 2, 1 - grid_thread_index() % 2);
    heap.log.expect(second != nullptr, problem::refused, 0, second);
    heap.free(second, 0);
    heap.free(first, 0);
    heap.heap.free(nullptr);
  }
};

/// A request of nothing gives a block of its own, and giving back null does nothing.
template <class A>
void nothing_is_a_size(findings& found) {
  trial<A> t{found, 1_MiB};
  t.run(scaled_for<A>(512, 4096), nothing_asked_kernel{});
}

/// Odd lanes ask for what no heap can serve while the others ask for a little, which they must get.
struct impossible_size_kernel {
  template <class A>
  WARPHEAP_FN void operator()(watched_heap<A> heap, std::uint64_t bytes) const {
    const bool modest = grid_thread_index() % 2 == 0;
    void* const block = heap.heap.malloc(modest ? 16 : bytes);
    if (modest) {
      heap.log.expect(block != nullptr, problem::refused, 16, block);
      heap.free(heap.watch(block, 16, A::capabilities.alignment), 16);
    } else {
      heap.log.expect(block == nullptr, problem::granted, bytes, block);
    }
    void* const aligned = heap.heap.aligned_malloc(64, bytes);
    heap.log.expect(aligned == nullptr, problem::granted, bytes, aligned);
  }
};

struct calloc_overflow_kernel {
  template <class A>
  WARPHEAP_FN void operator()(watched_heap<A> heap) const {
    constexpr std::uint64_t half = std::uint64_t{1} << 32;
    for (const std::uint64_t count : {half, half + 1, unlimited, unlimited / 2 + 1}) {
      void* const block = heap.heap.calloc(count, half);  // the product is a multiple of 2^64, or little more
      heap.log.expect(block == nullptr, problem::granted, count, block);
    }
    void* const block = heap.heap.calloc(2, unlimited / 2 + 1);
    heap.log.expect(block == nullptr, problem::granted, 0, block);
  }
};

/// Requests that no heap can hold give null, in any company, and take nothing from the others.
template <class A>
void impossible_sizes_give_null(findings& found) {
  trial<A> t{found, 1_MiB};
  const std::uint64_t size = t.heap().size();
  std::vector<std::uint64_t> sizes{size + 1, 2 * size};
  for (int bit = 40; bit < 64; ++bit) sizes.push_back(std::uint64_t{1} << bit);
  for (std::uint64_t below = 0; below <= 32; ++below) sizes.push_back(unlimited - below);
  if (A::capabilities.largest_bytes < size) sizes.push_back(A::capabilities.largest_bytes + 1);
  for (const std::uint64_t bytes : sizes) {
    found.under("beside requests of " + std::to_string(bytes) + " B");
    t.run(128, impossible_size_kernel{}, bytes);
    if (!found.empty()) return;
  }
  found.under("calloc");
  t.run(128, calloc_overflow_kernel{});
}

struct large_block_kernel {
  template <class A>
  WARPHEAP_FN void operator()(watched_heap<A> heap, std::uint64_t bytes) const {
    if (grid_thread_index() != 0) return;
    auto* const block = static_cast<unsigned char*>(heap.must_malloc(bytes));
    if (block == nullptr) return;
    // One byte of each 256, and the last: a block this long is slow to write by one thread.
    for (std::uint64_t at = 0; at < bytes; at += 256) block[at] = static_cast<unsigned char>(at / 256);
    block[bytes - 1] = 77;
    for (std::uint64_t at = 0; at < bytes - 1; at += 256) {
      heap.log.expect(block[at] == static_cast<unsigned char>(at / 256), problem::damaged, bytes, block);
    }
    heap.log.expect(block[bytes - 1] == 77, problem::damaged, bytes, block);
    heap.free(block, bytes);
  }
};

/// A block may be as large as the design says, or take half of the heap, and all of it can be used.
template <class A>
void large_blocks_are_served(findings& found) {
  const std::uint64_t wanted = this_backend == backend::host ? 4_MiB : 32_MiB;
  for (const std::uint64_t part : {64, 8, 2}) {
    trial<A> t{found, wanted};
    const std::uint64_t bytes = std::min(t.heap().size() / part - 8, A::capabilities.largest_bytes);
    t.run(1, large_block_kernel{}, bytes);
  }
}

}  // namespace warpheap::test
