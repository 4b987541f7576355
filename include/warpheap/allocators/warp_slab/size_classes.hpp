// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/floor.hpp>

namespace warpheap {

/// The sizes of blocks that slabs hold, and the shape of a slab of each size.
///
/// Sizes are 16, 32, 48 and 64 bytes and then four to each doubling (80, 96, 112, 128, 160, …), so from 64 bytes on
/// less than a fifth of a block is rounding. A slab is one to 32 neighbouring units, as few as hold 32 blocks.
///
/// From 80 bytes on a size is 16 bytes times 5, 6, 7 or 8 (its *factor*) times a power of two (whose logarithm is its
/// *shift*), so that nothing here divides by a number that is not known.
struct slab_classes {
  static constexpr int unit_shift = 14;
  static constexpr std::uint64_t unit_bytes = std::uint64_t{1} << unit_shift;
  static constexpr std::uint32_t count = 44;
  static constexpr std::uint64_t largest_bytes = 64 << 10;
  static constexpr std::uint32_t most_units = 32;
  static constexpr std::uint32_t most_words = 32;  ///< bitmap words, of 32 blocks each, of a slab

  /// A class, and bytes of its blocks.
  struct fit {
    std::uint32_t of_class;
    std::uint32_t bytes;
  };

  /// The class of the smallest blocks of at least `bytes`, from 1 to `largest_bytes`.
  WARPHEAP_FN static fit of(std::uint64_t bytes) {
    const std::uint32_t above = (static_cast<std::uint32_t>(bytes) - 1) / 16;  // 16 bytes each, less one
    const auto power = static_cast<std::uint32_t>(highest_bit(above | 4)) - 2;
    const std::uint32_t step = above >> power;
    return {4 * power + step, (step + 1) << (power + 4)};
  }
  /// Bytes of a block.
  WARPHEAP_FN static constexpr std::uint32_t bytes(std::uint32_t of) { return 16 * (factor(of) << shift(of)); }
  /// Units of a slab.
  WARPHEAP_FN static constexpr std::uint32_t units(std::uint32_t of) {
    const std::uint32_t power = shift(of) < 2 ? 0 : shift(of) - 2;
    return power < 5 ? 1u << power : most_units;
  }
  /// Blocks of a slab.
  WARPHEAP_FN static constexpr std::uint32_t blocks(std::uint32_t of) {
    return divisor_of(of).quotient(units(of) << unit_shift);
  }
  /// Bitmap words of a slab.
  WARPHEAP_FN static constexpr std::uint32_t words(std::uint32_t of) { return (blocks(of) + 31) / 32; }
  /// How to divide an offset within a slab by the size of its blocks: 4 bits and 16.
  struct divisor {
    std::uint32_t power;
    std::uint32_t reciprocal;
    /// The block that byte `offset` of the slab lies in.
    WARPHEAP_FN constexpr std::uint32_t quotient(std::uint32_t offset) const {
      return (offset >> power) * reciprocal >> reciprocal_shift;
    }
  };
  WARPHEAP_FN static constexpr divisor divisor_of(std::uint32_t of) { return {shift(of) + 4, reciprocal(of)}; }

 private:
  WARPHEAP_FN static constexpr std::uint32_t factor(std::uint32_t of) { return of < 4 ? of + 1 : 5 + of % 4; }
  WARPHEAP_FN static constexpr std::uint32_t shift(std::uint32_t of) { return of < 4 ? 0 : of / 4 - 1; }
  // 2^15 by the factor of a class, rounded up: a product with it divides numbers up to 1,024. There are four factors below
  // class 4 and four for all others, and a word holds the numbers of four.
  static constexpr int reciprocal_shift = 15;
  WARPHEAP_FN static constexpr std::uint32_t reciprocal(std::uint32_t of) {
    constexpr std::uint64_t below = 0x2000'2aab'4000'8000;   // by 4, 3, 2, 1
    constexpr std::uint64_t others = 0x1000'124a'1556'199a;  // by 8, 7, 6, 5
    return static_cast<std::uint32_t>((of < 4 ? below : others) >> of % 4 * 16) & 0xffff;
  }
};

}  // namespace warpheap
