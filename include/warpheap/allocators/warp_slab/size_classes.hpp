// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/floor.hpp>

namespace warpheap {

/// The sizes of blocks that slabs hold, and the shape of a slab of each size.
///
/// Sizes are 16, 32, 48 and 64 bytes and then four to each doubling (80, 96, 112, 128, 160, …), so from 64 bytes on less
/// than a fifth of a block is rounding. A slab is one to 32 neighbouring units, as few as hold 32 blocks.
struct slab_classes {
  static constexpr int unit_shift = 14;
  static constexpr std::uint64_t unit_bytes = std::uint64_t{1} << unit_shift;
  static constexpr std::uint32_t count = 44;
  static constexpr std::uint32_t most_units = 32;
  static constexpr std::uint32_t most_words = 32;  ///< bitmap words, of 32 blocks each, of a slab

  /// The class of the smallest blocks of at least `bytes`, from 1 to `largest_bytes`.
  WARPHEAP_FN static constexpr std::uint32_t of(std::uint64_t bytes) {
    const auto above = static_cast<std::uint32_t>((bytes - 1) / 16);  // granules less one
    if (above < 4) return above;
    const int power = highest(above);
    const int shift = power - 2;
    return 4 * static_cast<std::uint32_t>(shift) + (above >> shift);
  }
  /// Bytes of a block.
  WARPHEAP_FN static constexpr std::uint32_t bytes(std::uint32_t of) { return 16 * granules(of); }
  /// Units of a slab.
  WARPHEAP_FN static constexpr std::uint32_t units(std::uint32_t of) {
    // 32 blocks take granules / 32 units, rounded up to a power of two.
    const std::uint32_t least = (granules(of) + 31) / 32;
    if (least == 1) return 1;
    const std::uint32_t power = 2u << highest(least - 1);
    return power < most_units ? power : most_units;
  }
  /// Blocks of a slab.
  WARPHEAP_FN static constexpr std::uint32_t blocks(std::uint32_t of) {
    return (units(of) << (unit_shift - 4)) / granules(of);
  }
  /// Bitmap words of a slab.
  WARPHEAP_FN static constexpr std::uint32_t words(std::uint32_t of) { return (blocks(of) + 31) / 32; }
  /// The block of a slab that byte `offset` of it lies in.
  WARPHEAP_FN static constexpr std::uint32_t block_at(std::uint32_t of, std::uint32_t offset) {
    const std::uint32_t at = offset / 16;
    if (of < 4) return divide(at, of + 1);
    return divide(at >> (of / 4 - 1), 5 + of % 4);
  }

  static constexpr std::uint64_t largest_bytes = 64 << 10;

 private:
  // 1, 2, 3, 4, and then 5, 6, 7 or 8 times a power of two.
  WARPHEAP_FN static constexpr std::uint32_t granules(std::uint32_t of) {
    return of < 4 ? of + 1 : (5 + of % 4) << (of / 4 - 1);
  }
  // A product of which the upper half is the quotient: exact, since dividend and divisor together have less than 32
  // bits.
  WARPHEAP_FN static constexpr std::uint32_t divide(std::uint32_t dividend, std::uint32_t divisor) {
    const std::uint64_t reciprocal = ((std::uint64_t{1} << 32) + divisor - 1) / divisor;
    return static_cast<std::uint32_t>(dividend * reciprocal >> 32);
  }
  WARPHEAP_FN static constexpr int highest(std::uint32_t word) {
    int at = 0;
    while (word >>= 1) ++at;
    return at;
  }
};

static_assert(slab_classes::bytes(slab_classes::count - 1) == slab_classes::largest_bytes);
static_assert(slab_classes::of(slab_classes::largest_bytes) == slab_classes::count - 1);

}  // namespace warpheap
