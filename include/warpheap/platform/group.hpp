// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/bits.hpp>
#include <warpheap/platform/call_site.hpp>
#include <warpheap/platform/lane.hpp>
#include <warpheap/platform/standard.hpp>

namespace warpheap {

/// A set of lanes of one warp: bit i stands for lane i.
using lane_mask = std::uint32_t;

}  // namespace warpheap

#if defined(WARPHEAP_BACKEND_CUDA)
#include <warpheap/platform/cuda/group.hpp>
#else
#include <warpheap/platform/host/group.hpp>
#endif

// The collectives below share one contract. `group` names lanes of the caller's warp, the caller among them; each named
// lane that has not exited calls the same function with the same `group`, and none goes on before all have called.
// Lanes may come from different places in the source. On the host executor a `group` that breaks this fails the launch;
// on a GPU it is undefined. Only `sync` orders memory: values go through votes and shuffles, other writes need `sync`.
namespace warpheap {

/// A value that a shuffle can carry: 1, 2, 4 or 8 bytes, trivially copyable.
template <class T>
concept shuffleable =
    std::is_trivially_copyable_v<T> && (sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8);

/// The caller and any other lanes of its warp that are in this call with it. This promises a subset that includes the
/// caller and no more: code must be right for a group of one. Carry the mask; do not ask again and expect the same.
WARPHEAP_FN inline lane_mask active_group(call_site site = call_site::current()) { return target::active_group(site); }

/// The lanes of `group` whose `predicate` is true.
WARPHEAP_FN inline lane_mask ballot(lane_mask group, bool predicate, call_site site = call_site::current()) {
  return target::ballot(group, predicate, site);
}
/// True if `predicate` is true for at least one lane of `group`.
WARPHEAP_FN inline bool any(lane_mask group, bool predicate, call_site site = call_site::current()) {
  return target::ballot(group, predicate, site) != 0;
}
/// True if `predicate` is true for each lane of `group`.
WARPHEAP_FN inline bool all(lane_mask group, bool predicate, call_site site = call_site::current()) {
  return target::ballot(group, predicate, site) == group;
}
/// The `value` of lane `source`, which must be in `group`; lanes may name different sources.
template <shuffleable T>
WARPHEAP_FN T shuffle(lane_mask group, T value, int source, call_site site = call_site::current()) {
  return target::shuffle(group, value, source, site);
}
/// The lanes of `group` whose `value` equals the caller's, bit for bit.
template <shuffleable T>
WARPHEAP_FN lane_mask match(lane_mask group, T value, call_site site = call_site::current()) {
  return target::match(group, value, site);
}
/// Waits for the lanes of `group`; writes that they made before are visible to all of them after.
WARPHEAP_FN inline void sync(lane_mask group, call_site site = call_site::current()) { target::sync(group, site); }
/// As `sync`. Returns `group`, for collectives that follow at once: a GPU then need not see for each of them whether
/// the lanes are together.
WARPHEAP_FN inline lane_mask reconverge(lane_mask group, call_site site = call_site::current()) {
  return target::reconverge(group, site);
}

/// Waits for the threads of the block that have not exited; their writes before are visible to all of them after.
/// Unlike a warp's `sync`, it needs each of them to call at the same place.
WARPHEAP_FN inline void sync_block(call_site site = call_site::current()) { target::sync_block(site); }

/// The caller's own bit.
WARPHEAP_FN inline lane_mask lane_bit() { return target::own_bit(); }
/// The lanes of `group` below the caller.
WARPHEAP_FN inline lane_mask lanes_below(lane_mask group) { return group & target::lower_bits(); }
/// The lowest lane of `group`, its leader by convention.
WARPHEAP_FN inline int leader(lane_mask group) { return lowest_bit(group); }
/// True for the leader of `group`.
WARPHEAP_FN inline bool is_leader(lane_mask group) { return lane_index() == leader(group); }
/// Number of lanes of `group`.
WARPHEAP_FN inline int group_size(lane_mask group) { return popcount(group); }
/// The caller's place in `group`, counted from 0 in lane order.
WARPHEAP_FN inline int group_rank(lane_mask group) { return popcount(lanes_below(group)); }

}  // namespace warpheap

#include <warpheap/platform/reduce.hpp>
