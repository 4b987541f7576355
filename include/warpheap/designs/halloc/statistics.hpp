// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace warpheap {

/// What a `halloc` has of one size class.
struct halloc_class_statistics {
  std::uint64_t block_bytes;  ///< size of a block
  std::uint64_t slabs;        ///< slabs of such blocks
  std::uint64_t blocks;       ///< blocks of those slabs, free ones included
  std::uint64_t free_blocks;  ///< those that nobody has
  std::uint64_t head_blocks;  ///< of the free ones, those that belong to a head
};

/// What a `halloc` has of everything. Each page is free, of a slab, or of a block of pages, or `heap::trim` gave back
/// memory that it touches.
struct halloc_statistics {
  std::uint64_t page_bytes;                      ///< size of a page
  std::uint64_t pages;                           ///< pages that the heap has
  std::uint64_t free_pages;                      ///< pages that serve any request
  std::uint64_t large_pages;                     ///< pages of blocks, and pages that were trimmed
  std::uint64_t slab_bytes;                      ///< size of a slab
  std::uint64_t heads;                           ///< head slabs that a class can have
  std::vector<halloc_class_statistics> classes;  ///< by size, the smallest first

  /// Bytes in blocks, the rounding of their sizes included: the heap's `live_bytes`, and what was trimmed.
  std::uint64_t live_bytes() const {
    std::uint64_t total = large_pages * page_bytes;
    for (const halloc_class_statistics& each : classes) total += (each.blocks - each.free_blocks) * each.block_bytes;
    return total;
  }
};

}  // namespace warpheap
