// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>

namespace warpheap {

/// The block sizes of Halloc: 2u and 3u for u = 8, 16, ... 1024, so 16, 24, 32, 48, ... 2048, 3072 bytes.
///
/// A size is 1, 2, 4 or 8 chunks of 16, 24, 256 or 384 bytes. Classes are numbered by size. No request gets a block of
/// 24 bytes, the class 1, since blocks are aligned to 16 bytes.
struct halloc_classes {
  static constexpr std::uint32_t count = 16;            ///< size classes
  static constexpr std::uint64_t largest_bytes = 3072;  ///< the largest block of a slab
  static constexpr std::uint32_t chunk_sizes = 4;       ///< chunk sizes

  /// Bytes of a block of class `c`.
  WARPHEAP_FN static constexpr std::uint32_t bytes(std::uint32_t c) { return (c % 2 == 0 ? 16u : 24u) << c / 2; }
  /// The chunk size that class `c` is made of, from 0 to 3: 16, 24, 256 and 384 bytes.
  WARPHEAP_FN static constexpr std::uint32_t chunk_size(std::uint32_t c) { return c / 8 * 2 + c % 2; }
  /// Chunks of a block of class `c`: 1, 2, 4 or 8.
  WARPHEAP_FN static constexpr std::uint32_t chunks(std::uint32_t c) { return 1u << c % 8 / 2; }
  /// Bytes of a chunk of size `chunk_size`.
  WARPHEAP_FN static constexpr std::uint32_t chunk_bytes(std::uint32_t chunk_size) {
    return (chunk_size % 2 == 0 ? 16u : 24u) << chunk_size / 2 * 4;
  }

  /// The smallest class whose blocks have `bytes` bytes or more; `bytes` is at most `largest_bytes`.
  WARPHEAP_FN static std::uint32_t of(std::uint64_t bytes) {
    if (bytes <= 32) return bytes <= 16 ? 0 : 2;
    const auto last = static_cast<std::uint32_t>(bytes - 1);
    const auto power = static_cast<std::uint32_t>(highest_bit(last));  // 2^power < bytes <= 2^(power + 1)
    const bool fits_three = last < (3u << power) / 2;
    return 2 * (power - 4) + (fits_three ? 1 : 2);
  }

  /// `offset / bytes(c)`, without a division.
  WARPHEAP_FN static std::uint32_t divide(std::uint32_t offset, std::uint32_t c) {
    return c % 2 == 0 ? offset >> (4 + c / 2) : (offset >> (3 + c / 2)) / 3;
  }
};

static_assert(halloc_classes::bytes(15) == halloc_classes::largest_bytes);
static_assert(halloc_classes::bytes(10) == 2 * halloc_classes::chunk_bytes(2) && halloc_classes::chunks(10) == 2);
static_assert(halloc_classes::bytes(15) == halloc_classes::chunks(15) * halloc_classes::chunk_bytes(3));

}  // namespace warpheap
