// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/fdg/options.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::detail {

/// The superblock that an arena takes blocks of, in one word: its page and 1 in the upper half, 0 without a superblock;
/// in the lower half the granules that are taken, and a bit that is set while a lane seeks the next superblock.
struct fdg_current {
  static constexpr std::uint32_t sought_bit = std::uint32_t{1} << 31;
  std::uint64_t value;

  WARPHEAP_FN static fdg_current make(std::uint32_t page) { return {std::uint64_t{page + 1} << 32}; }
  WARPHEAP_FN bool exists() const { return split(value).high != 0; }
  WARPHEAP_FN std::uint32_t page() const { return split(value).high - 1; }
  WARPHEAP_FN std::uint32_t used() const { return split(value).low & ~sought_bit; }
  WARPHEAP_FN bool is_sought() const { return (split(value).low & sought_bit) != 0; }
  WARPHEAP_FN fdg_current sought() const { return {value | sought_bit}; }
  WARPHEAP_FN fdg_current with(std::uint32_t granules) const { return {value + granules}; }
};

/// What `fdg` keeps in memory:
///
///   metadata   control | a span for each so many pages: those of the page source, and a header for each page
///   data       pages: superblocks, and large blocks of a power of two of pages
template <fdg_options Options>
struct fdg_layout {
  static constexpr std::uint32_t granule = 16;
  static constexpr std::uint32_t page_bytes = Options.superblock_bytes;
  static constexpr std::uint32_t page_granules = page_bytes / granule;
  static constexpr std::uint32_t most_arenas = Options.common_arenas;
  static constexpr std::uint32_t span_pages = page_source::span_pages;
  static_assert(is_power_of_two(page_bytes) && page_bytes >= 4096 && page_bytes <= 65536 &&
                    is_power_of_two(most_arenas),
                "fdg: a superblock is a power of two from 4 KiB to 64 KiB, and so is the number of arenas");

  /// The header of an arena, and apart from it the link of a page. An arena of a warp has the header of its first page,
  /// so it needs no memory but its superblocks.
  struct header {
    std::uint64_t current;  // fdg_current
    std::uint32_t list;     // push_stack: the pages of the arena
    std::uint32_t link;     // of the page that the header is for, in the list that has the page
  };
  struct alignas(128) common_arena {
    header of;
  };
  struct alignas(128) control {
    page_source::state pages;
    std::uint32_t end;         // pages that the heap has; 0 at first
    std::uint32_t arena_mask;  // arenas in common, less 1
    common_arena common[most_arenas];
  };
  struct alignas(128) span {
    page_source::span pages;
    header of_page[span_pages];
  };
  static_assert(sizeof(control) % alignof(span) == 0 && sizeof(span) % alignof(page_source::span) == 0);

  WARPHEAP_FN static constexpr std::uint64_t pages_of(std::uint64_t bytes) {
    constexpr std::uint64_t most = page_source::most_pages;
    return bytes / page_bytes < most ? bytes / page_bytes : most;
  }
  WARPHEAP_FN static constexpr std::uint64_t metadata_bytes(std::uint64_t bytes) {
    return sizeof(control) + divide_up(pages_of(bytes), span_pages) * sizeof(span);
  }
  /// Arenas in common of a heap of `pages` pages: at most a 16th of the pages are held back by them.
  WARPHEAP_FN static std::uint32_t arenas(std::uint32_t pages) {
    const std::uint32_t wanted = pages / 16;
    if (wanted == 0) return 1;
    return wanted < most_arenas ? 1u << highest_bit(wanted) : most_arenas;
  }
};

}  // namespace warpheap::detail
