// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <allocator/conformance/held_blocks.hpp>
#include <allocator/conformance/schedules.hpp>
#include <allocator/conformance/trial.hpp>
#include <cstdint>
#include <string>

namespace warpheap::test {

/// Each lane takes a block, and another lane of its warp checks and frees it.
struct other_lane_kernel {
  template <class A>
  WARPHEAP_FN void operator()(watched_heap<A> heap, held_block*, std::uint64_t seed) const {
    const lane_mask everyone = low_bits(warp_width);
    const std::uint64_t bytes = random_stream{seed, grid_thread_index()}.size(heap.capped(300));
    void* const mine = heap.must_malloc(bytes);
    if (mine != nullptr) payload{mine, bytes, 1}.write();
    sync(everyone);
    const int neighbour = (lane_index() + 5) % warp_width;
    void* const theirs = shuffle(everyone, mine, neighbour);
    const std::uint64_t size = shuffle(everyone, bytes, neighbour);
    if (theirs == nullptr) return;
    heap.log.expect(payload{theirs, size, 1}.intact(), problem::damaged, size, theirs);
    heap.free(theirs, size);
  }
};

/// Each thread takes a block, and a thread of another warp of its block checks and frees it.
struct other_warp_kernel {
  template <class A>
  WARPHEAP_FN void operator()(watched_heap<A> heap, held_block* table, std::uint64_t seed) const {
    held_block* const ours = table + block_index() * block_threads();
    const std::uint64_t bytes = random_stream{seed, grid_thread_index()}.size(heap.capped(300));
    void* const mine = heap.must_malloc(bytes);
    if (mine != nullptr) payload{mine, bytes, 2}.write();
    ours[thread_index()] = {mine, bytes};
    sync_block();
    const held_block theirs = ours[(thread_index() + static_cast<std::uint32_t>(warp_width) + 1) % block_threads()];
    if (theirs.block == nullptr) return;
    heap.log.expect(payload{theirs.block, theirs.bytes, 2}.intact(), problem::damaged, theirs.bytes, theirs.block);
    heap.free(theirs.block, theirs.bytes);
  }
};

// Runs `hand_over(t)` between fills of one heap, which must be as large afterwards. Blocks above 16 KiB lie around what
// a design keeps in stock of other sizes until memory is lacking, so the first fill with them may be short of a few. It
// ends when the heap is exhausted, the stock is taken apart by then, and the next fill may not be short.
template <class A, class Body>
void expect_nothing_lost(findings& found, std::uint64_t bytes_of_heap, const std::string& what, Body hand_over) {
  trial<A> t{found, bytes_of_heap};
  const std::uint64_t large = fill_sizes<A>(t.heap().size()).back();
  const std::uint64_t bytes = std::min<std::uint64_t>(large, 16_KiB);
  block_list list = list_for(t, bytes);
  const auto room_for = [&](std::uint64_t size) {
    const std::uint64_t count = t.fill(list, size);
    t.give_back(list, size);
    return count;
  };
  const auto expect_room = [&](std::uint64_t size, std::uint64_t before, std::uint64_t after, std::uint64_t short_of) {
    found.expect(after <= before && before - after <= short_of,
                 what + ": the heap held " + std::to_string(before) + " blocks of " + std::to_string(size) +
                     " B before and " + std::to_string(after) + " after");
  };
  const std::uint64_t large_before = large > bytes ? room_for(large) : 0;
  const std::uint64_t before = room_for(bytes);
  hand_over(t);
  if constexpr (!A::capabilities.individual_free) t.reset();
  if (large > bytes) {
    expect_room(large, large_before, room_for(large), large_before / 64);
    expect_room(large, large_before, room_for(large), 0);
  }
  expect_room(bytes, before, room_for(bytes), 0);
}

template <class A, class Body>
void hand_over_within_launch(findings& found, Body body, const std::string& what) {
  if constexpr (!trial<A>::can_give_back) return found.skip("individual_free or reset");
  if constexpr (A::capabilities.needs_full_warp) return found.skip("calls by single lanes");
  under_schedules(found, [&](std::uint64_t seed) {
    expect_nothing_lost<A>(found, this_backend == backend::host ? 512_KiB : 64_MiB, what, [&](trial<A>& t) {
      const std::uint64_t threads = scaled_for<A>(1024, 1 << 16);
      const device_array<held_block> table(threads + t.threads_per_block);
      t.run(threads, body, table.data(), seed);
    });
  });
}

/// A block may be freed by another lane than took it.
template <class A>
void other_lanes_may_free(findings& found) {
  hand_over_within_launch<A>(found, other_lane_kernel{}, "blocks freed by other lanes");
}

/// A block may be freed by another warp than took it.
template <class A>
void other_warps_may_free(findings& found) {
  hand_over_within_launch<A>(found, other_warp_kernel{}, "blocks freed by other warps");
}

/// A block may be freed by any thread of any block of a later launch.
template <class A>
void other_blocks_and_launches_may_free(findings& found) {
  if constexpr (!trial<A>::can_give_back) return found.skip("individual_free or reset");
  under_schedules(found, [&](std::uint64_t seed) {
    expect_nothing_lost<A>(found, this_backend == backend::host ? 512_KiB : 64_MiB, "blocks freed by other blocks",
                           [&](trial<A>& t) {
                             const std::uint64_t blocks = divide_up(scaled_for<A>(1024, 1 << 15), t.threads_per_block);
                             const std::uint64_t threads = (blocks + 1) * t.threads_per_block;
                             const device_array<held_block> held(threads);
                             constexpr std::uint64_t each = 1;
                             t.run(threads, take_kernel{}, held.data(), each, seed, std::uint64_t{300});
                             // The block that frees is never the block that took.
                             const std::uint64_t shift = t.threads_per_block + 3;
                             t.run(threads, verify_kernel{}, static_cast<const held_block*>(held.data()), each, shift);
                             t.run(threads, give_kernel{}, static_cast<const held_block*>(held.data()), each, shift);
                           });
  });
}

/// Where the design has no individual free, `free` leaves blocks as they are.
template <class A>
void free_without_promise_does_nothing(findings& found) {
  if constexpr (A::capabilities.individual_free) return found.skip("the absence of individual_free");
  constexpr std::uint64_t each = 2;
  const std::uint64_t threads = grid_shape::covering(scaled_for<A>(512, 1 << 14), 128).blocks * 128;
  trial<A> t{found, this_backend == backend::host ? 4_MiB : 128_MiB};
  const device_array<held_block> held(threads * each);
  const device_array<held_block> more(threads * each);
  t.run(threads, take_kernel{}, held.data(), each, std::uint64_t{1}, std::uint64_t{300});
  t.run(threads, give_kernel{}, static_cast<const held_block*>(held.data()), each, std::uint64_t{0});
  t.run(threads, take_kernel{}, more.data(), each, std::uint64_t{2}, std::uint64_t{300});
  t.run(threads, verify_kernel{}, static_cast<const held_block*>(held.data()), each, std::uint64_t{0});
}

}  // namespace warpheap::test
