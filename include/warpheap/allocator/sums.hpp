// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>

namespace warpheap {

/// Adds `amount` to a sum of a grid, such as the live bytes of `allocator_counts` or a figure of a design's statistics.
/// The host reads the sum after the kernel.
///
/// Any thread, converged or not; any number of threads add at a time. An `amount` of zero accesses nothing, so threads
/// that found nothing cost nothing. A negative amount is its two's complement: the sum wraps as unsigned numbers do.
///
/// Memory order: relaxed, at the scope of the device. The sum orders no other memory: the end of the kernel does.
WARPHEAP_FN inline void add_to_sum(std::uint64_t& sum, std::uint64_t amount) {
  if (amount != 0) atomic_view{sum}.fetch_add(amount, memory_order::relaxed, thread_scope::device);
}

}  // namespace warpheap
