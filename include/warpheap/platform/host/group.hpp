// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <warpheap/platform/executor.hpp>
#include <warpheap/platform/group.hpp>

namespace warpheap::target {

inline lane_mask own_bit() { return lane_mask{1} << executor::place().lane; }
inline lane_mask lower_bits() { return own_bit() - 1; }

inline lane_mask active_group(call_site site) { return executor::gather(site); }

inline lane_mask ballot(lane_mask group, bool predicate, call_site site) {
  const executor::round& round = executor::meet(executor::meeting::ballot, group, predicate, site);
  const lane_mask votes = round.votes;
  executor::leave(round);
  return votes;
}

template <class T>
std::uint64_t to_word(T value) {
  std::uint64_t word = 0;
  std::memcpy(&word, &value, sizeof(T));
  return word;
}

template <class T>
T shuffle(lane_mask group, T value, int source, call_site site) {
  if (source < 0 || source >= executor::warp_width || (group >> source & 1) == 0) {
    executor::fail("shuffle: the source lane is not in the group", site);
  }
  const executor::round& round = executor::meet(executor::meeting::shuffle, group, to_word(value), site);
  const std::uint64_t word = round.values[source];
  executor::leave(round);
  T result;
  std::memcpy(&result, &word, sizeof(T));
  return result;
}

template <class T>
lane_mask match(lane_mask group, T value, call_site site) {
  const std::uint64_t word = to_word(value);
  const executor::round& round = executor::meet(executor::meeting::match, group, word, site);
  lane_mask equal = 0;
  for (lane_mask rest = group; rest != 0; rest &= rest - 1) {
    const int lane = lowest_bit(rest);
    if (round.values[lane] == word) equal |= lane_mask{1} << lane;
  }
  executor::leave(round);
  return equal;
}

inline void sync(lane_mask group, call_site site) {
  executor::leave(executor::meet(executor::meeting::sync, group, 0, site));
}

inline lane_mask reconverge(lane_mask group, call_site site) {
  sync(group, site);
  return group;
}

inline void sync_block(call_site site) { executor::block_barrier(site); }

}  // namespace warpheap::target
