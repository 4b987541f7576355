// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/fdg/detail/arenas.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::detail {

/// Arenas in common, for mallocs of threads that have no arena of their own. A warp has one of them by its number.
/// Their blocks go back by a reset alone.
///
/// Invariant: a lane is refused only if no page was free, and after that no arena in common had room for it, and no
/// page came back meanwhile; or if a limited number of searches found none while pages came back during each of them.
template <class Layout>
class fdg_common {
 public:
  using header = typename Layout::header;
  static constexpr std::uint64_t none = fdg_arenas<Layout>::none;  ///< no place

  WARPHEAP_FN explicit fdg_common(const arena& from) : arenas_(from) {}
  WARPHEAP_FN const fdg_arenas<Layout>& arenas() const { return arenas_; }

  /// A place of `granules` granules, at most a superblock's, or `none`. Collective over lanes that come together.
  WARPHEAP_FN std::uint64_t take(std::uint32_t granules) const {
    header& own = own_arena();
    const lane_mask group = match(active_group(), reinterpret_cast<std::uint64_t>(&own));
    std::uint64_t place = arenas_.take(group, own, granules, true);
    const lane_mask rest = ballot(group, place == none);
    if (place == none) place = cold_call([*this, rest, granules] { return search(rest, granules); });
    sync(group);  // so a warp leaves together
    return place;
  }

  /// The first granule of a block of `count` pages, or `none`. Collective over lanes that come together.
  WARPHEAP_COLD_FN std::uint64_t take_pages(std::uint64_t count) const {
    header& own = own_arena();
    const lane_mask peers = match(active_group(), reinterpret_cast<std::uint64_t>(&own));
    return arenas_.take_pages(match(peers, page_source::order_for(count)), own, count);
  }

 private:
  static constexpr int most_searches = 4;

  WARPHEAP_FN typename Layout::control& control() const { return arenas_.pages().control(); }
  WARPHEAP_FN std::uint32_t own_index() const {
    return static_cast<std::uint32_t>(grid_warp_index()) & control().arena_mask;
  }
  WARPHEAP_FN header& own_arena() const { return control().common[own_index()].of; }

  // A place for lanes whose own arena can get no superblock. Collective.
  WARPHEAP_COLD_FN std::uint64_t search(lane_mask group, std::uint32_t granules) const {
    const std::uint32_t own = shuffle(group, own_index(), leader(group));
    std::uint64_t place = none;
    lane_mask waiting = group;
    WARPHEAP_ROLLED
    for (int turn = 0; turn < most_searches; ++turn) {
      std::uint64_t before = 0;
      if (is_leader(group)) before = arenas_.pages().source().epoch();
      sync(group);  // the looks of all lanes come after it
      // With the own arena once more, in case a page came back before.
      for (std::uint32_t step = 0; step <= control().arena_mask && waiting != 0;) {
        step = search_row(group, waiting, own, step, granules, place);
      }
      if (waiting == 0) break;
      // Pages are taken before the looks and given after them, so an epoch that stands still says that none came back.
      const bool again = is_leader(group) && arenas_.pages().source().epoch() != before;
      if (!any(group, again)) break;
    }
    return place;
  }

  // Serves lanes of `waiting` from a row of arenas, a lane's look at each, from the `step`th after `own` on. Returns
  // the step of the next row. The first row is the own arena alone, which may grow. Collective.
  WARPHEAP_FN std::uint32_t search_row(lane_mask group, lane_mask& waiting, std::uint32_t own, std::uint32_t step,
                                       std::uint32_t granules, std::uint64_t& place) const {
    const auto lanes = static_cast<std::uint32_t>(group_size(group));
    const auto rank = static_cast<std::uint32_t>(group_rank(group));
    const std::uint32_t row = step == 0 ? 1 : lanes;
    const bool wants = (waiting & lane_bit()) != 0;
    const std::uint32_t least = reduce(group, wants ? granules : ~0u, minimum{});
    const std::uint32_t mine = (own + step + rank) & control().arena_mask;
    const bool looks = rank < row && step + rank <= control().arena_mask;
    lane_mask likely = ballot(group, looks && (step == 0 || arenas_.room(control().common[mine].of) >= least));
    for (; likely != 0 && waiting != 0; likely &= likely - 1) {  // not a spin: each turn ends with an arena
      const std::uint32_t at = shuffle(group, mine, lowest_bit(likely));
      if ((waiting & lane_bit()) != 0) place = take_of(waiting, at, granules, step == 0);
      waiting = ballot(group, (waiting & lane_bit()) != 0 && place == none);
    }
    return step + row;
  }

  // A place in arena `at`, or `none`. A function of its own, so that the search takes few registers. Collective.
  WARPHEAP_COLD_FN std::uint64_t take_of(lane_mask group, std::uint32_t at, std::uint32_t granules, bool grows) const {
    return arenas_.take(group, control().common[at].of, granules, grows);
  }

  fdg_arenas<Layout> arenas_;
};

}  // namespace warpheap::detail
