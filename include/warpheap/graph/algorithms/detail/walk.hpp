// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/graph/adjacency.hpp>
#include <warpheap/platform/device.hpp>

// How the lanes of a warp share work of unequal size. Each lane brings some items, such as the neighbours in a list.
// All lanes then work through the items of all, in lane order, so no lane waits for the longest list. Each function
// here is collective over the whole warp, and lanes without work of their own call it as well.

namespace warpheap::detail {

inline constexpr lane_mask whole_warp =
    warp_width == 32 ? ~lane_mask{0} : (lane_mask{1} << (warp_width % 32)) - 1;  ///< all lanes

/// What a lane works on in one step of `share_items`.
struct shared_item {
  bool is_there;        ///< false if the items ended before the caller's lane
  int owner;            ///< the lane that brought the item
  std::uint32_t index;  ///< number of the item among those of its owner
  lane_mask of_caller;  ///< the lanes that work in this step on items which the caller brought, a run of neighbours
};

/// Calls `visit(item)` in each lane until the `count` items of each lane have been visited once. Items of a lane are
/// visited in ascending order. `visit` may be collective. All counts together are below 2^32.
template <class Visit>
WARPHEAP_FN void share_items(std::uint32_t count, Visit visit) {
  const std::uint32_t end = inclusive_scan(whole_warp, count, plus{});
  const std::uint32_t begin = end - count;
  const std::uint32_t total = shuffle(whole_warp, end, warp_width - 1);
  for (std::uint32_t step = 0; step < total; step += warp_width) {
    const std::uint32_t at = step + static_cast<std::uint32_t>(lane_index());
    // The owner is the first lane whose items end after `at`.
    int owner = 0;
    for (int half = warp_width / 2; half > 0; half /= 2) {
      if (shuffle(whole_warp, end, owner + half - 1) <= at) owner += half;
    }
    const auto place = [&](std::uint32_t item) {
      return static_cast<int>(item <= step ? 0 : item - step < warp_width ? item - step : warp_width);
    };
    const lane_mask mine = low_bits(place(end)) & ~low_bits(place(begin));
    visit(shared_item{at < total, owner, at - shuffle(whole_warp, begin, owner), mine});
  }
}

/// Calls `job.step(id, item)` for the `count` ids at `ids` of each lane, as `share_items` deals them. `id` is 0 for an
/// item that is not there.
template <class Job>
WARPHEAP_FN void walk(const vertex_id* ids, std::uint32_t count, Job& job) {
  share_items(count, [&](const shared_item& item) {
    const vertex_id* const from = shuffle(whole_warp, ids, item.owner);
    job.step(item.is_there ? from[item.index] : 0, item);
  });
}

/// Reserves `count` places of a growing list for each lane, those of lower lanes first, and returns the first of the
/// caller's. One atomic operation serves the warp.
WARPHEAP_FN inline std::uint64_t reserve_places(std::uint64_t& size, std::uint64_t count) {
  const std::uint64_t upto = inclusive_scan(whole_warp, count, plus{});
  const std::uint64_t total = shuffle(whole_warp, upto, warp_width - 1);
  std::uint64_t base = 0;
  // Relaxed: the number alone is shared, and what is written to the places is read by a later launch.
  if (total != 0 && lane_index() == 0) {
    base = atomic_view(size).fetch_add(total, memory_order::relaxed, thread_scope::device);
  }
  return shuffle(whole_warp, base, 0) + upto - count;
}

/// Adds the sum of the lanes' values to a total of the launch.
WARPHEAP_FN inline void add_to_total(std::uint64_t& total, std::uint64_t value) {
  const std::uint64_t sum = reduce(whole_warp, value, plus{});
  // Relaxed: a later launch reads the total.
  if (sum != 0 && lane_index() == 0) {
    atomic_view(total).fetch_add(sum, memory_order::relaxed, thread_scope::device);
  }
}

}  // namespace warpheap::detail
