// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/platform/device.hpp>

namespace warpheap {

/// The upper 64 bits of the product of two words. With a random word and a bound it is a number below the bound; its
/// bias is at most bound / 2^64.
WARPHEAP_FN constexpr std::uint64_t high_product(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t a_low = a & 0xffffffffu, a_high = a >> 32;
  const std::uint64_t b_low = b & 0xffffffffu, b_high = b >> 32;
  const std::uint64_t middle = a_high * b_low + (a_low * b_low >> 32);  // below 2^64: the addend is below 2^32
  const std::uint64_t other = a_low * b_high + (middle & 0xffffffffu);
  return a_high * b_high + (middle >> 32) + (other >> 32);
}

/// Random numbers by their place: draw `draw` of item `item` is one number, whichever thread asks for it and when.
/// So each edge of a generated graph can be made alone, on the host as on a GPU. Whole numbers only: sums of products
/// of floating numbers are rounded in other ways on a GPU.
class counter_random {
 public:
  /// Numbers of this seed; other seeds have others.
  WARPHEAP_FN constexpr explicit counter_random(std::uint64_t seed) : key_(mix(seed)) {}

  /// 64 random bits.
  WARPHEAP_FN constexpr std::uint64_t word(std::uint64_t item, std::uint64_t draw = 0) const {
    return mix(mix(key_ ^ item) + draw);
  }
  /// A number from 0 to `bound - 1`; `bound` is not 0.
  WARPHEAP_FN constexpr std::uint64_t below(std::uint64_t bound, std::uint64_t item, std::uint64_t draw = 0) const {
    return high_product(word(item, draw), bound);
  }

 private:
  std::uint64_t key_;
};

/// A seeded bijection of the numbers from 0 to `count - 1` onto themselves.
///
/// Each round is a bijection of the words of `bits_` bits: an affine map by an odd factor carries low bits up, and the
/// shifted word carries high bits down. A result that is not below `count` goes through the rounds again. Since that
/// walks along a cycle of a bijection, it comes back below `count`; fewer than two passes are made in the mean.
class number_shuffle {
 public:
  /// The bijection of this seed; `count` is at most 2^32.
  WARPHEAP_FN number_shuffle(std::uint64_t count, std::uint64_t seed)
      : seed_(mix(seed)), count_(count), bits_(count < 2 ? 0 : highest_bit(count - 1) + 1) {}

  /// The number that `number`, which is below the count, is mapped to.
  WARPHEAP_FN std::uint64_t operator()(std::uint64_t number) const {
    const std::uint64_t mask = (std::uint64_t{1} << bits_) - 1;
    const int shift = (bits_ + 1) / 2;
    do {
      for (std::uint64_t round = 0; round < 4; ++round) {
        const std::uint64_t key = mix(seed_ + round);
        number = (number * (key | 1) + (key >> 32)) & mask;
        number ^= number >> shift;
      }
    } while (number >= count_);
    return number;
  }

 private:
  std::uint64_t seed_;
  std::uint64_t count_;
  int bits_;
};

}  // namespace warpheap
