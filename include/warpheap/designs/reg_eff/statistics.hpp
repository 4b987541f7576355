// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>

namespace warpheap {

/// What a heap of `reg_eff` has of everything. Each granule is part of a block or of a free chunk, unless a thread has
/// the chunk locked.
struct reg_eff_statistics {
  std::uint64_t granule_bytes;          ///< size of a granule
  std::uint64_t granules;               ///< granules that the heap has
  std::uint64_t cursors;                ///< cursors where requests begin to walk
  std::uint64_t blocks;                 ///< live blocks
  std::uint64_t block_granules;         ///< granules of those
  std::uint64_t free_chunks;            ///< free chunks; those side by side merge when a request needs it
  std::uint64_t free_granules;          ///< granules of those
  std::uint64_t largest_free_granules;  ///< granules of the largest free chunk, not merged with its neighbours

  /// Bytes in blocks, the rounding of their sizes included: the heap's `live_bytes`.
  WARPHEAP_FN constexpr std::uint64_t live_bytes() const { return block_granules * granule_bytes; }
  /// Headers that a request looks at before it is refused, if no other thread uses the heap.
  WARPHEAP_FN constexpr std::uint64_t chunks() const { return blocks + free_chunks; }
};

}  // namespace warpheap
