// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/random_walk/detail/lines.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::detail {

/// The quick path: a group of lanes that want one size looks at rows of neighbouring lines at a few random places.
///
/// Invariant: a lane that is served has a place that one exchange took for it, and no block is taken for nobody.
template <class Layout>
class walk_probing {
 public:
  WARPHEAP_FN explicit walk_probing(const arena& from) : lines_(from) {}
  WARPHEAP_FN const walk_lines<Layout>& lines() const { return lines_; }

  /// A number that differs from call to call and from thread to thread.
  WARPHEAP_FN std::uint64_t random_seed() const {
    const std::uint64_t thread = mix(grid_thread_index());
    if constexpr (this_backend == backend::cuda) return thread + cycle_count();
    // The host's clock would make a schedule that is replayed take other ways.
    const atomic_view walks{lines_.control().changes.mine().walks};
    return thread + walks.fetch_add(1, memory_order::relaxed, thread_scope::device);  // relaxed: orders nothing
  }

  /// A block of `size` pages, up to a line, for the lanes of `group`; lanes that found none are not served. `last` is
  /// the line of the last row. Collective.
  WARPHEAP_FN walk_place take(lane_mask group, std::uint32_t size, std::uint32_t& last) const {
    std::uint64_t seed = is_leader(group) ? random_seed() : 0;
    seed = shuffle(group, seed, leader(group));
    probe walk = probe::scattered(lines_.control().space, seed);
    lane_mask waiting = group;
    walk_place place{};
    last = 0;
    for (std::uint32_t left = Layout::random_steps; left != 0 && waiting != 0 && walk.next(last); --left) {
      take_in_row(group, waiting, last, size, place);
    }
    return place;
  }

  /// Takes blocks for the lanes of `waiting` in as many lines as `group` has lanes, from `first` on, each lane in one.
  /// Lanes that got one leave `waiting`. True if each line had no place at one moment. Collective.
  WARPHEAP_FN bool take_in_row(lane_mask group, lane_mask& waiting, std::uint32_t first, std::uint32_t size,
                               walk_place& place) const {
    const std::uint32_t count = lines_.count();
    const auto rank = static_cast<std::uint32_t>(group_rank(group));
    std::uint32_t mine = first + rank;
    if (mine >= count) mine -= count;
    std::uint32_t offer = 0;
    if (rank < count) offer = static_cast<std::uint32_t>(popcount(line_word::places(lines_.look(mine), size)));
    const auto wanted = static_cast<std::uint32_t>(popcount(waiting));
    const std::uint32_t before = exclusive_scan(group, offer, std::uint32_t{0}, plus{});
    std::uint32_t got = 0;
    bool was_full = offer == 0;
    if (offer != 0 && before < wanted) {
      // Lower lanes give first, so that blocks of a warp lie together. None takes more than it offered, or a block
      // would be left over.
      got = lines_.take(mine, size, wanted - before < offer ? wanted - before : offer);
      was_full = got == 0;
    }
    const dealt block = deal(group, waiting, static_cast<std::uint32_t>(popcount(got)));
    const int source = block.served() ? block.source : lane_index();
    const std::uint32_t begins = shuffle(group, got, source);
    const std::uint32_t where = shuffle(group, mine, source);
    if (block.served()) {
      place = {where, static_cast<std::uint32_t>(nth_set_bit(begins, static_cast<int>(block.index))), true};
    }
    waiting = ballot(group, (waiting & lane_bit()) != 0 && !block.served());
    return all(group, was_full);
  }

 private:
  walk_lines<Layout> lines_;
};

}  // namespace warpheap::detail
