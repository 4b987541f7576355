// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>

namespace warpheap {

/// The size classes of `kma`: 16, 32 and 64 bytes, then powers of two less 16 bytes, so that equal blocks and their
/// bitmap fill a superblock.
///
/// Invariant: the blocks of a superblock begin at its first byte, and its last bytes are its bitmap. These do not
/// overlap.
struct kma_classes {
  static constexpr std::uint32_t superblock_bytes = 4096;  ///< bytes of a superblock
  static constexpr std::uint32_t count = 9;                ///< number of classes
  static constexpr std::uint32_t largest_bytes = 4080;     ///< bytes of the largest block
  static constexpr std::uint32_t largest_aligned = 64;     ///< bytes; blocks up to here are aligned to their size

  /// Bytes of a block of class `c`: 16, 32, 64, 112, 240, 496, 1008, 2032, 4080.
  WARPHEAP_FN static constexpr std::uint32_t bytes(std::uint32_t c) { return (16u << c) - (c < 3 ? 0u : 16u); }

  /// The smallest class whose blocks have `bytes` bytes or more; `bytes` is 1 to `largest_bytes`.
  WARPHEAP_FN static std::uint32_t of(std::uint64_t bytes) {
    if (bytes <= 16) return 0;
    const auto power = static_cast<std::uint32_t>(highest_bit(static_cast<std::uint32_t>(bytes - 1))) - 3;
    return bytes > kma_classes::bytes(power) ? power + 1 : power;
  }

  /// Blocks of a superblock of class `c`: 254, 127, 63, 36, 17, 8, 4, 2, 1.
  WARPHEAP_FN static constexpr std::uint32_t capacity(std::uint32_t c) {
    const std::uint32_t slots = superblock_bytes / bytes(c);
    const std::uint32_t bitmap = slot_bits<>::words_for(slots) * static_cast<std::uint32_t>(sizeof(std::uint32_t));
    return (superblock_bytes - bitmap) / bytes(c);
  }

  /// The block of class `c` that begins `offset` bytes after the begin of its superblock.
  WARPHEAP_FN static constexpr std::uint32_t slot_at(std::uint32_t offset, std::uint32_t c) {
    return c < 3 ? offset >> (4 + c) : offset / bytes(c);
  }
};

}  // namespace warpheap
