// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>

namespace warpheap {

/// Which of the things that a group found is a lane's.
struct dealt {
  int source;           ///< the lane that found it, or -1 if the caller gets nothing
  std::uint32_t index;  ///< its number among those that the source found

  /// True if the caller has one.
  WARPHEAP_FN constexpr bool served() const { return source >= 0; }
};

/// Deals what the lanes of `group` found, `found` things each, to the lanes of `waiting` in lane order: things of lower
/// lanes first. `waiting` is part of `group`. What is left over is the finders'. Collective over `group`; one shuffle
/// for each lane that found something.
WARPHEAP_FN inline dealt deal(lane_mask group, lane_mask waiting, std::uint32_t found) {
  const bool waits = (waiting & lane_bit()) != 0;
  const auto mine = static_cast<std::uint32_t>(group_rank(waiting));
  std::uint32_t given = 0;
  dealt result{-1, 0};
  for (lane_mask sources = ballot(group, found != 0); sources != 0; sources &= sources - 1) {
    const int source = lowest_bit(sources);
    const std::uint32_t count = shuffle(group, found, source);
    if (waits && mine >= given && mine < given + count) result = {source, mine - given};
    given += count;
  }
  return result;
}

}  // namespace warpheap
