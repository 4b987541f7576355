// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace warpheap {

/// What a `warp_slab` has of one size of blocks.
struct warp_slab_class_statistics {
  std::uint64_t block_bytes;  ///< size of a block
  std::uint64_t slabs;        ///< slabs that are full of such blocks
  std::uint64_t blocks;       ///< blocks of those slabs, free ones included
  std::uint64_t free_blocks;  ///< blocks that are not handed out
};

/// What a `warp_slab` has in all. Each unit of the heap is one of four: free, part of a slab, part of a large block, or
/// withdrawn since `heap::trim` gave back memory that it touches.
struct warp_slab_statistics {
  std::uint64_t unit_bytes;  ///< size of a unit
  std::uint64_t units;       ///< units that the heap has
  std::uint64_t free_units;  ///< units that are part of nothing, and can become part of a slab or of a large block
  /// Blocks in units of their own: those above the largest class, and small ones of a heap in which no slab of their
  /// size can lie.
  std::uint64_t large_blocks;
  std::uint64_t large_units;                        ///< units that those are made of
  std::vector<warp_slab_class_statistics> classes;  ///< by size, the smallest first

  /// The class that serves a request of `bytes` bytes. Throws `std::out_of_range` above the largest class.
  const warp_slab_class_statistics& of(std::uint64_t bytes) const {
    std::uint64_t c = 0;
    while (classes.at(c).block_bytes < bytes) ++c;
    return classes[c];
  }
  /// Bytes in blocks that are handed out, the rounding of their sizes included: the heap's `live_bytes`.
  std::uint64_t live_bytes() const {
    std::uint64_t total = large_units * unit_bytes;
    for (const warp_slab_class_statistics& each : classes) total += (each.blocks - each.free_blocks) * each.block_bytes;
    return total;
  }
};

}  // namespace warpheap
