// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>

namespace warpheap::detail {

/// The chunks of an empty heap: plain numbers.
///
/// The heap is cut into parts, one for each cursor. A part is a binary tree, level after level: one chunk of R units,
/// two of R / 2, and so on down to R of one unit. What is left is one more chunk. So every size finds chunks of its
/// own, and threads that begin at once find different ones.
///
/// Invariant: each part but the last is a multiple of R, and R is a power of two. So a chunk of 2^k units begins at a
/// multiple of 2^k, and requests of 2^k units fit in it.
class reg_eff_pre_split {
 public:
  static constexpr std::uint32_t least_part = 2048;  ///< units below which a heap is not cut into more parts

  /// A chunk.
  struct chunk {
    std::uint32_t begin;  ///< its first unit
    std::uint32_t end;    ///< the unit after its last
  };

  /// The chunks of a heap of `units` units, at least 1, for so many cursors.
  WARPHEAP_FN constexpr reg_eff_pre_split(std::uint32_t units, std::uint32_t cursors) : units_(units) {
    const std::uint32_t most = units / least_part;
    parts_ = most < 1 ? 1 : most < cursors ? most : cursors;
    const std::uint32_t part = units / parts_;
    while ((levels_ + std::uint64_t{1}) << levels_ <= part) ++levels_;  // not a spin: doubles each time
    part_ = part / root() * root();
  }

  /// Units of the largest chunk of a tree: R.
  WARPHEAP_FN constexpr std::uint32_t root() const { return std::uint32_t{1} << (levels_ - 1); }
  WARPHEAP_FN constexpr std::uint32_t levels() const { return levels_; }  ///< levels of a tree
  WARPHEAP_FN constexpr std::uint32_t parts() const { return parts_; }    ///< parts of the heap
  /// The first unit of part `index`.
  WARPHEAP_FN constexpr std::uint32_t part_begin(std::uint32_t index) const { return index * part_; }
  /// Chunks of a part, that of what is left included.
  WARPHEAP_FN constexpr std::uint32_t chunks_in_part() const { return 2 * root(); }
  /// Chunk `index` of a part; an empty one if nothing is left for the last.
  WARPHEAP_FN constexpr chunk chunk_of(std::uint32_t part, std::uint32_t index) const {
    const std::uint32_t begin = part_begin(part);
    if (index + 1 == chunks_in_part()) {
      return {begin + levels_ * root(), part + 1 == parts_ ? units_ : part_begin(part + 1)};
    }
    std::uint32_t level = 0;
    while (std::uint32_t{2} << level <= index + 1) ++level;  // not a spin: doubles each time
    const std::uint32_t size = root() >> level;
    const std::uint32_t at = begin + level * root() + (index + 1 - (std::uint32_t{1} << level)) * size;
    return {at, at + size};
  }

 private:
  std::uint32_t units_;
  std::uint32_t parts_ = 1;
  std::uint32_t part_ = 0;
  std::uint32_t levels_ = 1;
};

}  // namespace warpheap::detail
