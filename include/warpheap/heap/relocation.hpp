// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>

namespace warpheap {

/// How a heap moves to another place.
struct relocation_options {
  /// The least that `alignment` can be.
  static constexpr std::uint64_t least_alignment = std::uint64_t{64} << 10;

  /// Bytes of addresses to reserve, as `heap_options::reserve_bytes`; a heap of plain memory reserves none.
  std::uint64_t reserve_bytes = 0;
  /// Bytes, a power of two. Blocks move by a multiple of it, so they keep alignments up to it; less than
  /// `least_alignment` counts as that. Plain memory takes as many bytes more.
  std::uint64_t alignment = least_alignment;
};

/// By how much the blocks of a heap moved. Kernels take it by value.
struct relocation {
  std::ptrdiff_t distance;  ///< bytes from where a block was to where it is

  /// Where `block` is now, or what `block` points to inside of a block; null stays null.
  template <class T>
  WARPHEAP_FN T* moved(T* block) const {
    if (block == nullptr) return nullptr;
    return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(block) + static_cast<std::uintptr_t>(distance));
  }
};

}  // namespace warpheap
