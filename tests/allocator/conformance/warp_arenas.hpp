// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <allocator/conformance/held_blocks.hpp>
#include <allocator/conformance/schedules.hpp>
#include <allocator/conformance/trial.hpp>
#include <cstdint>
#include <string>

namespace warpheap::test {

/// Thread i takes `each` blocks of an arena of its warp if `(warp + i / 2) % 2 == 0` for each of them or not, of all
/// sizes up to some pages, fills them and holds them. Warps whose number modulo 2 is `only` take part, or all with 2.
struct arena_take_kernel {
  template <class A>
  WARPHEAP_FN void operator()(watched_heap<A> heap, arena_ref<A>* arenas, held_block* held, std::uint64_t each,
                              std::uint64_t seed, std::uint64_t only) const {
    const std::uint64_t self = grid_thread_index();
    const std::uint64_t warp = self / static_cast<std::uint64_t>(warp_width);
    if (only != 2 && warp % 2 != only) return;
    const arena_ref<A> own = heap.heap.open_arena(low_bits(warp_width));
    arenas[self] = own;
    if (!heap.log.expect(static_cast<bool>(own), problem::refused, 1, nullptr)) return;
    random_stream random{seed, self};
    for (std::uint64_t i = self * each; i < (self + 1) * each; ++i) {
      held[i] = {nullptr, 0};
      if (random.below(4) == 0) continue;  // so lanes call in other company each time
      const std::uint64_t bytes = random.below(64) == 0 ? heap.capped(5000 + random.below(20000)) : random.below(400);
      void* const block = own.malloc(bytes);
      heap.log.expect(block != nullptr, problem::refused, bytes, block);
      held[i] = {heap.watch(block, bytes, A::capabilities.alignment), bytes};
      if (block != nullptr) payload{block, bytes, i}.write_all();
    }
  }
};

/// Warps whose number modulo 2 is `only`, or all with 2, check the blocks of their arenas and release them.
struct arena_release_kernel {
  template <class A>
  WARPHEAP_FN void operator()(watched_heap<A> heap, const arena_ref<A>* arenas, const held_block* held,
                              std::uint64_t each, std::uint64_t only) const {
    const std::uint64_t self = grid_thread_index();
    const std::uint64_t warp = self / static_cast<std::uint64_t>(warp_width);
    if (only != 2 && warp % 2 != only) return;
    for (std::uint64_t i = self * each; i < (self + 1) * each; ++i) {
      if (held[i].block == nullptr) continue;
      heap.log.expect(payload{held[i].block, held[i].bytes, i}.all_intact(), problem::damaged, held[i].bytes,
                      held[i].block);
      heap.disown(held[i].block, held[i].bytes);
    }
    sync(low_bits(warp_width));
    arenas[self].release(low_bits(warp_width));
  }
};

/// Each warp takes blocks of `bytes` from an arena until it gets none, counts them, and leaves the arena open; one
/// without room for an arena leaves none.
struct arena_fill_kernel {
  template <class A>
  WARPHEAP_FN void operator()(watched_heap<A> heap, arena_ref<A>* arenas, std::uint64_t* count,
                              std::uint64_t bytes) const {
    const arena_ref<A> own = heap.heap.open_arena(low_bits(warp_width));
    arenas[grid_thread_index()] = own;
    std::uint64_t mine = 0;
    while (own.malloc(bytes) != nullptr) ++mine;
    atomic_view{*count}.fetch_add(mine, memory_order::relaxed, thread_scope::device);
  }
};

/// Each warp releases its arena, by some of its lanes.
struct arena_empty_kernel {
  template <class A>
  WARPHEAP_FN void operator()(watched_heap<A>, const arena_ref<A>* arenas, lane_mask group) const {
    if ((group & lane_bit()) != 0) arenas[grid_thread_index()].release(group);
  }
};

/// Each warp takes, uses and releases, several times, all within one launch: what one releases the others take.
struct arena_churn_kernel {
  template <class A>
  WARPHEAP_FN void operator()(watched_heap<A> heap, std::uint64_t seed, int rounds) const {
    random_stream random{seed, grid_thread_index()};
    const lane_mask warp = low_bits(warp_width);
    for (int round = 0; round < rounds; ++round) {
      const arena_ref<A> own = heap.heap.open_arena(warp);
      held_block held[3] = {};
      for (held_block& one : held) {
        if (random.below(3) == 0) continue;
        one.bytes = random.below(16) == 0 ? heap.capped(9000) : random.below(600);
        one.block = heap.watch(own.malloc(one.bytes), one.bytes, A::capabilities.alignment);
        if (one.block != nullptr) payload{one.block, one.bytes, grid_thread_index()}.write();
      }
      for (held_block& one : held) {
        if (one.block == nullptr) continue;
        heap.log.expect(payload{one.block, one.bytes, grid_thread_index()}.intact(), problem::damaged, one.bytes,
                        one.block);
        heap.disown(one.block, one.bytes);
      }
      sync(warp);
      own.release(warp);
    }
  }
};

/// What a warp took of an arena and released can all be taken again; the blocks of other warps are untouched; and
/// nothing is lost, also where arenas come and go within a launch and in a heap that is full.
template <class A>
void warps_release_what_they_took(findings& found) {
  if constexpr (!A::capabilities.release_by_warp) {
    found.skip("release_by_warp");
  } else {
    under_schedules(found, [&](std::uint64_t seed) {
      constexpr std::uint64_t each = 6;
      const std::uint64_t threads = grid_shape::covering(scaled_for<A>(512, 1 << 14), 128).blocks * 128;
      trial<A> t{found, this_backend == backend::host ? 4_MiB : 256_MiB};
      const device_array<arena_ref<A>> arenas(threads);
      device_array<std::uint64_t> count(1);
      const std::uint64_t bytes = std::min<std::uint64_t>(4096, A::capabilities.largest_bytes);
      const auto fill = [&] {
        count.clear();
        t.run(threads, arena_fill_kernel{}, arenas.data(), count.data(), bytes);
        const std::uint64_t taken = count.at(0);
        t.run(threads, arena_empty_kernel{}, static_cast<const arena_ref<A>*>(arenas.data()),
              lane_mask{seed % 2 == 0 ? low_bits(warp_width) : 0x00f00210});
        return taken;
      };
      const std::uint64_t before = fill();
      found.expect(before >= t.heap().size() / bytes / 2, "arenas fill no more than half of an empty heap");

      const device_array<held_block> held(threads * each);
      const auto* const blocks = static_cast<const held_block*>(held.data());
      const auto* const opened = static_cast<const arena_ref<A>*>(arenas.data());
      t.run(threads, arena_take_kernel{}, arenas.data(), held.data(), each, seed, std::uint64_t{2});
      for (std::uint64_t only = 0; only < 4; ++only) {
        t.run(threads, arena_release_kernel{}, opened, blocks, each, only % 2);
        t.run(threads, arena_take_kernel{}, arenas.data(), held.data(), each, seed + 1 + only, only % 2);
      }
      t.run(threads, verify_kernel{}, blocks, each, std::uint64_t{7});
      t.run(threads, arena_release_kernel{}, opened, blocks, each, std::uint64_t{2});
      t.run(threads, arena_churn_kernel{}, seed, static_cast<int>(scaled(4, 16)));
      if constexpr (A::capabilities.counts_live) {
        found.expect(t.heap().statistics().live_bytes == 0u, "all arenas are released and " +
                                                                 std::to_string(*t.heap().statistics().live_bytes) +
                                                                 " B are said to be live");
      }
      const std::uint64_t after = fill();
      found.expect(after == before, "arenas held " + std::to_string(before) + " blocks of " + std::to_string(bytes) +
                                        " B in the heap before others were released, and " + std::to_string(after) +
                                        " after");
    });
  }
}

}  // namespace warpheap::test
