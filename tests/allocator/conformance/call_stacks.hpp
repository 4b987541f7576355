// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <allocator/conformance/hand_over.hpp>
#include <allocator/conformance/schedules.hpp>
#include <allocator/conformance/trial.hpp>
#include <cstdint>

namespace warpheap::test {

/// Values on a thread's own stack that calls of a heap must leave alone.
class own_frame {
 public:
  WARPHEAP_FN explicit own_frame(std::uint64_t seed) : seed_(seed) {
    for (std::uint32_t i = 0; i < words; ++i) words_[slot(i)] = value(i);
  }
  /// True if each value is still there.
  WARPHEAP_FN bool intact() const {
    bool all = true;
    for (std::uint32_t i = 0; i < words; ++i) all = all && words_[slot(i)] == value(i);
    return all;
  }

 private:
  static constexpr std::uint32_t words = 175;  // 700 bytes
  // The place of a value is known only when the kernel runs, so the values cannot be kept in registers.
  WARPHEAP_FN std::uint32_t slot(std::uint32_t i) const { return (i + static_cast<std::uint32_t>(seed_)) % words; }
  WARPHEAP_FN std::uint32_t value(std::uint32_t i) const { return static_cast<std::uint32_t>(seed_) * 31 + i; }

  std::uint64_t seed_;
  std::uint32_t words_[words];
};

/// Each thread takes and frees blocks of all sizes, and has 700 bytes of its own on the stack.
struct framed_kernel {
  template <class A>
  WARPHEAP_FN void operator()(watched_heap<A> heap, std::uint64_t seed, std::uint64_t steps) const {
    random_stream random{seed, grid_thread_index()};
    own_frame own{random.below(1 << 20)};
    for (std::uint64_t step = 0; step < steps; ++step) {
      const std::uint64_t bytes = random.size(heap.capped(1 << 15));
      void* const block = heap.malloc(bytes);
      heap.log.expect(own.intact(), problem::damaged, bytes, block);
      if constexpr (A::capabilities.individual_free) {
        heap.free(block, bytes);
        heap.log.expect(own.intact(), problem::damaged, bytes, block);
      }
    }
  }
};

/// A kernel can have a frame of 700 bytes and call the heap, also where the heap is nearly full.
template <class A>
void kernels_may_have_frames(findings& found) {
  if constexpr (A::capabilities.needs_full_warp) return found.skip("calls by single lanes");
  under_schedules(found, [&](std::uint64_t seed) {
    trial<A> t{found, this_backend == backend::host ? 128_KiB : 2_MiB};
    t.run(scaled_for<A>(128, 1 << 12), framed_kernel{}, seed, scaled(4, 16));
  });
}

/// Each thread calls itself to a depth, with a block at each level.
struct recursive_kernel {
  static constexpr int depth = 10;

  template <class A>
  WARPHEAP_FN void operator()(heap_ref<A> heap, finding_view log) const {
    const std::uint64_t wrong = descend(heap, depth, static_cast<std::uint32_t>(grid_thread_index()));
    log.expect(wrong == 0, problem::damaged, 0, nullptr);
  }

 private:
  // How many levels found their block damaged. Frames are small, so that the toolkit's malloc in place of the heap's
  // would do with the stack that a thread has by default.
  template <class A>
  WARPHEAP_FN static std::uint32_t descend(const heap_ref<A>& heap, int left, std::uint32_t seed) {
    auto* const block = static_cast<std::uint32_t*>(heap.malloc(std::uint64_t{4} << seed % 10));
    if (block != nullptr) *block = seed;
    std::uint32_t wrong = left == 0 ? 0 : descend(heap, left - 1, seed * 0x9e3779b1 + 1);
    if (block == nullptr) return wrong;
    wrong += *block == seed ? 0 : 1;
    heap.free(block);
    return wrong;
  }
};

/// A kernel can call the heap at each level of a recursion, also where the heap is nearly full.
template <class A>
void calls_may_recurse(findings& found) {
  if constexpr (A::capabilities.needs_full_warp) return found.skip("calls by single lanes");
  under_schedules(found, [&](std::uint64_t) {
    trial<A> t{found, this_backend == backend::host ? 256_KiB : 16_MiB};
    t.run_unwatched(scaled_for<A>(128, 1 << 14), recursive_kernel{}, t.heap().ref(), t.watched().log);
  });
}

}  // namespace warpheap::test
