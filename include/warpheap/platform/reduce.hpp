// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/group.hpp>

namespace warpheap {

// What `reduce` and the scans combine values with. Each is associative and commutative.

/// The sum.
struct plus {
  template <class T>
  WARPHEAP_FN T operator()(T a, T b) const {
    return a + b;
  }
};
/// The smaller.
struct minimum {
  template <class T>
  WARPHEAP_FN T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};
/// The larger.
struct maximum {
  template <class T>
  WARPHEAP_FN T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};
/// The bits that both have.
struct bit_and {
  template <class T>
  WARPHEAP_FN T operator()(T a, T b) const {
    return a & b;
  }
};
/// The bits that either has.
struct bit_or {
  template <class T>
  WARPHEAP_FN T operator()(T a, T b) const {
    return a | b;
  }
};
/// The bits that one has and the other lacks.
struct bit_xor {
  template <class T>
  WARPHEAP_FN T operator()(T a, T b) const {
    return a ^ b;
  }
};

}  // namespace warpheap

#if defined(WARPHEAP_BACKEND_CUDA)
#include <warpheap/platform/cuda/reduce.hpp>
#else
#include <warpheap/platform/host/reduce.hpp>
#endif

namespace warpheap {

/// The values of the lanes of `group` up to and including the caller, combined in lane order. Collective; any mask.
///
/// Works on any mask by pointer doubling: each lane knows the nearest lane below it that its partial result does not
/// cover yet (`below`, or itself when no such lane exists) and after step k covers 2^k lanes.
template <shuffleable T, class Combine>
WARPHEAP_FN T inclusive_scan(lane_mask group, T value, Combine combine, call_site site = call_site::current()) {
  const lane_mask lower = lanes_below(group);
  if (const int first = leader(group); group == low_bits(group_size(group)) << first) {
    // A run of neighbours needs no pointers: after each step the open end lies `covered` lanes below.
    const int rank = lane_index() - first;
    for (int covered = 1; covered < group_size(group); covered *= 2) {
      const T partial = shuffle(group, value, rank >= covered ? lane_index() - covered : lane_index(), site);
      if (rank >= covered) value = combine(partial, value);
    }
    return value;
  }
  int below = lower != 0 ? highest_bit(lower) : lane_index();
  bool open = lower != 0;
  for (int covered = 1; covered < group_size(group); covered *= 2) {
    const T partial = shuffle(group, value, below, site);
    // The sign tells whether the lane below has an open end of its own, so one shuffle carries both.
    const int next = shuffle(group, open ? below : -1, below, site);
    if (open) {
      value = combine(partial, value);
      open = next >= 0;
      below = open ? next : lane_index();
    }
  }
  return value;
}

/// The values of the lanes of `group` below the caller, combined in lane order; `identity` for the leader. Collective.
template <shuffleable T, class Combine>
WARPHEAP_FN T exclusive_scan(lane_mask group, T value, T identity, Combine combine,
                             call_site site = call_site::current()) {
  const T inclusive = inclusive_scan(group, value, combine, site);
  const lane_mask lower = lanes_below(group);
  const T before = shuffle(group, inclusive, lower != 0 ? highest_bit(lower) : lane_index(), site);
  return lower != 0 ? before : identity;
}

/// The values of all lanes of `group` combined, returned to each. Collective; any mask.
template <shuffleable T, class Combine>
WARPHEAP_FN T reduce(lane_mask group, T value, Combine combine, call_site site = call_site::current()) {
  if constexpr (target::reduces_natively<T, Combine>) {
    return target::reduce(group, value, combine, site);
  } else {
    const T upto = inclusive_scan(group, value, combine, site);
    return shuffle(group, upto, highest_bit(group), site);
  }
}

/// The values of the lanes of `peers` combined, for their leader; what other lanes get is unspecified. `peers` is the
/// caller's part of a partition of `group`, as by `match`. Collective over `group`, not over `peers`: a GPU reduces one
/// group after the other, and this all parts at once: in one step for two lanes of the largest part, in two for four,
/// and so on.
template <shuffleable T, class Combine>
WARPHEAP_FN T reduce_parts(lane_mask group, lane_mask peers, T value, Combine combine,
                           call_site site = call_site::current()) {
  if (peers == group) return reduce(group, value, combine, site);  // for one lane of the group means for all
  // Pointer doubling: `above` is the nearest higher lane of the part that the caller's partial result does not cover.
  const lane_mask higher = peers & ~lanes_below(peers) & ~lane_bit();
  int above = higher != 0 ? lowest_bit(higher) : -1;
  while (any(group, above >= 0, site)) {  // not a spin: each turn doubles what a lane covers
    const int source = above >= 0 ? above : lane_index();
    const T partial = shuffle(group, value, source, site);
    const int next = shuffle(group, above, source, site);
    if (above < 0) continue;
    value = combine(value, partial);
    above = next;
  }
  return value;
}

}  // namespace warpheap
