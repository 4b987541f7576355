// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>

namespace warpheap {

/// A request that lanes of a warp make as one: they want the same of the same object. Their leader acts for all of
/// them, tells them the outcome, and each finds its own part of it by its rank.
///
/// Invariant: the lanes of a request hold equal values of it, and each of them is one of `lanes`.
///
/// Memory order: none. What the leader acquired, the others have after a `sync`; before the leader releases what all
/// of them did, they pass one, too.
struct warp_request {
  lane_mask lanes;  ///< those that make it

  /// The request of the lanes of `group` that want the same `kind` from the same `object`. `kind` is a number below
  /// the alignment of the object: lanes of a warp may use several objects. Collective over `group`.
  WARPHEAP_FN static warp_request of(lane_mask group, const void* object, std::uint32_t kind = 0,
                                     call_site site = call_site::current()) {
    return {match(group, reinterpret_cast<std::uint64_t>(object) | kind, site)};
  }
  /// The request of the lanes of `group` that want the same `amount` from the same `object`; the amount is any number.
  /// Collective over `group`.
  WARPHEAP_FN static warp_request of_amount(lane_mask group, const void* object, std::uint32_t amount,
                                            call_site site = call_site::current()) {
    return {match(match(group, reinterpret_cast<std::uint64_t>(object), site), amount, site)};
  }
  /// As `of_amount`, quicker where all lanes of `group` want the same and slower where they do not.
  WARPHEAP_FN static warp_request of_likely_amount(lane_mask group, const void* object, std::uint32_t amount,
                                                   call_site site = call_site::current()) {
    const auto self = reinterpret_cast<std::uint64_t>(object);
    const std::uint64_t first_object = shuffle(group, self, leader(group), site);
    const std::uint32_t first_amount = shuffle(group, amount, leader(group), site);
    if (all(group, self == first_object && amount == first_amount, site)) return {group};
    return of_amount(group, object, amount, site);
  }

  /// Number of lanes that make the request.
  WARPHEAP_FN std::uint32_t size() const { return static_cast<std::uint32_t>(group_size(lanes)); }
  /// The caller's place among them, counted from 0 in lane order.
  WARPHEAP_FN std::uint32_t rank() const { return static_cast<std::uint32_t>(group_rank(lanes)); }
  /// True for the lane that acts for all.
  WARPHEAP_FN bool leads() const { return is_leader(lanes); }
  /// The leader's `value`. Collective over the lanes of the request.
  template <shuffleable T>
  WARPHEAP_FN T from_leader(T value, call_site site = call_site::current()) const {
    return shuffle(lanes, value, leader(lanes), site);
  }
  /// The leader's `value`. Collective over `group`, whose lanes may make several requests; it has all lanes of each.
  template <shuffleable T>
  WARPHEAP_FN T from_leader(lane_mask group, T value, call_site site = call_site::current()) const {
    return shuffle(group, value, leader(lanes), site);
  }
  /// The request of those lanes that remain when the first `served` are served, by rank; one remains at least.
  WARPHEAP_FN warp_request without_first(std::uint32_t served) const {
    return {lanes & ~lowest_set_bits(lanes, static_cast<int>(served))};
  }
};

/// Runs `work(lanes)` in the lanes of `group`, for each group in turn of which `together` consists, as
/// `warp_request::of` makes them. A lane for which `work` returns true is done; the others of its group have another
/// turn. Collective over `together`.
///
/// Forward progress: a lane whose turn has not come holds nothing for this call, and a lane that is done leaves when no
/// lane of its group is in `work` any more. So threads of other warps may wait for what `work` does, and it for them,
/// whichever reconvergence barriers the compiler places around the call: no lane stands at one of them with its work
/// begun and not done. Without turns a group that has its part would stand there until all groups of its warp have,
/// unless the hardware lets it go.
template <class Work>
WARPHEAP_FN void one_group_at_a_time(lane_mask together, lane_mask group, Work work) {
  for (;;) {  // not a spin: each turn does work
    const bool is_turn = (group & lane_mask{1} << lowest_bit(together)) != 0;
    const bool is_done = is_turn && work(group);
    // The lanes of the group come here after `work`, before any of them leaves.
    together = ballot(reconverge(together), !is_done);
    if (is_done) return;
    group &= together;
  }
}

}  // namespace warpheap
