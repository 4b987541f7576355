// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/warp_slab/detail/reclamation.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>
#include <warpheap/sync.hpp>

namespace warpheap::detail {

/// Runs: blocks of whole units.
///
/// A power of two of units up to 64 is taken from one leaf of the set of free units, by any number of threads at once
/// and without the lock. Where no such run is soon found, and for all other numbers, a thread takes the heap's lock,
/// and lanes that ask together for the same number are served together.
///
/// Invariant: units of a run are not in the set of free ones. A refusal means that no such run was free at one moment
/// of the call, and that no slab was fully free when last seen. Its number tells waiting threads whether its sweep
/// began after their calls (`refused_run`).
class slab_runs {
 public:
  WARPHEAP_FN explicit slab_runs(const arena& from) : reclamation_(from) {}
  WARPHEAP_FN const slab_reclamation& reclamation() const { return reclamation_; }
  WARPHEAP_FN const slab_ledger& ledger() const { return reclamation_.ledger(); }
  WARPHEAP_FN const slab_sharing& sharing() const { return reclamation_.sharing(); }
  WARPHEAP_FN const slab_probes& probes() const { return reclamation_.probes(); }
  WARPHEAP_FN const slab_claims& claims() const { return reclamation_.claims(); }
  WARPHEAP_FN const slab_hints& hints() const { return reclamation_.hints(); }
  WARPHEAP_FN const slab_store& store() const { return reclamation_.store(); }

  /// Takes a run of `count` units, a power of two up to 64, if one is soon found: `first` becomes its first unit. False
  /// for any other number, and if none was found, which tells nothing of what is free. Each lane of `group` that calls
  /// asks for itself.
  WARPHEAP_COLD_FN bool take_run_at_once(lane_mask group, std::uint32_t count, std::uint32_t& first) const {
    if (count > bit_tree::leaf_bits || !is_power_of_two(count)) return false;
    // Threads that come at once spread over at most 64 leaves, and over at most a 16th of all, so that large runs find
    // room beside small ones.
    constexpr std::uint64_t most = 64;
    constexpr std::uint64_t share = 16;
    const std::uint64_t leaves = store().control().units / (bit_tree::leaf_bits * share);
    const auto window = static_cast<std::uint32_t>(leaves == 0 ? 1 : leaves < most ? leaves : most);
    const std::uint32_t mine = grid_warp_index() * static_cast<std::uint32_t>(group_size(group)) +
                               static_cast<std::uint32_t>(group_rank(group));
    return store().free_units().try_take_block(count, mine, window, first);
  }
  /// Takes a run of `count` units for each lane of `group`, at an address that is a multiple of `alignment` units;
  /// `first` becomes its first unit. False if at one moment of the call no such run was free, and no slab was fully
  /// free when last seen. The lanes may want different runs. Waits for the heap's lock. Collective.
  WARPHEAP_COLD_FN bool take_run_by_turns(lane_mask group, std::uint32_t count, std::uint32_t alignment,
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

 private:
  // Takes 1 to `times` neighbouring runs of `count` units each, if need be after it took slabs back; none if refused.
  // One lane.
  //
  // While a lane waits for the lock, it may see a refusal of as many units or fewer that rests on a sweep after its
  // call. Then it is refused, too: of many lanes for which no run is free, only a few have to look.
  WARPHEAP_COLD_FN index_run take_units_or_slabs(std::uint32_t count, std::uint32_t times,
                                                 std::uint32_t alignment) const {
    using enum memory_order;
    using enum thread_scope;
    // By an RMW, so that a later attempt sees all that comes before this call.
    const std::uint64_t earlier = atomic_view{store().control().attempts}.fetch_add(0, release, device);
    const std::uint64_t most = std::uint64_t{count} * times;
    const auto units = most < store().control().units ? static_cast<std::uint32_t>(most) : count;
    index_run run{0, 0};
    const auto is_refused = [&] { return store().control().refused_runs.since(earlier, count); };
    store().control().lock.hold_unless(is_refused, [&] {
      atomic_view{store().control().attempts}.fetch_add(1, acquire, device);
      run = take_units_now(count, units, alignment, earlier);
      // It holds for all that began to wait before the sweep that it rests on, which may be of an earlier attempt.
      if (run.count == 0 && alignment == 1) store().control().refused_runs.note(store().control().swept, count);
    });
    return run;
  }
  // Takes neighbouring units, if need be after it took slabs back. Before the caller's request `earlier` attempts had
  // begun. One lane, the lock's holder.
  WARPHEAP_COLD_FN index_run take_units_now(std::uint32_t least, std::uint32_t most, std::uint32_t alignment,
                                            std::uint64_t earlier) const {
    index_run run = take_units(least, most, alignment);
    // Not a spin: each turn takes slabs back.
    while (run.count == 0 && reclamation().reclaim_since(lane_bit(), least, earlier)) {
      run = take_units(least, most, alignment);
    }
    return run;
  }
  WARPHEAP_COLD_FN index_run take_units(std::uint32_t least, std::uint32_t most, std::uint32_t alignment) const {
    return store().units().take_neighbours(least, most, alignment);
  }

  slab_reclamation reclamation_;
};

}  // namespace warpheap::detail
