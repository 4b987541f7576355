// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/atomic_wrap/atomic_wrap.hpp>

namespace warpheap {

// Orders. All additions are relaxed: the sum alone decides who gets which numbers, and nothing is published through it.
// The heap promises its users no order between the owners of reused bytes.

// Adds `bytes` to the sum; returns what it was. One lane.
WARPHEAP_FN inline std::uint64_t atomic_wrap::draw(std::uint64_t bytes) const {
  return atomic_view{control_->sum}.fetch_add(bytes, memory_order::relaxed, thread_scope::device);
}

// The place of `bytes`, at most the heap's, that do not cross the end of the heap, for a lane by itself. Twice as many
// numbers hold such a place wherever they begin: either before the next end of the heap, or from there on.
WARPHEAP_FN inline std::uint64_t atomic_wrap::draw_within(std::uint64_t bytes) const {
  const std::uint64_t at = draw(2 * bytes) % bytes_;
  return bytes <= bytes_ - at ? at : 0;
}

WARPHEAP_FN inline void* atomic_wrap::malloc(std::uint64_t bytes) const {
  if (bytes > bytes_) return nullptr;
  const std::uint64_t rounded = align_up(bytes, granule);  // at most the heap, whose bytes are granules
  const lane_mask group = match(active_group(), reinterpret_cast<std::uint64_t>(control_));  // not of another heap
  const std::uint64_t upto = inclusive_scan(group, rounded, plus{});
  const std::uint64_t total = shuffle(group, upto, highest_bit(group));
  std::uint64_t start = 0;
  if (is_leader(group)) start = draw(total);
  start = shuffle(group, start, leader(group));
  const std::uint64_t at = (start + upto - rounded) % bytes_;
  return data_ + (rounded <= bytes_ - at ? at : draw_within(rounded));  // numbers across the end serve nobody
}

WARPHEAP_FN inline void* atomic_wrap::aligned_malloc(std::uint64_t alignment, std::uint64_t bytes) const {
  if (alignment <= granule) return malloc(bytes);
  if (bytes > bytes_ || alignment > bytes_) return nullptr;
  // The place modulo the alignment is known only after the draw, so it covers the worst.
  const std::uint64_t padded = align_up(bytes, granule) + alignment - granule;
  if (padded > bytes_) return nullptr;
  const std::uint64_t at = draw_within(padded);
  return reinterpret_cast<void*>(align_up(reinterpret_cast<std::uint64_t>(data_ + at), alignment));
}

}  // namespace warpheap
