// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace warpheap {

/// What a pool has handed out and taken back so far, and the most that it ever had handed out at a time.
struct usage_figures {
  std::uint64_t allocations = 0;        ///< blocks ever handed out
  std::uint64_t allocated_bytes = 0;    ///< in these
  std::uint64_t deallocations = 0;      ///< blocks ever taken back
  std::uint64_t deallocated_bytes = 0;  ///< in these
  std::uint64_t peak_live_blocks = 0;   ///< the most at a time, since the pool was made or its peaks were reset
  std::uint64_t peak_live_bytes = 0;    ///< the most at a time, since the pool was made or its peaks were reset
  /// Blocks that were not taken back.
  std::uint64_t live_blocks() const { return allocations - deallocations; }
  /// Bytes in these.
  std::uint64_t live_bytes() const { return allocated_bytes - deallocated_bytes; }
};

/// Is told of each change of a pool's figures, by one thread at a time.
class usage_observer {
 public:
  virtual ~usage_observer() = default;
  /// The figures are `now`. Called with a lock held that each block's way through the pool takes: it must be quick, and
  /// call no pool.
  virtual void usage_changed(const usage_figures& now) noexcept = 0;
};

}  // namespace warpheap
