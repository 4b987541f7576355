// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/dynasoar/detail/blocks.hpp>

// How slots are taken: the leader of a group looks for a block of the type with free slots, or makes one of a free
// block, and takes as many permits of it as the group has lanes. Lanes that are left over look again.

namespace warpheap::detail {

// Where the search of the caller's warp begins. Warps of a multiprocessor begin in one leaf, at a block each, so that
// leaves fill and empty seldom; multiprocessors begin far apart.
WARPHEAP_FN inline std::uint32_t dynasoar_blocks::home() const {
  const std::uint64_t leaves = dynasoar_layout::leaves(blocks_);
  const auto leaf = static_cast<std::uint32_t>(spread(multiprocessor_index()) * leaves >> 32);
  // Numbers of the warps of one multiprocessor are often multiples of a power of two apart.
  const std::uint32_t block = leaf * bit_tree::leaf_bits + (spread(grid_warp_index()) >> (32 - 6));
  return block < blocks_ ? block : blocks_ - 1;
}

// Where one of the tries begins: at home, then in leaves that differ from warp to warp. A try looks at one leaf. To
// search all leaves for the few active blocks would lead all warps to the same ones.
WARPHEAP_FN inline std::uint32_t dynasoar_blocks::place_of_try(std::uint32_t at_home, int number) const {
  if (number < home_tries) return at_home;
  const std::uint32_t hash = spread(at_home + static_cast<std::uint32_t>(number) * 0x9e3779b1u);
  return static_cast<std::uint32_t>(std::uint64_t{hash} * blocks_ >> 32);
}

// Permits of `block`, which was active when the caller looked; `none`: it saw no such block.
WARPHEAP_COLD_FN inline auto dynasoar_blocks::take_of(std::uint32_t block, std::uint32_t type, std::uint32_t wanted,
                                                      permits& got) const -> outcome {
  if (block == slab_sets::none) return outcome::empty;
  slab_entry& entry = headers_[block].entry;
  const slab_step step = entry.try_take(type, wanted);
  if (step.amount() == 0) return outcome::lost;
  // Before other lanes of the group go on: they may search, and then wait for this move.
  if (step.none_left()) leave_set(block, active_set(type));
  // The permit keeps the block what it is, so the generation is that of the permit.
  got = {block, step.amount(), entry.look().generation, false};
  return outcome::taken;
}

// Makes the block, which the caller took out of the free set, one of `type` with `taken` slots for the caller's group.
WARPHEAP_FN inline void dynasoar_blocks::create(std::uint32_t block, std::uint32_t type, std::uint32_t capacity,
                                                std::uint32_t taken) const {
  constexpr auto relaxed = memory_order::relaxed;
  constexpr auto device = thread_scope::device;
  dynasoar_header& head = headers_[block];
  // Acquires what the retirer released. A block in the free set is unowned, and who takes it out alone reserves it.
  [[maybe_unused]] const bool reserved = head.entry.try_reserve();
  invariant(reserved, "dynasoar: a free block that is not unowned");
  // Relaxed: `assign` releases it.
  atomic_view{head.taken}.store(~slots_below(capacity) | slots_below(taken), relaxed, device);
  if (lists_blocks_) {
    // Relaxed: a launch reads the bitmap that comes after this one, and the block's next retirer comes after its
    // permits.
    atomic_view{allocated(type)[block / bit_tree::leaf_bits]}.fetch_or(std::uint64_t{1} << block % bit_tree::leaf_bits,
                                                                       relaxed, device);
  }
  head.entry.assign(type, capacity, taken);
}

// Permits of a block that is free as yet.
WARPHEAP_COLD_FN inline auto dynasoar_blocks::try_free(std::uint32_t type, std::uint32_t capacity, std::uint32_t wanted,
                                                       std::uint32_t& from, permits& got) const -> outcome {
  const std::uint32_t block = sets_.search(free_set, from);
  if (block == slab_sets::none) return outcome::empty;
  const std::uint32_t taken = wanted < capacity ? wanted : capacity;
  if (!sets_.transfer(block, free_set, [=, this] { create(block, type, capacity, taken); }, where())) {
    from = after(block);
    return outcome::lost;
  }
  got = {block, taken, headers_[block].entry.look().generation, true};
  return outcome::taken;
}

// The paper's search: a few active blocks, then a free one. Most calls find an active block, so the rest is cold.
WARPHEAP_FN inline auto dynasoar_blocks::find_permits(std::uint32_t type, std::uint32_t capacity,
                                                      std::uint32_t wanted) const -> permits {
  permits got{dynasoar_slot::none, 0, 0, false};
  std::uint32_t from = home();
  WARPHEAP_ROLLED
  for (int i = 0; i < tries; ++i) {
    const std::uint32_t block = sets_.search_leaf(active_set(type), place_of_try(from, i));
    const outcome found = take_of(block, type, wanted, got);
    if (found == outcome::taken) return got;
    if (found == outcome::lost && i < home_tries) from = after(block);
  }
  return cold_call(
      [self = *this, type, capacity, wanted, from] { return self.find_or_create(type, capacity, wanted, from); });
}

WARPHEAP_FN inline auto dynasoar_blocks::find_or_create(std::uint32_t type, std::uint32_t capacity,
                                                        std::uint32_t wanted, std::uint32_t from) const -> permits {
  permits got{dynasoar_slot::none, 0, 0, false};
  outcome found = outcome::lost;
  WARPHEAP_ROLLED
  for (int i = 0; i < tries && found == outcome::lost; ++i) found = try_free(type, capacity, wanted, from, got);
  if (found != outcome::taken) find_patiently(type, capacity, wanted, from, got);
  return got;
}

// Searches until it finds something, or is certain that there is nothing, or other threads moved blocks in
// `most_searches` searches.
WARPHEAP_FN inline void dynasoar_blocks::find_patiently(std::uint32_t type, std::uint32_t capacity,
                                                        std::uint32_t wanted, std::uint32_t from, permits& got) const {
  std::uint32_t begun = 0;
  backoff wait;
  WARPHEAP_ROLLED
  for (std::uint32_t searches = 0; searches < most_searches; wait.pause(), wait.end()) {
    const slab_sets::quiescence_snapshot before = sets_.begin_snapshot();
    searches += before.begun != begun ? 1 : 0;
    begun = before.begun;
    const std::uint32_t block = sets_.search(active_set(type), from);
    const outcome active = take_of(block, type, wanted, got);
    if (active == outcome::taken) return;
    if (active == outcome::lost) from = after(block);
    const outcome free = try_free(type, capacity, wanted, from, got);
    if (free == outcome::taken) return;
    // Both sets were empty, and no block was on its way: each was so at one moment.
    if (active == outcome::empty && free == outcome::empty && sets_.was_quiescent(before)) return;
  }
}

WARPHEAP_FN inline dynasoar_slot dynasoar_blocks::take(lane_mask group, std::uint32_t type,
                                                       std::uint32_t capacity) const {
  constexpr std::uint32_t created_bit = 1u << 8, generation_shift = 16;
  lane_mask left = group;
  for (;;) {  // not a spin: each turn serves a lane or ends
    std::uint32_t block = dynasoar_slot::none;
    std::uint32_t figures = 0;
    if (is_leader(left)) {
      const permits got = find_permits(type, capacity, static_cast<std::uint32_t>(group_size(left)));
      block = got.block;
      figures = got.amount | (got.created ? created_bit : 0) | got.generation << generation_shift;
    }
    sync(left);  // what the leader acquired, all lanes did
    block = shuffle(left, block, leader(left));
    figures = shuffle(left, figures, leader(left));
    if (block == dynasoar_slot::none) return {block, 0, 0};
    const auto rank = static_cast<std::uint32_t>(group_rank(left));
    const bool served = rank < (figures & (created_bit - 1));
    const lane_mask serving = ballot(left, served);
    if (served) {
      const std::uint32_t slot = (figures & created_bit) != 0 ? rank : slots(block).claim_counted(serving, 0);
      return {block, slot, figures >> generation_shift};
    }
    left &= ~serving;
  }
}

}  // namespace warpheap::detail
