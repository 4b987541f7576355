// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/reg_eff/options.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::detail {

/// What a heap of `reg_eff` keeps in memory, and in which units it counts:
///
///   metadata   state of the ring | a header for each granule of the arena, and one for the end
template <reg_eff_options Options>
struct reg_eff_layout {
  static constexpr std::uint64_t granule = 32;  ///< bytes of a unit of the ring: the smallest chunk
  /// Cursors of the variants for many multiprocessors; some of more multiprocessors share one.
  static constexpr std::uint32_t cursors = Options.multiple ? 128 : 1;
  static constexpr std::uint64_t largest_bytes = ring_word::most_units * granule;
  static constexpr std::uint64_t largest_alignment = std::uint64_t{1} << 30;

  using header = std::conditional_t<Options.fused, fused_header, locked_header>;
  using ring = header_ring<header, cursors>;

  /// Granules of an arena of `bytes` bytes that the ring covers.
  WARPHEAP_FN static constexpr std::uint32_t units(std::uint64_t bytes) {
    return static_cast<std::uint32_t>(bytes < largest_bytes ? bytes / granule : ring_word::most_units);
  }
  WARPHEAP_FN static constexpr std::uint64_t metadata_bytes(std::uint64_t bytes) { return ring::bytes(units(bytes)); }
};

}  // namespace warpheap::detail
