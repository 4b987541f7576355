// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <allocator/conformance/hand_over.hpp>
#include <cstdint>

namespace warpheap::test {

/// Threads throw blocks into a table and free what they find there, which threads of other blocks took.
///
/// The exchange orders the payload from taker to freer. What orders it from the freer to the block's next taker is the
/// allocator alone.
struct exchange_kernel {
  /// What a thrown block starts with, so that its finder knows it.
  struct header {
    std::uint64_t bytes;
  };

  template <class A>
  WARPHEAP_FN void operator()(watched_heap<A> heap, void** table, std::uint64_t places, std::uint64_t seed,
                              std::uint64_t steps) const {
    random_stream random{seed, grid_thread_index()};
    for (std::uint64_t step = 0; step < steps; ++step) {
      const std::uint64_t bytes = sizeof(header) + random.size(heap.capped(248) - sizeof(header));
      void* const mine = heap.must_malloc(bytes);
      if (mine == nullptr) return;
      static_cast<header*>(mine)->bytes = bytes;
      contents(mine, bytes).write();
      atomic_view place{table[random.below(places)]};
      consume(heap, place.exchange(mine, memory_order::acq_rel, thread_scope::device));
    }
  }

  template <class A>
  WARPHEAP_FN static void consume(const watched_heap<A>& heap, void* found) {
    if (found == nullptr) return;
    const std::uint64_t bytes = static_cast<header*>(found)->bytes;
    if (!heap.log.expect(bytes <= 256 && contents(found, bytes).intact(), problem::damaged, bytes, found)) return;
    heap.free(found, bytes);
  }

 private:
  WARPHEAP_FN static payload contents(void* block, std::uint64_t bytes) {
    return {static_cast<header*>(block) + 1, bytes - sizeof(header), 3};
  }
};

struct empty_table_kernel {
  template <class A>
  WARPHEAP_FN void operator()(watched_heap<A> heap, void** table, std::uint64_t places) const {
    for (std::uint64_t i = grid_thread_index(); i < places; i += grid_threads()) {
      exchange_kernel::consume(heap, table[i]);
    }
  }
};

/// Blocks that pass between threads while all run keep their contents, and come back whoever frees them.
template <class A>
void blocks_pass_between_threads(findings& found) {
  if constexpr (!trial<A>::can_give_back) return found.skip("individual_free or reset");
  if constexpr (A::capabilities.needs_full_warp) return found.skip("calls by single lanes");
  under_schedules(found, [&](std::uint64_t seed) {
    expect_nothing_lost<A>(found, roomy_heap_bytes(), "blocks passed on", [&](trial<A>& t) {
      const std::uint64_t threads = scaled_for<A>(1024, 1 << 16);
      // Few places keep blocks moving: most are freed soon after they were taken, and taken
      // again.
      const device_array<void*> table(divide_up(threads, 8));
      t.run(threads, exchange_kernel{}, table.data(), table.size(), seed, scaled(12, 32));
      t.run(threads, empty_table_kernel{}, table.data(), table.size());
    });
  });
}

}  // namespace warpheap::test
