// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/random_walk/detail/probing.hpp>
#include <warpheap/platform/device.hpp>

namespace warpheap::detail {

/// The slow path for blocks within a line: lanes of a heap sweep all lines together, each lane another line, whatever
/// sizes they want.
///
/// Invariant: a lane that is not served has seen each line without a place for its size, in one sweep of a quiescent
/// heap or in each of a limited number of sweeps (`walk_quiescence`); or another thread has noted such a proof.
template <class Layout>
class walk_sweep {
 public:
  WARPHEAP_FN explicit walk_sweep(const arena& from) : probing_(from) {}
  WARPHEAP_FN const walk_probing<Layout>& probing() const { return probing_; }
  WARPHEAP_FN const walk_lines<Layout>& lines() const { return probing_.lines(); }

  /// A block of `pages` pages for each lane of `group`, which may want different sizes; lanes that are refused are not
  /// served. The sweep begins at line `start` of the leader. Collective.
  WARPHEAP_COLD_FN walk_place take(lane_mask group, std::uint32_t pages, std::uint32_t start) const {
    const walk_quiescence<Layout> changes = lines().changes();
    const walk_request wanted = walk_request::within_line(pages);
    walk_place place{};
    bool refused = false;
    start = shuffle(group, start, leader(group));
    typename walk_quiescence<Layout>::retry_limits left;
    for (backoff wait;; wait.pause(), wait.end()) {  // a sweep is work, however long
      walk_snapshot before{};
      if (is_leader(group)) before = changes.begin_search();
      sync(group);  // the looks of all lanes come after the snapshot
      before.returns = shuffle(group, before.returns, leader(group));
      refused = refused || changes.is_refused(wanted, before.returns);
      lane_mask waiting = ballot(group, !place.served && !refused);
      if (waiting == 0) return place;
      waiting = sweep_once(group, waiting, pages, start, place);
      if (waiting == 0) return place;
      fence(memory_order::acquire, thread_scope::device);  // each lane's own looks
      sync(group);
      auto found = verdict::again;
      if (is_leader(group)) found = changes.judge(before, left);
      found = static_cast<verdict>(shuffle(group, static_cast<std::uint32_t>(found), leader(group)));
      if (found == verdict::again) continue;
      if (found == verdict::exhausted && (waiting & lane_bit()) != 0) changes.note_refusal(wanted, before.returns);
      return place;
    }
  }

 private:
  using verdict = typename walk_quiescence<Layout>::verdict;
  static constexpr std::uint32_t read_ahead = 4;  // words that a lane reads before it waits for memory

  WARPHEAP_FN static std::uint32_t size_bit(std::uint32_t pages) { return 1u << (pages - 1); }

  // Serves lanes of `waiting` from all lines once, from line `start` on and around. Returns the lanes that have no
  // block: for their sizes each line had no place at one moment. Collective.
  WARPHEAP_FN lane_mask sweep_once(lane_mask group, lane_mask waiting, std::uint32_t pages, std::uint32_t start,
                                   walk_place& place) const {
    const std::uint32_t count = lines().count();
    const auto lanes = static_cast<std::uint32_t>(group_size(group));
    const auto rank = static_cast<std::uint32_t>(group_rank(group));
    const auto at = [=](std::uint32_t step) { return start + step < count ? start + step : start + step - count; };
    std::uint32_t sizes = reduce(group, (waiting & lane_bit()) != 0 ? size_bit(pages) : 0u, bit_or{});
    // Each turn of all loops is the same in all lanes.
    for (std::uint32_t step = 0; step < count && waiting != 0; step += read_ahead * lanes) {
      std::uint64_t seen[read_ahead];
      for (std::uint32_t i = 0; i < read_ahead; ++i) {
        const std::uint32_t mine = step + i * lanes + rank;
        seen[i] = mine < count ? lines().look(at(mine)) : line_word::make(~0u, 0);
      }
      bool some = false;
      for (std::uint32_t i = 0; i < read_ahead; ++i) some = some || line_word::sizes_that_fit(seen[i], sizes) != 0;
      if (!any(group, some)) continue;
      WARPHEAP_ROLLED
      for (std::uint32_t row = step; row < step + read_ahead * lanes && row < count && waiting != 0; row += lanes) {
        waiting = serve_from_row(group, waiting, pages, at(row), sizes, place);
      }
    }
    return waiting;
  }

  // Serves lanes of `waiting` from one row of lines, the largest sizes first. `sizes` are those that lanes wait for.
  // Returns the lanes that have no block: for their sizes each line had no place at one moment. Collective.
  WARPHEAP_FN lane_mask serve_from_row(lane_mask group, lane_mask waiting, std::uint32_t pages, std::uint32_t first,
                                       std::uint32_t& sizes, walk_place& place) const {
    const std::uint32_t count = lines().count();
    const auto rank = static_cast<std::uint32_t>(group_rank(group));
    std::uint32_t mine = first + rank;
    if (mine >= count) mine -= count;
    std::uint32_t left = sizes;  // those for which the row may have a place
    for (;;) {  // not a spin: each turn serves a lane or ends with a size, or another thread changed a line
      const std::uint32_t fit = rank < count ? line_word::sizes_that_fit(lines().look(mine), left) : 0;
      left = reduce(group, fit, bit_or{});
      if (left == 0) return waiting;
      const auto size = static_cast<std::uint32_t>(highest_bit(left)) + 1;
      lane_mask askers = ballot(group, (waiting & lane_bit()) != 0 && pages == size);
      const bool full = probing_.take_in_row(group, askers, first, size, place);
      waiting = ballot(group, (waiting & lane_bit()) != 0 && !place.served);
      if (askers == 0) sizes &= ~size_bit(size);
      if (askers == 0 || full) left &= ~size_bit(size);
    }
  }

  walk_probing<Layout> probing_;
};

}  // namespace warpheap::detail
