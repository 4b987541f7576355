// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <allocator/conformance/block_list.hpp>
#include <allocator/conformance/schedules.hpp>
#include <allocator/conformance/trial.hpp>
#include <cstdint>
#include <string>

// A call has done what it promises when it returns, for each lane. All threads together never hold more than the heap
// has, since each frees before it asks: so no request may be refused, in any order of the threads.

namespace warpheap::test {

/// Each of `threads` threads frees its block of the list, from block `first` on, and takes one of `next` bytes,
/// `rounds` times.
struct free_and_take_kernel {
  template <class A>
  WARPHEAP_FN void operator()(watched_heap<A> heap, block_list_view list, std::uint64_t first, std::uint64_t threads,
                              std::uint64_t bytes, std::uint64_t next, int rounds) const {
    const std::uint64_t self = first + grid_thread_index();
    if (self >= first + threads || self >= list.size()) return;
    std::uint64_t has = bytes;
    for (int i = 0; i < rounds; ++i) {
      heap.free(list.blocks[self], has);
      list.blocks[self] = heap.must_malloc(next);
      has = next;
    }
  }
};

/// Frees the last `count` blocks of the list.
struct free_last_kernel {
  template <class A>
  WARPHEAP_FN void operator()(watched_heap<A> heap, block_list_view list, std::uint64_t bytes,
                              std::uint64_t count) const {
    for (std::uint64_t i = grid_thread_index(); i < count; i += grid_threads()) {
      heap.free(list.blocks[list.size() - 1 - i], bytes);
    }
  }
};

/// Runs `body()` under schedules that let a few lanes stand still anywhere, and groups fall apart: a lane that returned
/// may do all that follows before another one goes on. `normal` seeds.
template <class Body>
void under_stalls(findings& found, std::uint64_t normal, Body body) {
  schedule plan = current_schedule();
  plan.order = schedule::policy::stalling;
  plan.workers = 1;
  const std::uint64_t seeds = this_backend == backend::host ? seeds_to_try(normal) : 1;
  for (plan.seed = 1; plan.seed <= seeds && found.empty(); ++plan.seed) {
    plan.fuzz = plan.seed % 2 == 0;
    const scoped_schedule guard{plan};
    found.under(describe(plan));
    body();
  }
  found.under("");
}

/// Full heaps in which each of a few threads frees a block serve each of them at once. Neighbouring threads have blocks
/// that were taken together, so a group frees whole chunks, slabs and words of them.
template <class A>
void freed_blocks_are_there_at_once(findings& found) {
  if constexpr (!A::capabilities.individual_free) return found.skip("individual_free");
  constexpr std::uint64_t threads = warp_width;
  constexpr std::uint64_t sizes[] = {64, 256, 2000};
  under_stalls(found, 8, [&] {
    for (const std::uint64_t bytes : sizes) {
      if constexpr (A::capabilities.shared_below != 0) {
        if (bytes < A::capabilities.shared_below) continue;
      }
      if (!found.empty() || bytes > A::capabilities.largest_bytes) return;
      trial<A> t{found, fill_heap_bytes<A>()};
      block_list list = list_for(t, bytes);
      const std::uint64_t count = t.fill(list, bytes);
      // State that lies in the heap takes room there as it grows, so then some is left for it.
      const std::uint64_t left = A::capabilities.state_in_arena ? count / 4 : 0;
      t.run(t.fill_threads(), free_last_kernel{}, list.view(), bytes, left);
      for (std::uint64_t first = 0; first + threads <= count - left; first += count / 4) {
        t.run(threads, free_and_take_kernel{}, list.view(), first, threads, bytes, bytes, 16);
      }
    }
  });
}

/// A large block that a thread frees serves its request for a small one at once, though the heap was full when others
/// asked for such blocks before.
template <class A>
void freed_memory_is_there_at_once(findings& found, std::uint64_t seeds) {
  if constexpr (!A::capabilities.individual_free) return found.skip("individual_free");
  constexpr std::uint64_t large = 128_KiB;
  constexpr std::uint64_t small = 1000;
  if constexpr (A::capabilities.largest_bytes < large) return found.skip("blocks of 128 KiB");
  under_stalls(found, seeds, [&] {
    trial<A> t{found, this_backend == backend::host ? 2_MiB : 64_MiB};
    block_list list = list_for(t, large);
    block_list others = list_for(t, small);
    const std::uint64_t count = t.fill(list, large);
    t.fill(others, small, scaled_for<A>(512, 1 << 12));  // little is left, and each thread is refused once
    t.run(count, free_and_take_kernel{}, list.view(), 0, count, large, small, 1);
    t.give_back(list, small);
    t.give_back(others, small);
  });
}
template <class A>
void freed_memory_is_there_at_once(findings& found) {
  freed_memory_is_there_at_once<A>(found, 4);
}

}  // namespace warpheap::test
