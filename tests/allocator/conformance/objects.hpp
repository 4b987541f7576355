// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <allocator/conformance/trial.hpp>
#include <cstdint>

namespace warpheap::test {

/// Counts how many of its kind began and ended.
struct census {
  std::uint64_t begun;
  std::uint64_t ended;
};

template <std::size_t Alignment>
struct alignas(Alignment) citizen {
  WARPHEAP_FN citizen(census* to, std::uint64_t name) : count(to), name(name) {
    atomic_view{count->begun}.fetch_add(1, memory_order::relaxed, thread_scope::device);
  }
  WARPHEAP_FN ~citizen() { atomic_view{count->ended}.fetch_add(1, memory_order::relaxed, thread_scope::device); }

  census* count;
  std::uint64_t name;
};

template <std::size_t Alignment>
struct objects_kernel {
  template <class A>
  WARPHEAP_FN void operator()(watched_heap<A> heap, census* count) const {
    using object = citizen<Alignment>;
    object* const one = heap.heap.template create<object>(count, grid_thread_index());
    if (!heap.log.expect(one != nullptr, problem::refused, sizeof(object), one)) return;
    heap.watch(one, sizeof(object), Alignment);
    heap.log.expect(one->name == grid_thread_index() && one->count == count, problem::damaged, sizeof(object), one);
    if constexpr (A::capabilities.individual_free) heap.disown(one, sizeof(object));
    heap.heap.destroy(one);
    heap.heap.destroy(static_cast<object*>(nullptr));
  }
};

/// `create` makes objects from their arguments, aligned as their type asks, and `destroy` ends each once.
template <class A>
void objects_begin_and_end(findings& found) {
  trial<A> t{found, this_backend == backend::host ? 4_MiB : 64_MiB};
  const device_array<census> count(1);
  const std::uint64_t threads = scaled_for<A>(512, 1 << 14);
  const std::uint64_t started = grid_shape::covering(threads, t.threads_per_block).blocks * t.threads_per_block;
  t.run(threads, objects_kernel<8>{}, count.data());
  constexpr std::uint64_t wide = A::capabilities.largest_alignment < 128 ? A::capabilities.alignment : 128;
  t.run(threads, objects_kernel<wide>{}, count.data());
  const census seen = count.at(0);
  found.expect(seen.begun == 2 * started && seen.ended == 2 * started,
               std::to_string(2 * started) + " objects were to live; " + std::to_string(seen.begun) + " began and " +
                   std::to_string(seen.ended) + " ended");
}

}  // namespace warpheap::test
