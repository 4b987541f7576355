// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>

namespace warpheap::detail {

/// A chunk size of `scatter` and `flatter_scatter`, in units of 16 bytes.
///
/// Of all sizes with as many chunks a page, a page is cut into the largest: what the others save at the end of the page
/// no chunk could use.
struct scatter_chunk_size {
  static constexpr std::uint32_t unit_bytes = 16;
  std::uint32_t units;

  /// The size for requests of `bytes`, 1 to half a page, on pages of `page_units` units. If `alignment` is more than a
  /// unit, the size is the next power of two, so that each chunk of the page is aligned to it.
  WARPHEAP_FN static scatter_chunk_size fit(std::uint64_t bytes, std::uint64_t alignment, std::uint32_t page_units) {
    if (alignment > unit_bytes) {
      return {static_cast<std::uint32_t>(next_power_of_two(bytes > alignment ? bytes : alignment)) / unit_bytes};
    }
    const auto least = static_cast<std::uint32_t>((bytes + unit_bytes - 1) / unit_bytes);
    return {page_units / (page_units / least)};
  }
  WARPHEAP_FN std::uint32_t bytes() const { return units * unit_bytes; }
  /// Chunks of a page of `page_units` units.
  WARPHEAP_FN std::uint32_t capacity(std::uint32_t page_units) const { return page_units / units; }
  /// True if a page of this size serves requests of size `wanted` whose chunks are aligned to `alignment`, a power of
  /// two: it has room for them, and wastes less than `waste_factor` times their size.
  WARPHEAP_FN bool serves(scatter_chunk_size wanted, std::uint64_t alignment, std::uint32_t waste_factor) const {
    return units >= wanted.units && units <= waste_factor * wanted.units &&
           (alignment <= unit_bytes || bytes() % alignment == 0);
  }
};

}  // namespace warpheap::detail
