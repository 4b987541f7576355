// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/warp_slab/warp_slab.hpp>

// Blocks above the largest class are runs of units. The header of the first tells how many.
//
// A power of two of units up to 64 is taken from one leaf of their set, by whoever comes and without the lock. Where no
// such block is seen, and for all other numbers, the heap's lock is held, and lanes that ask together for the same are
// served together.

namespace warpheap {

// A block of `bytes` bytes at a multiple of `alignment`, or null.
WARPHEAP_COLD_FN inline void* warp_slab::malloc_run(unsigned long long bytes, unsigned long long alignment) const {
  const std::uint64_t heap_bytes = control_->units << classes::unit_shift;
  if (bytes > heap_bytes || alignment > (std::uint64_t{1} << 40)) return nullptr;
  const auto count = static_cast<std::uint32_t>(divide_up(bytes, classes::unit_bytes));
  const auto unit_alignment = static_cast<std::uint32_t>(divide_up(alignment, classes::unit_bytes));
  const lane_mask group = warp_request::of(active_group(), control_).lanes;
  std::uint32_t first = 0;
  bool got = unit_alignment == 1 && take_run_at_once(group, count, first);
  const lane_mask rest = ballot(group, !got);
  if (!got) got = take_run_by_turns(rest, count, unit_alignment, first);
  sync(group);
  if (!got) return nullptr;
  atomic_view{header(first).owner}.store(unit_owner::run(count).value, memory_order::relaxed, thread_scope::device);
  return data_ + (std::uint64_t{first} << classes::unit_shift);
}

// A block of class `c` in units of its own, in a heap that is smaller than a slab of the class; else null. A heap in
// which slabs can lie keeps units together for them: else memory that comes back bit by bit would be used up by single
// blocks.
WARPHEAP_COLD_FN inline void* warp_slab::take_without_slab(std::uint32_t c) const {
  return control_->units < units_of(c) ? malloc_run(classes::bytes(c), 1) : nullptr;
}

// A run of `count` units if it is a number of which leaves are full, and one is soon found. One lane of `group`.
WARPHEAP_COLD_FN inline bool warp_slab::take_run_at_once(lane_mask group, std::uint32_t count,
                                                         std::uint32_t& first) const {
  if (count > bit_tree::leaf_bits || !is_power_of_two(count)) return false;
  // So many leaves are begun at once at most, that large runs find room beside small ones.
  constexpr std::uint64_t most = 64;
  constexpr std::uint64_t share = 16;
  const std::uint64_t leaves = control_->units / (bit_tree::leaf_bits * share);
  const auto window = static_cast<std::uint32_t>(leaves == 0 ? 1 : leaves < most ? leaves : most);
  const std::uint32_t mine =
      grid_warp_index() * static_cast<std::uint32_t>(group_size(group)) + static_cast<std::uint32_t>(group_rank(group));
  return free_units().try_take_block(count, mine, window, first);
}

// A run of `count` units at a multiple of `alignment` for each lane of `group`; false if at one moment of the call
// no such run was free, and no slab without blocks either. The lanes may want different things. Collective.
WARPHEAP_COLD_FN inline bool warp_slab::take_run_by_turns(lane_mask group, std::uint32_t count, std::uint32_t alignment,
                                                          std::uint32_t& first) const {
  // Only the first of several neighbours is sure to be aligned.
  const bool together = alignment == 1;
  warp_request wanting{match(group, std::uint64_t{alignment} << 32 | count)};
  for (;;) {  // not a spin: each turn serves a lane, or refuses all
    index_run run{0, 0};
    if (wanting.leads()) run = take_units_or_slabs(count, together ? wanting.size() : 1, alignment);
    sync(wanting.lanes);  // what the leader acquired is acquired for all
    run = {wanting.from_leader(run.first), wanting.from_leader(run.count)};
    const auto served = static_cast<std::uint32_t>(run.count / count);
    if (served == 0) return false;
    const std::uint32_t rank = wanting.rank();
    if (rank < served) {
      first = static_cast<std::uint32_t>(run.first) + rank * count;
      return true;
    }
    wanting = wanting.without_first(served);
  }
}

// Up to `times` runs of `count` units that are neighbours, if need be of slabs without blocks. One lane.
//
// A lane that waits for the lock meanwhile sees an attempt refused that began after its call, for as many units or
// fewer: then it is refused, too, and of many lanes for which nothing is free only a few have to look.
WARPHEAP_COLD_FN inline index_run warp_slab::take_units_or_slabs(std::uint32_t count, std::uint32_t times,
                                                                 std::uint32_t alignment) const {
  using enum memory_order;
  using enum thread_scope;
  // By an RMW, so that a later attempt sees all that comes before this call.
  const std::uint64_t earlier = atomic_view{control_->attempts}.fetch_add(0, release, device);
  const std::uint64_t most = std::uint64_t{count} * times;
  const auto units = most < control_->units ? static_cast<std::uint32_t>(most) : count;
  index_run run{0, 0};
  control_->lock.hold_unless([&] { return control_->refused_runs.since(earlier, count); },
                             [&] {
                               const std::uint64_t attempt =
                                   atomic_view{control_->attempts}.fetch_add(1, acquire, device) + 1;
                               run = take_units_now(count, units, alignment);
                               if (run.count == 0 && alignment == 1) control_->refused_runs.note(attempt, count);
                             });
  return run;
}

WARPHEAP_COLD_FN inline index_run warp_slab::take_units(std::uint32_t least, std::uint32_t most,
                                                        std::uint32_t alignment) const {
  return units().take_neighbours(least, most, alignment);
}

// Neighbouring units, if need be after slabs without blocks were taken back. The lock's holder, one lane.
WARPHEAP_COLD_FN inline index_run warp_slab::take_units_now(std::uint32_t least, std::uint32_t most,
                                                            std::uint32_t alignment) const {
  index_run run = take_units(least, most, alignment);
  while (run.count == 0 && reclaim(lane_bit(), least)) {  // not a spin: each turn takes slabs back
    run = take_units(least, most, alignment);
  }
  return run;
}

WARPHEAP_COLD_FN inline void warp_slab::free_run(std::uint32_t unit, std::uint32_t units) const {
  atomic_view{header(unit).owner}.store(0, memory_order::relaxed, thread_scope::device);
  free_units().mark({unit, units});
}

}  // namespace warpheap
