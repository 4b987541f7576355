// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <allocator/conformance/held_blocks.hpp>
#include <allocator/conformance/schedules.hpp>
#include <allocator/conformance/trial.hpp>
#include <cstdint>
#include <utility>

namespace warpheap::test {

/// Threads take and free blocks of two heaps in turn, half of the lanes of each warp in the other order: lanes that
/// call together use different heaps.
struct two_heaps_kernel {
  template <class A>
  WARPHEAP_FN void operator()(watched_heap<A> a, watched_heap<A> b, std::uint64_t seed) const {
    random_stream random{seed, grid_thread_index()};
    const bool swaps = !A::capabilities.needs_full_warp && thread_index() % 2 != 0;
    const watched_heap<A> one = swaps ? b : a;
    const watched_heap<A> two = swaps ? a : b;
    for (int round = 0; round < 4; ++round) {
      const std::uint64_t bytes = random.size(one.capped(200));
      void* const first = one.must_malloc(bytes);
      void* const second = two.must_malloc(bytes);
      if (first == nullptr || second == nullptr) return;
      payload{first, bytes, 5}.write();
      payload{second, bytes, 6}.write();
      one.log.expect(payload{first, bytes, 5}.intact(), problem::damaged, bytes, first);
      two.log.expect(payload{second, bytes, 6}.intact(), problem::damaged, bytes, second);
      one.free(first, bytes);
      two.free(second, bytes);
    }
  }
};

/// Heaps of one design live side by side: neither gives the other's bytes, and the end of one leaves the other alone.
template <class A>
void heaps_are_independent(findings& found) {
  constexpr std::uint64_t each = 2;
  const std::uint64_t threads = grid_shape::covering(scaled_for<A>(512, 1 << 14), 128).blocks * 128;
  under_schedules(found, [&](std::uint64_t seed) {
    trial<A> t{found, this_backend == backend::host ? 4_MiB : 128_MiB};
    t.share_owners();
    const device_array<held_block> held(threads * each);
    {
      warpheap::heap<A> other{t.heap().size()};
      t.run(threads, two_heaps_kernel{}, t.watch(other), seed);
      t.run(threads, take_kernel{}, held.data(), each, seed, std::uint64_t{200});
      const device_array<held_block> others(threads * each);
      t.run_unwatched(threads, take_kernel{}, t.watch(other), others.data(), each, seed + 1, std::uint64_t{200});
      t.run(threads, verify_kernel{}, static_cast<const held_block*>(others.data()), each, std::uint64_t{0});
      if constexpr (A::capabilities.individual_free) {
        t.run_unwatched(threads, give_kernel{}, t.watch(other), static_cast<const held_block*>(others.data()), each,
                        std::uint64_t{0});
      }
      if constexpr (A::capabilities.reset) other.reset();
    }
    t.run(threads, verify_kernel{}, static_cast<const held_block*>(held.data()), each, std::uint64_t{0});
  });
}

/// A heap that is moved keeps its blocks and its handles.
template <class A>
void heaps_can_move(findings& found) {
  constexpr std::uint64_t each = 2;
  const std::uint64_t threads = grid_shape::covering(scaled_for<A>(256, 1 << 14), 128).blocks * 128;
  trial<A> t{found, this_backend == backend::host ? 4_MiB : 128_MiB};
  const watched_heap<A> old = t.watched();
  const device_array<held_block> held(threads * each);
  t.run(threads, take_kernel{}, held.data(), each, std::uint64_t{1}, std::uint64_t{200});
  warpheap::heap<A> moved{std::move(t.heap())};
  t.run_unwatched(threads, verify_kernel{}, t.watch(moved), static_cast<const held_block*>(held.data()), each,
                  std::uint64_t{0});
  t.heap() = std::move(moved);
  t.run_unwatched(threads, verify_kernel{}, old, static_cast<const held_block*>(held.data()), each, std::uint64_t{0});
  t.run_unwatched(threads, give_kernel{}, old, static_cast<const held_block*>(held.data()), each, std::uint64_t{0});
  t.run(threads, take_kernel{}, held.data(), each, std::uint64_t{2}, std::uint64_t{200});
  t.run(threads, verify_kernel{}, static_cast<const held_block*>(held.data()), each, std::uint64_t{1});
}

}  // namespace warpheap::test
