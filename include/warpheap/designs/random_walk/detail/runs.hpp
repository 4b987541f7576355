// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/random_walk/detail/sweep.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::detail {

/// Blocks that begin with a line: each lane tries a few random places, then lanes of a heap look at all places
/// together, one request after the other.
///
/// Invariant: a lane that gets no line has found each place taken, in one search of a quiescent heap or in each of a
/// limited number of searches (`walk_quiescence`); or another thread has noted such a proof.
template <class Layout>
class walk_runs {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};  ///< no line

  WARPHEAP_FN explicit walk_runs(const arena& from) : sweep_(from) {}
  WARPHEAP_FN const walk_sweep<Layout>& sweep() const { return sweep_; }
  WARPHEAP_FN const walk_lines<Layout>& lines() const { return sweep_.lines(); }

  /// The first line of a block for the caller, or `none`. Collective over lanes that come together.
  WARPHEAP_COLD_FN std::uint32_t take(walk_request wanted) const {
    const lane_mask group = match(active_group(), lines().key());
    const std::uint64_t seed = sweep_.probing().random_seed();
    const std::uint32_t places = wanted.places(lines().count());
    std::uint32_t place = 0;
    std::uint32_t line = none;
    WARPHEAP_ROLLED
    for (std::uint32_t left = Layout::random_steps; left != 0 && line == none; --left) {
      place = split(std::uint64_t{split(mix(seed + left)).high} * places).high;
      if (lines().take_run(wanted.line_of(place), wanted)) line = wanted.line_of(place);
    }
    lane_mask waiting = ballot(group, line == none);
    while (waiting != 0) {  // not a spin: each turn ends the requests of some lanes
      const int first = leader(waiting);
      const walk_request one = wanted.from(group, first);
      const lane_mask peers = ballot(group, (waiting & lane_bit()) != 0 && wanted == one);
      const std::uint32_t start = shuffle(group, place, first);
      const std::uint32_t found =
          cold_call([*this, group, peers, one, start] { return search(group, peers, one, start); });
      if ((peers & lane_bit()) != 0) line = found;
      waiting &= ~peers;
    }
    sync(group);  // what the lane that took a run acquired, its owner sees
    return line;
  }

 private:
  using verdict = typename walk_quiescence<Layout>::verdict;
  static constexpr std::uint32_t read_ahead = 4;  // words that a lane reads before it waits for memory

  // What one search found: a line for the caller or `none`, and the lanes that have none.
  struct looked {
    lane_mask waiting;
    std::uint32_t line;
  };

  // Looks at all places of a request until the lanes of `waiting` have a block or are refused. Collective.
  WARPHEAP_COLD_FN std::uint32_t search(lane_mask group, lane_mask waiting, walk_request wanted,
                                        std::uint32_t start) const {
    const walk_quiescence<Layout> changes = lines().changes();
    std::uint32_t line = none;
    typename walk_quiescence<Layout>::retry_limits left;
    for (backoff wait;; wait.pause(), wait.end()) {  // a search is work, however long
      walk_snapshot before{};
      if (is_leader(group)) before = changes.begin_search();
      sync(group);  // the looks of all lanes come after the snapshot
      if (any(group, is_leader(group) && changes.is_refused(wanted, before.returns))) return line;
      const looked result =
          cold_call([*this, group, waiting, wanted, start] { return search_once(group, waiting, wanted, start); });
      if (result.line != none) line = result.line;
      waiting = result.waiting;
      if (waiting == 0) return line;
      fence(memory_order::acquire, thread_scope::device);  // each lane's own looks
      sync(group);
      auto found = verdict::again;
      if (is_leader(group)) {
        found = changes.judge(before, left);
        if (found == verdict::exhausted) changes.note_refusal(wanted, before.returns);
      }
      if (!any(group, is_leader(group) && found == verdict::again)) return line;
    }
  }

  // Looks at all places once, from `start` on and around, each lane at another one. For the lanes that are left waiting
  // each place was taken in part at one moment. Collective.
  WARPHEAP_COLD_FN looked search_once(lane_mask group, lane_mask waiting, walk_request wanted,
                                      std::uint32_t start) const {
    std::uint32_t line = none;
    const std::uint32_t places = wanted.places(lines().count());
    const auto lanes = static_cast<std::uint32_t>(group_size(group));
    const auto rank = static_cast<std::uint32_t>(group_rank(group));
    const auto line_at = [=](std::uint32_t step) {
      return wanted.line_of(start + step < places ? start + step : start + step - places);
    };
    const std::uint32_t first_pages = line_word::taken(wanted.word_of(0));
    // Each turn of all loops is the same in all lanes.
    for (std::uint32_t step = 0; step < places && waiting != 0; step += read_ahead * lanes) {
      std::uint32_t likely = 0;  // a bit for each place that the lane looked at, if its first line is free
      for (std::uint32_t i = 0; i < read_ahead; ++i) {
        const std::uint32_t mine = step + i * lanes + rank;
        if (mine < places && (lines().look(line_at(mine)) & first_pages) == 0) likely |= 1u << i;
      }
      // not a spin: each turn ends with a place of each lane that tries one.
      for (lane_mask tries = ballot(group, likely != 0); tries != 0 && waiting != 0;
           tries = ballot(group, likely != 0)) {
        // As many as are wanted, so no run is taken for nobody.
        const bool mine = likely != 0 && group_rank(tries) < popcount(waiting);
        std::uint32_t got = none;
        if (mine) {
          const std::uint32_t at = line_at(step + static_cast<std::uint32_t>(lowest_bit(likely)) * lanes + rank);
          likely &= likely - 1;
          if (lines().take_run(at, wanted)) got = at;
        }
        const dealt block = deal(group, waiting, got != none ? 1 : 0);
        const std::uint32_t its = shuffle(group, got, block.served() ? block.source : lane_index());
        if (block.served()) line = its;
        waiting = ballot(group, (waiting & lane_bit()) != 0 && !block.served());
      }
    }
    return {waiting, line};
  }

  walk_sweep<Layout> sweep_;
};

}  // namespace warpheap::detail
