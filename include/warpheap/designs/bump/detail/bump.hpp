// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/bump/bump.hpp>

namespace warpheap {

// All atomics here are relaxed: the offset alone decides who owns which bytes, nothing is published through it, and a
// byte changes hands only in a reset, which is a launch of its own. The limit moves only between launches, so it is
// read plainly, from the nearest cache: a load that all warps send to one address costs as much as their adds.

WARPHEAP_FN inline void bump::set_limit(std::uint64_t bytes) const {
  if (grid_thread_index() == 0) control_->limit = align_down(bytes, granule);
}

// Adds `bytes`, a multiple of the granule, to the offset at once. What it finds tells how that went.
WARPHEAP_FN inline bump::attempt bump::try_reserve(std::uint64_t bytes, std::uint64_t& start) const {
  using enum memory_order;
  using enum thread_scope;
  const atomic_view offset{control_->offset};
  const std::uint64_t limit = control_->limit;
  if (bytes > limit) return attempt::refused;
  start = offset.fetch_add(bytes, relaxed, device);
  if (start > limit) return attempt::closed;
  if (bytes <= limit - start) return attempt::granted;
  offset.store(start, relaxed, device);  // our add crossed the limit, so we owe the store
  return attempt::refused;
}

// Grants `bytes` to each lane of `group` for itself and returns their offset, or `none` if they do not fit. Looks
// before it adds, so that a full heap is not closed by requests that cannot fit. Waits while the offset is above the
// limit: the thread whose add crossed it has only its store left to do. Collective; the lanes may use different heaps.
//
// The lanes that wait end each turn by a ballot. So a lane whose add crossed the limit makes its store before any of
// them pauses, and before any of them leaves and waits at a reconvergence barrier.
WARPHEAP_FN inline std::uint64_t bump::reserve(lane_mask group, std::uint64_t bytes) const {
  using enum memory_order;
  using enum thread_scope;
  const atomic_view offset{control_->offset};
  const std::uint64_t limit = control_->limit;
  for (backoff wait;; wait.pause()) {
    std::uint64_t start = offset.load(relaxed, device);
    attempt how = attempt::closed;
    if (start <= limit) how = bytes > limit - start ? attempt::refused : try_reserve(bytes, start);
    group = ballot(group, how == attempt::closed);
    if (how != attempt::closed) return how == attempt::granted ? start : none;
  }
}

WARPHEAP_FN inline void* bump::malloc(std::uint64_t bytes) const {
  // A request that no heap can hold must not overflow the sums below.
  constexpr std::uint64_t largest = std::uint64_t{1} << 56;
  if (bytes > largest) return nullptr;
  const std::uint64_t rounded = align_up(bytes, granule);

  const lane_mask group = match(active_group(), reinterpret_cast<std::uint64_t>(control_));  // not of another heap
  const std::uint64_t first = shuffle(group, rounded, leader(group));
  std::uint64_t before = group_rank(group) * rounded;
  std::uint64_t total = group_size(group) * rounded;
  if (!all(group, rounded == first)) {
    const std::uint64_t upto = inclusive_scan(group, rounded, plus{});
    before = upto - rounded;
    total = shuffle(group, upto, highest_bit(group));
  }
  std::uint64_t start = none;
  if (is_leader(group) && try_reserve(total, start) != attempt::granted) start = none;
  start = shuffle(group, start, leader(group));
  if (start != none) return data_ + start + before;

  // What is left is too small for all of the group, or was closed for a moment. It may do for some, each on its own.
  const std::uint64_t own = reserve(group, rounded);
  return own == none ? nullptr : data_ + own;
}

WARPHEAP_FN inline void* bump::aligned_malloc(std::uint64_t alignment, std::uint64_t bytes) const {
  if (alignment <= granule) return malloc(bytes);
  constexpr std::uint64_t largest = std::uint64_t{1} << 56;
  if (bytes > largest || alignment > largest) return nullptr;
  // The offset's place modulo the alignment is known only after the grant, so the grant covers the worst.
  const std::uint64_t start = reserve(active_group(), align_up(bytes, granule) + alignment - granule);
  if (start == none) return nullptr;
  return reinterpret_cast<void*>(align_up(reinterpret_cast<std::uint64_t>(data_ + start), alignment));
}

WARPHEAP_FN inline void bump::count(allocator_counts& counts) const {
  using enum memory_order;
  using enum thread_scope;
  if (grid_thread_index() != 0) return;
  // Above the limit while somebody is about to put it back.
  const std::uint64_t offset = atomic_view{control_->offset}.load(relaxed, device);
  counts.live_bytes = offset < control_->limit ? offset : control_->limit;
}

}  // namespace warpheap
