// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace warpheap {

/// What a pool has taken and handed out, at one moment. Sizes in bytes, the rounding to granules included.
struct pool_statistics {
  std::uint64_t reserved_bytes;        ///< addresses that the pool can grow over
  std::uint64_t committed_bytes;       ///< of them with memory
  std::uint64_t live_bytes;            ///< handed out and not taken back
  std::uint64_t peak_live_bytes;       ///< the most that ever was, since the pool was made, released or `reset_peaks`
  std::uint64_t live_blocks;           ///< blocks handed out and not taken back
  std::uint64_t free_bytes;            ///< committed and not handed out
  std::uint64_t free_segments;         ///< the stretches that these lie in
  std::uint64_t largest_free_bytes;    ///< the longest of them
  std::uint64_t allocations;           ///< blocks ever handed out
  std::uint64_t failures;              ///< requests that ended as out of memory
  std::uint64_t host_bytes;            ///< host memory that the book of all this takes
  std::uint64_t peak_committed_bytes;  ///< the most that ever was committed, since the pool was made or `reset_peaks`

  /// The part of the free bytes that do not lie in the longest stretch: 0 if they are one, near 1 if they are crumbs.
  double fragmentation() const {
    if (free_bytes == 0) return 0;
    return 1 - static_cast<double>(largest_free_bytes) / static_cast<double>(free_bytes);
  }
};

}  // namespace warpheap
