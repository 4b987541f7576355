// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocators/bump/bump.hpp>

namespace warpheap {

// All atomics here are relaxed: the offset alone decides who owns which bytes, nothing is published through it, and a
// byte changes hands only in a reset, which is a launch of its own.

WARPHEAP_FN inline void bump::set_limit(std::uint64_t bytes) const {
  using enum memory_order;
  using enum thread_scope;
  if (grid_thread_index() == 0) atomic_view{control_->limit}.store(align_down(bytes, granule), relaxed, device);
}

// Grants `bytes`, a multiple of the granule, and returns their offset, or `none` if they do not fit.
WARPHEAP_FN inline std::uint64_t bump::reserve(std::uint64_t bytes) const {
  using enum memory_order;
  using enum thread_scope;
  const atomic_view offset{control_->offset};
  const std::uint64_t limit = atomic_view{control_->limit}.load(relaxed, device);
  backoff wait;
  // Looking first keeps a full heap from being closed again and again by requests that cannot fit.
  for (std::uint64_t seen = offset.load(relaxed, device);; seen = offset.load(relaxed, device)) {
    if (seen <= limit) {
      if (bytes > limit - seen) return none;
      seen = offset.fetch_add(bytes, relaxed, device);
      if (seen <= limit && bytes <= limit - seen) return seen;
      if (seen <= limit) {
        offset.store(seen, relaxed, device);  // our add crossed the limit, so we owe the store
        return none;
      }
    }
    wait.pause();  // the thread that crossed the limit has only its store left to do
  }
}

WARPHEAP_FN inline void* bump::malloc(std::uint64_t bytes) const {
  // A request that no heap can hold must not overflow the sums below.
  constexpr std::uint64_t largest = std::uint64_t{1} << 56;
  if (bytes > largest) return nullptr;
  const std::uint64_t rounded = align_up(bytes, granule);

  const lane_mask group = active_group();
  const std::uint64_t first = shuffle(group, rounded, leader(group));
  std::uint64_t before = group_rank(group) * rounded;
  std::uint64_t total = group_size(group) * rounded;
  if (!all(group, rounded == first)) {
    const std::uint64_t upto = inclusive_scan(group, rounded, plus{});
    before = upto - rounded;
    total = shuffle(group, upto, highest_bit(group));
  }
  std::uint64_t start = 0;
  if (is_leader(group)) start = reserve(total);
  start = shuffle(group, start, leader(group));
  if (start != none) return data_ + start + before;

  // What is left is too small for all of the group, but may do for some.
  const std::uint64_t own = group_size(group) == 1 ? none : reserve(rounded);
  return own == none ? nullptr : data_ + own;
}

WARPHEAP_FN inline void* bump::aligned_malloc(std::uint64_t alignment, std::uint64_t bytes) const {
  if (alignment <= granule) return malloc(bytes);
  constexpr std::uint64_t largest = std::uint64_t{1} << 56;
  if (bytes > largest || alignment > largest) return nullptr;
  // The offset's place modulo the alignment is known only after the grant, so the grant covers the worst.
  const std::uint64_t start = reserve(align_up(bytes, granule) + alignment - granule);
  if (start == none) return nullptr;
  return reinterpret_cast<void*>(align_up(reinterpret_cast<std::uint64_t>(data_ + start), alignment));
}

WARPHEAP_FN inline void bump::count(allocator_counts& counts) const {
  using enum memory_order;
  using enum thread_scope;
  if (grid_thread_index() == 0) counts.live_bytes = atomic_view{control_->offset}.load(relaxed, device);
}

}  // namespace warpheap
