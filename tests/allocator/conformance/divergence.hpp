// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <allocator/conformance/held_blocks.hpp>
#include <allocator/conformance/schedules.hpp>
#include <allocator/conformance/trial.hpp>
#include <cstdint>

namespace warpheap::test {

// Takes, fills, checks and frees one block; the heap has room for it.
template <class A>
WARPHEAP_FN void use_one(const watched_heap<A>& heap, std::uint64_t bytes) {
  bytes = heap.capped(bytes);
  void* const block = heap.must_malloc(bytes);
  if (block == nullptr) return;
  const payload contents{block, bytes, grid_thread_index()};
  contents.write();
  heap.log.expect(contents.intact(), problem::damaged, bytes, block);
  heap.free(block, bytes);
}

/// Only the lanes of a mask call; the others have left.
struct some_lanes_kernel {
  template <class A>
  WARPHEAP_FN void operator()(watched_heap<A> heap, lane_mask callers) const {
    if ((lane_bit() & callers) == 0) return;
    for (int round = 0; round < 3; ++round) use_one(heap, 24);
  }
};

/// Each lane asks for another size, in loops of different lengths.
struct trip_counts_kernel {
  template <class A>
  WARPHEAP_FN void operator()(watched_heap<A> heap, lane_mask) const {
    const auto lane = static_cast<std::uint64_t>(lane_index());
    for (std::uint64_t round = 0; round <= lane % 7; ++round) use_one(heap, 1 + 13 * lane + round);
  }
};

/// Lanes call from different places, and some free while others take.
struct branches_kernel {
  template <class A>
  WARPHEAP_FN void operator()(watched_heap<A> heap, lane_mask) const {
    const std::uint64_t self = grid_thread_index();
    const std::uint64_t sizes[] = {16, heap.capped(200), 16, heap.capped(48), 0};
    const std::uint64_t bytes = sizes[self % 5];
    void* block = nullptr;
    switch (self % 5) {
      case 0: block = heap.malloc(16); break;
      case 1: block = heap.malloc(bytes); break;
      case 2: block = heap.calloc(4, 4); break;
      case 3: block = heap.aligned_malloc(64 <= A::capabilities.largest_alignment ? 64 : 16, bytes); break;
      default: return;
    }
    if (heap.must(block, bytes) == nullptr) return;
    payload{block, bytes, self}.write();
    if (self % 2 == 0) {
      heap.log.expect(payload{block, bytes, self}.intact(), problem::damaged, bytes, block);
      heap.free(block, bytes);
      use_one(heap, 40);
    } else {
      use_one(heap, 100);
      heap.log.expect(payload{block, bytes, self}.intact(), problem::damaged, bytes, block);
      heap.free(block, bytes);
    }
  }
};

template <class A, class Body>
void run_divergent(findings& found, Body body, lane_mask callers) {
  trial<A> t{found, this_backend == backend::host ? 8_MiB : 256_MiB};
  t.run(scaled_for<A>(512, 1 << 14), body, callers & low_bits(warp_width));
}

/// 1, 2, 31 or all lanes of a warp may call, odd lanes alone, and after others have left.
template <class A>
void any_lanes_may_call(findings& found) {
  if constexpr (A::capabilities.needs_full_warp) return found.skip("calls by single lanes");
  under_schedules(found, [&](std::uint64_t) {
    for (const lane_mask callers : {lane_mask{1}, lane_mask{1} << (warp_width - 1), lane_mask{0x9}, ~lane_mask{1},
                                    ~lane_mask{0x100}, ~lane_mask{0}, lane_mask{0xaaaaaaaa}, lane_mask{0x0000fff0}}) {
      run_divergent<A>(found, some_lanes_kernel{}, callers);
    }
  });
}

/// Lanes may call a different number of times, each with a size of its own.
template <class A>
void lanes_may_loop_differently(findings& found) {
  if constexpr (A::capabilities.needs_full_warp) return found.skip("calls by single lanes");
  under_schedules(found, [&](std::uint64_t) { run_divergent<A>(found, trip_counts_kernel{}, ~lane_mask{0}); });
}

/// Lanes may call from different branches, some to take and some to free.
template <class A>
void lanes_may_branch_differently(findings& found) {
  if constexpr (A::capabilities.needs_full_warp) return found.skip("calls by single lanes");
  under_schedules(found, [&](std::uint64_t) { run_divergent<A>(found, branches_kernel{}, ~lane_mask{0}); });
}

}  // namespace warpheap::test
