// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/scatter/detail/chunks.hpp>
#include <warpheap/designs/scatter/detail/pages.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::detail {

/// Pages [first, end), from `start` on and around.
struct scatter_range {
  std::uint32_t first, start, end;
};

/// How the lanes of a group go through pages: each looks at other pages of a row, and each page with room serves as
/// many lanes as it can.
template <class Table>
class scatter_sweep {
 public:
  using pages_type = scatter_pages<Table>;

  WARPHEAP_FN explicit scatter_sweep(const arena& from) : chunks_(from) {}
  WARPHEAP_FN const scatter_chunks<Table>& chunks() const { return chunks_; }
  WARPHEAP_FN const pages_type& pages() const { return chunks_.pages(); }

  /// Pages that a lane found in a row.
  struct picks {
    scatter_found first;   ///< from which it takes
    scatter_found second;  ///< from which it takes if the first pages of all lanes are not enough
    bool more;             ///< it saw pages that serve, and left them
  };
  /// Pages of a row at which each lane of a group of `lanes` looks. A few lanes look at more pages each: the looks do
  /// not wait for one another.
  WARPHEAP_FN static std::uint32_t looks_of(std::uint32_t lanes) { return lanes < few_lanes ? most_looks : 1; }

  /// Looks at the next pages of a row, `looks` for each lane. `settled` becomes false for a lane that met memory that
  /// was about to move. Collective.
  WARPHEAP_FN picks look_at(lane_mask group, const scatter_row& here, std::uint32_t looks,
                            const scatter_request& wanted, bool& settled) const {
    const auto lanes = static_cast<std::uint32_t>(group_size(group));
    scatter_found sized = scatter_found::nothing();
    scatter_found empty = scatter_found::nothing();
    std::uint32_t seen_pages = 0;  // that could serve the lane
    bool looked = false;
    WARPHEAP_ROLLED
    for (std::uint32_t i = looks; i-- != 0;) {
      const std::uint32_t page = here.page(i * lanes + static_cast<std::uint32_t>(group_rank(group)));
      if (page == scatter_row::none) continue;
      looked = true;
      const scatter_look seen = pages().table().look(page);
      settled = settled && seen.settled();
      if (seen.is_empty()) {
        empty = {page, seen};
        ++seen_pages;
      } else if (seen.room() != 0 && serves(seen, wanted)) {
        sized = {page, seen};
        ++seen_pages;
      }
    }
    // While half of the pages are empty, the first that serves, so that threads do not crowd. Then pages that have
    // chunks of such a size before empty ones, or each size would spread over all pages.
    const int empties = popcount(ballot(group, empty.is_page()));
    if (2 * empties >= popcount(ballot(group, looked))) {
      if (empty.page < sized.page) sized = empty;
      empty = scatter_found::nothing();
    }
    const std::uint32_t picked = (sized.is_page() ? 1 : 0) + (empty.is_page() ? 1 : 0);
    return {sized, empty, seen_pages != picked};
  }

  /// Serves lanes of `group` whose `block` is null from the pages of a range: all of them, or with `quick` a few rows
  /// of those that are not crowded. Returns the caller's block, and whether the lane met no memory that was about to
  /// move. Collective.
  WARPHEAP_COLD_FN scatter_served sweep(lane_mask group, scatter_request wanted, scatter_range all, bool quick,
                                        void* block) const {
    const auto lanes = static_cast<std::uint32_t>(group_size(group));
    const std::uint32_t looks = looks_of(lanes);
    std::uint32_t budget = Table::options.quick_looks;
    bool settled = true;
    std::uint32_t at = all.start;
    std::uint32_t end = all.end;
    for (;;) {  // not a spin: each turn goes on to later pages, once around, or serves lanes
      const scatter_row here = pages().table().row(group, at, end, quick, budget);
      picks mine = look_at(group, here, looks, wanted, settled);
      const std::uint32_t next = here.next(looks * lanes, end);
      WARPHEAP_ROLLED
      for (int pass = 0; pass < 2; ++pass) {
        if (any(group, mine.first.is_page())) {
          const scatter_served got = chunks_.take_apart(group, wanted, mine.first, block);
          block = got.block;
          settled = settled && got.settled;
          if (all_served(group, block)) return {block, settled};
        }
        mine.first = mine.second;
      }
      if (quick && budget == 0) break;
      // Pages that a lane saw and left for others are looked at again.
      if (any(group, mine.more)) continue;
      at = next;
      if (at < end) continue;
      if (end == all.start || all.start == all.first) break;
      at = all.first;
      end = all.start;
    }
    return {block, settled};
  }

  /// True if each lane of `group` has a block. Collective.
  WARPHEAP_FN static bool all_served(lane_mask group, const void* block) { return all(group, block != nullptr); }

 private:
  static constexpr std::uint32_t few_lanes = 16;
  static constexpr std::uint32_t most_looks = 4;

  // True if the chunks of a page are right for a request.
  WARPHEAP_FN static bool serves(scatter_look seen, const scatter_request& wanted) {
    return scatter_chunk_size{seen.units()}.serves(wanted.size, wanted.alignment, Table::options.waste_factor);
  }

  scatter_chunks<Table> chunks_;
};

}  // namespace warpheap::detail
