// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// A heap that has been in use for so long that its counters are about to begin anew serves and refuses as a new one.

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <support/schedules.hpp>
#include <vector>
#include <warpheap/allocator.hpp>
#include <warpheap/designs/bulk/bulk.hpp>
#include <warpheap/designs/ouroboros/ouroboros.hpp>
#include <warpheap/designs/warp_slab/warp_slab.hpp>

namespace warpheap::test::wrapping_test {
namespace {

constexpr std::uint64_t heap_bytes = std::uint64_t{1} << 20;
constexpr std::uint32_t almost32 = ~std::uint32_t{0};
constexpr std::uint64_t almost64 = ~std::uint64_t{0};

void age(warp_slab_layout::control& control) {
  control.free_units.changes.reset_to(almost32);
  for (auto& each : control.of_class) {
    each.generation = almost32;
    each.changes.reset_to(almost32);
    each.hints.changes.reset_to(almost32);
    each.demand = std::uint64_t{almost32} << 32;
    each.launch = almost32;
  }
  control.front = std::uint64_t{almost32} << 32;
}

// What a design keeps in front of its metadata.
template <class A>
struct state_of;
template <>
struct state_of<warp_slab> {
  using type = warp_slab_layout::control;
};
template <>
struct state_of<bulk> {
  using type = detail::bulk_layout<buddy_tree, 32>::control;
};
template <class Items, class Kind, ouroboros_options Options>
struct state_of<basic_ouroboros<Items, Kind, Options>> {
  using type = typename ouroboros_layout<Items, Kind, Options>::control;
};

template <class Control>
  requires requires(Control& control) { control.free_chunks; }
void age(Control& control) {
  control.free_chunks.changes.reset_to(almost32);
  for (auto& each : control.classes) {
    each.queue.opened = each.queue.adopted = almost32;
    each.moves.reset_to(almost64);
    each.turn = almost32;
  }
}

void age(detail::bulk_layout<buddy_tree, 32>::control& control) {
  for (auto& each : control.changes.stripes()) {
    each.reset_to(almost64);
    each.freed = each.progress = almost64;
  }
  for (auto& each : control.pages.changes.stripes()) each.reset_to(almost32);
  for (auto& arena : control.arenas) {
    for (auto& list : arena.lists) {
      for (std::uint64_t& top : list.top) top = std::uint64_t{almost32} << 32;
    }
  }
}

struct initialise_kernel {
  template <class A>
  WARPHEAP_FN void operator()(A allocator) const {
    allocator.initialise();
  }
};
/// Takes blocks until there are no more, `rounds` times, and frees them all but the last time.
struct fill_kernel {
  template <class A>
  WARPHEAP_FN void operator()(A allocator, std::uint64_t bytes, int rounds, void** kept, std::uint64_t most,
                              std::uint64_t* count) const {
    for (int round = 0; round < rounds; ++round) {
      std::uint64_t taken = 0;
      void** const mine = kept + grid_thread_index() * most;
      while (taken < most) {
        mine[taken] = allocator.malloc(bytes);
        if (mine[taken] == nullptr) break;
        ++taken;
      }
      if (round + 1 == rounds) {
        atomic_view{*count}.fetch_add(taken, memory_order::relaxed, thread_scope::device);
      } else {
        while (taken != 0) allocator.free(mine[--taken]);
      }
    }
  }
};
struct free_kernel {
  template <class A>
  WARPHEAP_FN void operator()(A allocator, void** kept, std::uint64_t most) const {
    void** const mine = kept + grid_thread_index() * most;
    for (std::uint64_t i = 0; i < most && mine[i] != nullptr; ++i) allocator.free(mine[i]);
  }
};

/// How many blocks of each size a heap holds, whose counters are as `change` makes them.
template <class A, class Change>
std::vector<std::uint64_t> room(Change change) {
  using control_type = typename state_of<A>::type;
  constexpr std::uint64_t alignment = std::uint64_t{1} << 17;
  const device_array<std::byte> memory(heap_bytes + alignment), metadata(A::metadata_bytes(heap_bytes) + 256);
  const arena place{reinterpret_cast<std::byte*>(align_up(reinterpret_cast<std::uint64_t>(memory.data()), alignment)),
                    heap_bytes, heap_bytes,
                    reinterpret_cast<std::byte*>(align_up(reinterpret_cast<std::uint64_t>(metadata.data()), 256))};
  const A allocator{place};
  launch({4, 32}, initialise_kernel{}, allocator);
  const auto control = std::make_unique<control_type>();
  device_copy(control.get(), place.metadata, sizeof(control_type));
  change(*control);
  device_copy(place.metadata, control.get(), sizeof(control_type));
  std::vector<std::uint64_t> all;
  for (const std::uint64_t bytes : {256, 4096, 1000, 30'000, 2048}) {
    constexpr std::uint64_t threads = 64;
    const std::uint64_t most = heap_bytes / bytes + 1;
    const device_array<void*> kept(threads * most);
    const device_array<std::uint64_t> count(1);
    launch({2, 32}, fill_kernel{}, allocator, bytes, 1, kept.data(), most, count.data());
    all.push_back(count.at(0));
    launch({2, 32}, free_kernel{}, allocator, kept.data(), most);
    const device_array<void*> again(threads * most);
    const device_array<std::uint64_t> ignored(1);
    launch({2, 32}, fill_kernel{}, allocator, bytes, 3, again.data(), most / threads, ignored.data());
    launch({2, 32}, free_kernel{}, allocator, again.data(), most / threads);
  }
  return all;
}

template <class A>
void old_heaps_are_as_new_ones() {
  for_each_schedule(
      [](std::uint64_t) {
        const auto fresh = room<A>([](auto&) {});
        const auto old = room<A>([](auto& control) { age(control); });
        EXPECT_EQ(fresh, old) << A::name;
      },
      1);
}

TEST(wrapping, warp_slab) { old_heaps_are_as_new_ones<warp_slab>(); }
TEST(wrapping, bulk) { old_heaps_are_as_new_ones<bulk>(); }
TEST(wrapping, ouroboros_s_p) { old_heaps_are_as_new_ones<ouroboros_s_p>(); }
TEST(wrapping, ouroboros_va_c) { old_heaps_are_as_new_ones<ouroboros_va_c>(); }
TEST(wrapping, ouroboros_vl_c) { old_heaps_are_as_new_ones<ouroboros_vl_c>(); }

}  // namespace
}  // namespace warpheap::test::wrapping_test
