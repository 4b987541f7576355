// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <allocator/conformance/schedules.hpp>
#include <allocator/conformance/trial.hpp>
#include <cstdint>
#include <string>

namespace warpheap::test {

/// A full heap gives null, again and again, and has given no more than it has.
template <class A>
void full_heap_gives_null(findings& found) {
  under_schedules(found, [&](std::uint64_t) {
    trial<A> t{found, fill_heap_bytes<A>()};
    for (const std::uint64_t bytes : fill_sizes<A>(t.heap().size())) {
      if (!found.empty()) return;
      block_list list = list_for(t, bytes);
      const std::uint64_t count = t.fill(list, bytes);
      found.expect(count > 0, "an empty heap serves no block of " + std::to_string(bytes) + " B");
      if (A::capabilities.uses_arena) {
        found.expect(count <= t.heap().size() / bytes, "a heap of " + std::to_string(t.heap().size()) + " B gave " +
                                                           std::to_string(count) + " blocks of " +
                                                           std::to_string(bytes) + " B");
      }
      const std::uint64_t more = t.fill(list, bytes);
      found.expect(more == 0, "a full heap gave " + std::to_string(more) + " blocks more of " + std::to_string(bytes) +
                                  " B, so it was not full when it gave null");
      if constexpr (!trial<A>::can_give_back) break;
      t.give_back(list, bytes);
    }
  });
}

/// Frees each block of the list whose index is a multiple of `every`, or each one whose index is not.
struct free_some_kernel {
  bool multiples;

  template <class A>
  WARPHEAP_FN void operator()(watched_heap<A> heap, block_list_view list, std::uint64_t bytes,
                              std::uint64_t every) const {
    for (std::uint64_t i = grid_thread_index(); i < list.size(); i += grid_threads()) {
      if ((i % every == 0) == multiples) heap.free(list.blocks[i], bytes);
    }
  }
};

/// A full heap that gets some blocks back serves as many again, no more and no less.
template <class A>
void full_heap_serves_after_frees(findings& found) {
  if constexpr (!A::capabilities.individual_free) return found.skip("individual_free");
  under_schedules(found, [&](std::uint64_t) {
    trial<A> t{found, fill_heap_bytes<A>()};
    const std::uint64_t bytes = fill_sizes<A>(t.heap().size()).front();
    block_list list = list_for(t, bytes);
    block_list again = list_for(t, bytes);
    for (const std::uint64_t every : {2, 97}) {
      const std::uint64_t count = t.fill(list, bytes);
      t.run(t.fill_threads(), free_some_kernel{true}, list.view(), bytes, every);
      const std::uint64_t freed = divide_up(count, every);
      const std::uint64_t served = t.fill(again, bytes);
      found.expect(served == freed, "a full heap got " + std::to_string(freed) + " blocks of " + std::to_string(bytes) +
                                        " B back and served " + std::to_string(served) + " again");
      t.run(t.fill_threads(), free_some_kernel{false}, list.view(), bytes, every);
      list.clear();
      t.give_back(again, bytes);
    }
  });
}

/// Everything comes back: a heap that was filled and emptied holds as many blocks the next time.
template <class A>
void everything_comes_back(findings& found) {
  if constexpr (!trial<A>::can_give_back) return found.skip("individual_free or reset");
  under_schedules(found, [&](std::uint64_t) {
    trial<A> t{found, fill_heap_bytes<A>()};
    for (const std::uint64_t bytes : fill_sizes<A>(t.heap().size())) {
      if (!found.empty()) return;
      block_list list = list_for(t, bytes);
      const std::uint64_t first = t.fill(list, bytes);
      for (int round = 0; round < 3; ++round) {
        t.give_back(list, bytes);
        const std::uint64_t next = t.fill(list, bytes);
        found.expect(next == first, "filled and emptied, a heap of " + std::to_string(first) + " blocks of " +
                                        std::to_string(bytes) + " B held " + std::to_string(next));
      }
      t.give_back(list, bytes);
    }
  });
}

/// Requests that cannot be served. `step`: bytes by which those of neighbouring threads differ.
struct failing_requests_kernel {
  template <class A>
  WARPHEAP_FN void operator()(watched_heap<A> heap, std::uint64_t too_large, std::uint64_t step) const {
    for (int i = 0; i < 4; ++i) {
      void* const block = heap.heap.malloc(too_large + static_cast<std::uint64_t>(i) * step * grid_thread_index());
      heap.log.expect(block == nullptr, problem::granted, too_large, block);
    }
  }
};

/// A request that fails costs nothing: not before the heap is full, and not while it is.
template <class A>
void failed_requests_cost_nothing(findings& found) {
  if constexpr (!trial<A>::can_give_back) return found.skip("individual_free or reset");
  under_schedules(found, [&](std::uint64_t) {
    // Each request of a full heap looks everywhere, so a smaller heap shows as much on a GPU.
    trial<A> t{found, this_backend == backend::cuda ? crowded_heap_bytes<A>() : fill_heap_bytes<A>()};
    const std::uint64_t bytes = fill_sizes<A>(t.heap().size()).front();
    block_list list = list_for(t, bytes);
    const std::uint64_t first = t.fill(list, bytes);
    t.give_back(list, bytes);
    t.run(t.fill_threads(), failing_requests_kernel{}, t.heap().size() + 1, std::uint64_t{1});
    const std::uint64_t second = t.fill(list, bytes);
    found.expect(second == first, "after requests that are too large for it, a heap of " + std::to_string(first) +
                                      " blocks of " + std::to_string(bytes) + " B held " + std::to_string(second));
    // Of this size alone: what is too little for a slab of these blocks may do for one of larger blocks.
    t.run(t.fill_threads(), failing_requests_kernel{}, bytes, std::uint64_t{0});
    t.give_back(list, bytes);
    const std::uint64_t third = t.fill(list, bytes);
    found.expect(third == first, "after requests while it was full, a heap of " + std::to_string(first) +
                                     " blocks of " + std::to_string(bytes) + " B held " + std::to_string(third));
  });
}

}  // namespace warpheap::test
