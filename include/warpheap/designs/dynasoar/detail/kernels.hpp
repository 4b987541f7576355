// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/dynasoar/soa_ref.hpp>
#include <warpheap/platform/device.hpp>

// The kernels that `soa_heap` launches.

namespace warpheap::detail {

struct soa_initialise_kernel {
  template <class Ref>
  WARPHEAP_FN void operator()(Ref heap) const {
    heap.blocks().initialise();
  }
};

// Calls `visit(group, block, present)` in all lanes of the warps of the grid, for each block that words of allocated
// blocks, which `word_of(leaf)` reads, may name: `present` tells whether it is one. `group` is the whole warp.
template <class WordOf, class Visit>
WARPHEAP_FN void walk_allocated(const dynasoar_blocks& blocks, WordOf word_of, Visit visit) {
  constexpr lane_mask group = low_bits(warp_width);
  const auto leaves = static_cast<std::uint32_t>(dynasoar_layout::leaves(blocks.count()));
  const auto warps = static_cast<std::uint32_t>(grid_threads() / warp_width);
  for (std::uint32_t leaf = grid_warp_index(); leaf < leaves; leaf += warps) {
    const std::uint64_t word = word_of(leaf);
    if (word == 0) continue;
    for (std::uint32_t first = 0; first < bit_tree::leaf_bits; first += warp_width) {
      const std::uint32_t bit = first + static_cast<std::uint32_t>(lane_index());
      visit(group, leaf * bit_tree::leaf_bits + bit, (word >> bit & 1) != 0);
    }
  }
}

// Relaxed throughout: a launch reads what launches before it wrote, and a kernel beside it makes the figures a guess.
WARPHEAP_FN inline std::uint64_t allocated_word(const dynasoar_blocks& blocks, std::uint32_t type, std::uint32_t leaf) {
  return atomic_view{blocks.allocated(type)[leaf]}.load(memory_order::relaxed, thread_scope::device);
}

// Notes in each block of the type which of its slots are taken, and lists the blocks.
struct soa_snapshot_kernel {
  template <class Ref>
  WARPHEAP_FN void operator()(Ref heap, std::uint32_t type, std::uint32_t* list, std::uint32_t* counts,
                              std::uint32_t turn) const {
    constexpr auto relaxed = memory_order::relaxed;
    constexpr auto device = thread_scope::device;
    const dynasoar_blocks& blocks = heap.blocks();
    if (grid_thread_index() == 0) counts[1 - turn] = 0;
    walk_allocated(
        blocks, [&](std::uint32_t leaf) { return allocated_word(blocks, type, leaf); },
        [&](lane_mask group, std::uint32_t block, bool present) {
          if (present) {
            dynasoar_header& head = blocks.header(block);
            head.iterated =
                atomic_view{head.taken}.load(relaxed, device) & blocks.slots_below(head.entry.look().capacity);
          }
          const lane_mask listed = ballot(group, present);
          if (listed == 0) return;
          std::uint32_t at = 0;
          if (is_leader(group)) {
            at = atomic_view{counts[turn]}.fetch_add(static_cast<std::uint32_t>(popcount(listed)), relaxed, device);
          }
          at = shuffle(group, at, leader(group));
          if (present) list[at + static_cast<std::uint32_t>(popcount(lanes_below(listed)))] = block;
        });
  }
};

// Calls `body` with each object that the snapshot noted.
template <class U>
struct soa_visit_kernel {
  template <class... T, class Body, class... Arguments>
  WARPHEAP_FN void operator()(soa_ref<T...> heap, const std::uint32_t* list, const std::uint32_t* count, Body body,
                              Arguments... arguments) const {
    constexpr std::uint32_t capacity = soa_types<T...>::template capacity<U>();
    // At most 2^25 blocks of 64, and a grid adds less than 2^31 to that.
    const std::uint32_t all = *count * capacity;
    const auto step = static_cast<std::uint32_t>(grid_threads());
    for (auto i = static_cast<std::uint32_t>(grid_thread_index()); i < all; i += step) {
      const std::uint32_t block = list[i / capacity];
      const std::uint32_t slot = i % capacity;
      if ((heap.blocks().header(block).iterated >> slot & 1) != 0) {
        body(heap.template object_in<U>(block, slot), arguments...);
      }
    }
  }
};

template <class U>
struct soa_new_kernel {
  template <class Ref, class... Values>
  WARPHEAP_FN void operator()(Ref heap, std::uint64_t count, std::uint64_t* refused, Values... values) const {
    if (grid_thread_index() < count && !heap.template make<U>(values...)) add_to_sum(*refused, 1);
  }
};

template <class U>
struct soa_new_with_kernel {
  template <class Ref, class Body>
  WARPHEAP_FN void operator()(Ref heap, std::uint64_t count, std::uint64_t* refused, Body body) const {
    const std::uint64_t i = grid_thread_index();
    if (i < count && !heap.template make_with<U>([&](soa_object<U> object) { body(object, i); }))
      add_to_sum(*refused, 1);
  }
};

struct soa_count_kernel {
  template <class Ref>
  WARPHEAP_FN void operator()(Ref heap, std::uint32_t type, std::uint64_t* sum) const {
    const dynasoar_blocks& blocks = heap.blocks();
    std::uint64_t found = 0;
    walk_allocated(
        blocks, [&](std::uint32_t leaf) { return allocated_word(blocks, type, leaf); },
        [&](lane_mask, std::uint32_t block, bool present) {
          if (present) found += blocks.taken_slots(block);
        });
    add_to_sum(*sum, found);
  }
};

struct soa_used_kernel {
  template <class Ref>
  WARPHEAP_FN void operator()(Ref heap, std::uint64_t* sum) const {
    const dynasoar_blocks& blocks = heap.blocks();
    std::uint64_t found = 0;
    for (std::uint64_t i = grid_thread_index(); i < blocks.count(); i += grid_threads()) {
      found += blocks.header(static_cast<std::uint32_t>(i)).entry.look().is_assigned() ? 1 : 0;
    }
    add_to_sum(*sum, found);
  }
};

}  // namespace warpheap::detail
