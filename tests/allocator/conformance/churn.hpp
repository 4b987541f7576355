// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <allocator/conformance/hand_over.hpp>
#include <cstdint>

namespace warpheap::test {

/// Each thread holds a few blocks and takes or frees one of them at random, checking contents before each free.
struct churn_kernel {
  static constexpr int slots = 8;
  bool ample;  ///< the heap has room for all that the threads can hold, so no request may fail

  template <class A>
  WARPHEAP_FN void operator()(watched_heap<A> heap, std::uint64_t seed, std::uint64_t steps) const {
    held_block held[slots] = {};
    random_stream random{seed, grid_thread_index()};
    for (std::uint64_t step = 0; step < steps; ++step) {
      held_block& chosen = held[random.below(slots)];
      if (chosen.block != nullptr) {
        check_and_free(heap, chosen);
      } else {
        chosen.bytes = random.size(heap.capped(512));
        chosen.block = ample ? heap.must_malloc(chosen.bytes) : heap.malloc(chosen.bytes);
        if (chosen.block != nullptr) contents(chosen).write();
      }
    }
    for (held_block& each : held) {
      if (each.block != nullptr) check_and_free(heap, each);
    }
  }

 private:
  WARPHEAP_FN static payload contents(const held_block& held) { return {held.block, held.bytes, grid_thread_index()}; }
  template <class A>
  WARPHEAP_FN static void check_and_free(const watched_heap<A>& heap, held_block& held) {
    heap.log.expect(contents(held).intact(), problem::damaged, held.bytes, held.block);
    heap.free(held.block, held.bytes);
    held.block = nullptr;
  }
};

template <class A>
void churn(findings& found, std::uint64_t threads, std::uint64_t bytes_of_heap, bool ample) {
  if constexpr (!trial<A>::can_give_back) return found.skip("individual_free or reset");
  if constexpr (A::capabilities.needs_full_warp) return found.skip("calls by single lanes");
  under_schedules(found, [&](std::uint64_t seed) {
    expect_nothing_lost<A>(found, bytes_of_heap, "churn", [&](trial<A>& t) {
      // Designs that are slow on a GPU take fewer steps there, as on the host.
      t.run(threads, churn_kernel{ample}, seed, scaled(24, work_divisor<A>() > 1 ? 24 : 64));
      if constexpr (A::capabilities.counts_live && A::capabilities.individual_free) {
        found.expect(t.heap().statistics().live_bytes == 0u,
                     "after churn and all frees " + std::to_string(*t.heap().statistics().live_bytes) + " B are live");
      }
    });
  });
}

/// Threads take and free blocks of mixed sizes all together, with room for all: contents stay, nothing is refused or
/// lost.
template <class A>
void churn_with_room(findings& found) {
  churn<A>(found, scaled_for<A>(1024, 1 << 16), roomy_heap_bytes(), true);
}

/// Takes and frees blocks as `churn_with_room` does, in a heap that is full most of the time.
template <class A>
void churn_when_full(findings& found) {
  churn<A>(found, scaled_for<A>(1024, refuses_in_linear_time<A>() ? 1 << 12 : 1 << 16), crowded_heap_bytes<A>(), false);
}

}  // namespace warpheap::test
