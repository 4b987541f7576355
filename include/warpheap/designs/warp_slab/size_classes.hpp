// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>

namespace warpheap {

/// The sizes of blocks that slabs hold, and the shape of a slab of each size.
///
/// Sizes are 16, 32, 48 and 64 bytes and then four to each doubling (80, 96, 112, 128, 160, …), so from 64 bytes on
/// less than a fifth of a block is rounding. A slab is one to 32 neighbouring units, as few as a power of two of blocks
/// fill to the last byte, at least 32 of them if so many fit. So every bitmap word is whole, whatever the size. In a
/// small heap, where seven units for the smallest blocks are too much, slabs of blocks up to 2 KiB are powers of two of
/// units, as few as hold 32, and the last word of an odd size is not whole.
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
  /// Units of a slab. `small`: in a heap that began below 2 MiB, of which slabs of whole words would be a large part.
  WARPHEAP_FN static constexpr std::uint32_t units(std::uint32_t of, bool small = false) {
    if (small && shift(of) <= last_small_shift) return shift(of) < 2 ? 1 : 1u << (shift(of) - 2);
    return factor(of) << (shift(of) + block_bits(of) + 4) >> unit_shift;
  }
  /// Blocks of a slab: a power of two, or as many as fit in a small one.
  WARPHEAP_FN static constexpr std::uint32_t blocks(std::uint32_t of, bool small = false) {
    if (small && shift(of) <= last_small_shift) return divisor_of(of).quotient(units(of, true) << unit_shift);
    return 1u << block_bits(of);
  }
  /// Bitmap words of a slab.
  WARPHEAP_FN static constexpr std::uint32_t words(std::uint32_t of, bool small = false) {
    return small ? (blocks(of, true) + 31) / 32 : 1u << word_bits(of);
  }
  /// How to divide an offset within a slab by the size of its blocks: a shift of 4 bits and a factor of 16 bits.
  struct divisor {
    std::uint32_t power;
    std::uint32_t reciprocal;
    /// The block that byte `offset` of the slab lies in.
    WARPHEAP_FN constexpr std::uint32_t quotient(std::uint32_t offset) const {
      return (offset >> power) * reciprocal >> reciprocal_shift;
    }
  };
  WARPHEAP_FN static constexpr divisor divisor_of(std::uint32_t of) { return {divided(of).power, reciprocal(of)}; }

 private:
  static constexpr std::uint32_t last_small_shift = 4;  // above it, slabs of whole words are as small
  WARPHEAP_FN static constexpr std::uint32_t factor(std::uint32_t of) { return of < 4 ? of + 1 : 5 + of % 4; }
  WARPHEAP_FN static constexpr std::uint32_t shift(std::uint32_t of) { return of < 4 ? 0 : of / 4 - 1; }
  // The logarithm of the words of a slab. One of the smallest blocks with a factor of 5 or 7 has 32 words and as many
  // units as the factor says, one with 6 has 16 and 3 units, and one with 8 has 4 and one unit. Larger blocks fill as
  // many units in smaller numbers, down to one word.
  WARPHEAP_FN static constexpr std::uint32_t word_bits(std::uint32_t of) {
    constexpr std::uint32_t below = 0x3545;   // of factors 4, 3, 2, 1
    constexpr std::uint32_t others = 0x2545;  // of factors 8, 7, 6, 5
    const std::uint32_t first = (of < 4 ? below : others) >> of % 4 * 4 & 0xf;
    return first < shift(of) ? 0 : first - shift(of);
  }
  // That of the blocks. From there on it is the units that double, up to `most_units`.
  WARPHEAP_FN static constexpr std::uint32_t block_bits(std::uint32_t of) {
    constexpr std::uint32_t whole_word = 5;
    constexpr std::uint32_t last_shift = 7;  // with a whole word
    return shift(of) > last_shift ? whole_word + last_shift - shift(of) : whole_word + word_bits(of);
  }
  // A block as a power of two times 5, 6, 7 or 8.
  struct product {
    std::uint32_t power;
    std::uint32_t factor;
  };
  WARPHEAP_FN static constexpr product divided(std::uint32_t of) {
    if (of >= 4) return {shift(of) + 4, factor(of)};
    if (of == 2) return {3, 6};
    return {of == 3 ? 3 : of + 1, 8};
  }
  // 2^17 by such a factor, rounded up: a product with it divides numbers up to 32,767. One word holds all four.
  static constexpr int reciprocal_shift = 17;
  WARPHEAP_FN static constexpr std::uint32_t reciprocal(std::uint32_t of) {
    constexpr std::uint64_t by = 0x4000'4925'5556'6667;  // 8, 7, 6, 5
    return static_cast<std::uint32_t>(by >> (divided(of).factor - 5) * 16) & 0xffff;
  }
};

}  // namespace warpheap
