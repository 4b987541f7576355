// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/random_walk/random_walk.hpp>

// malloc. Lanes that want blocks of one size within a line probe together. Those that found none sweep together,
// whatever their sizes. Lanes that have their blocks wait for the others of their group, so a warp leaves together.

namespace warpheap {

template <std::uint32_t Stripes, std::uint32_t RandomSteps>
WARPHEAP_FN void* basic_random_walk<Stripes, RandomSteps>::aligned_malloc(std::uint64_t alignment,
                                                                          std::uint64_t bytes) const {
  request wanted{};
  if (!request::make(alignment, bytes, lines().begin(), lines().count(), wanted)) return nullptr;
  if (wanted.is_within_line()) return take_within_line(wanted.pages);
  const std::uint32_t line = cold_call([part = runs(), wanted] { return part.take(wanted); });
  return line != detail::walk_runs<layout>::none ? lines().address({line, 0, true}) : nullptr;
}

/// A block of up to a line. Collective over the lanes that come together.
template <std::uint32_t Stripes, std::uint32_t RandomSteps>
WARPHEAP_FN void* basic_random_walk<Stripes, RandomSteps>::take_within_line(std::uint32_t pages) const {
  static_assert(line_word::pages < alignof(typename layout::control));  // the key leaves room for the size
  const lane_mask group = active_group();
  const lane_mask peers = match(group, lines().key() | pages);
  std::uint32_t last = 0;
  detail::walk_place place = probing().take(peers, pages, last);
  const lane_mask rest = ballot(group, !place.served);
  if (rest != 0 && !place.served) {
    place = cold_call(
        [part = sweep(), rest, pages, last] { return part.take(match(rest, part.lines().key()), pages, last); });
  }
  sync(group);  // what the lane that took a block acquired, its owner sees
  return place.served ? lines().address(place) : nullptr;
}

}  // namespace warpheap
