// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>

namespace warpheap {

/// One `T` for each multiprocessor, in device memory, each on cache lines of its own. Threads of one multiprocessor use
/// one cell, so cells spread contention.
///
/// A view: copies are the same cells. The owner provides the memory, of `bytes(count)` bytes aligned to `line_bytes`,
/// in which zero bytes are cells of zero bytes.
///
/// The multiprocessor is a hint: it can change between two instructions, and numbers can have gaps. So a cell is
/// accessed as if by any thread, through atomics, and no right follows from `home`.
template <class T>
class per_multiprocessor {
 public:
  static constexpr std::uint32_t line_bytes = 128;  ///< alignment of a cell

  /// The memory of a cell.
  struct alignas(line_bytes) cell {
    T value;  ///< what the cell is for
  };
  static_assert(std::is_trivially_copyable_v<T>, "per_multiprocessor: cells start as zero bytes");

  /// Bytes of `count` cells.
  WARPHEAP_FN static constexpr std::uint64_t bytes(std::uint32_t count) { return std::uint64_t{count} * sizeof(cell); }

  /// The `count` cells from `cells` on, at least 1. The number of multiprocessors of the device is a good `count`.
  WARPHEAP_FN per_multiprocessor(cell* cells, std::uint32_t count) : cells_(cells), count_(count) {}

  /// The index of the cell of the caller's multiprocessor. A caller that visits several cells keeps it.
  WARPHEAP_FN std::uint32_t home() const {
    const std::uint32_t index = multiprocessor_index();
    return index < count_ ? index : index % count_;  // fewer cells than multiprocessors, or gaps: rare
  }
  /// The cell of the caller's multiprocessor.
  WARPHEAP_FN T& mine() const { return cells_[home()].value; }
  /// The cell `distance` cells after cell `home`, cyclic; `distance` below `count()`. Distances from 1 on visit each
  /// other cell once.
  WARPHEAP_FN T& other(std::uint32_t home, std::uint32_t distance) const {
    const std::uint32_t index = home + distance;
    return cells_[index < count_ ? index : index - count_].value;
  }
  /// Cell `index`, below `count()`.
  WARPHEAP_FN T& operator[](std::uint32_t index) const { return cells_[index].value; }
  WARPHEAP_FN std::uint32_t count() const { return count_; }  ///< number of cells

 private:
  cell* cells_;
  std::uint32_t count_;
};

}  // namespace warpheap
