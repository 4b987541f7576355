// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>

namespace warpheap {

/// What a `random_walk` has of everything.
struct random_walk_statistics {
  std::uint64_t page_bytes;  ///< size of a page
  std::uint64_t line_bytes;  ///< size of a line
  std::uint64_t lines;       ///< lines that the heap has
  std::uint64_t free_lines;  ///< lines that no block lies in
  std::uint64_t full_lines;  ///< lines that have no free page
  std::uint64_t blocks;      ///< live blocks
  std::uint64_t pages;       ///< pages that those have

  /// Bytes in blocks, the rounding of their sizes included: the heap's `live_bytes`.
  WARPHEAP_FN constexpr std::uint64_t live_bytes() const { return pages * page_bytes; }
};

}  // namespace warpheap
