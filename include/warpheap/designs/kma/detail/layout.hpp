// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/kma/options.hpp>
#include <warpheap/designs/kma/size_classes.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>
#include <warpheap/sync.hpp>

namespace warpheap::detail {

/// What the allocator keeps in memory, and the sizes of it.
///
///   metadata   control | listed: a bit for each page and class | slots of the ring | spans, each for 4,096 pages
///   superblock blocks of one class | bitmap
template <kma_options Options>
struct kma_layout {
  static constexpr kma_options options = Options;
  using classes = kma_classes;

  static_assert(is_power_of_two(Options.currents), "kma: the number of current superblocks is a power of two");
  static_assert(is_power_of_two(Options.ring_capacity) && Options.ring_capacity >= index_ring::least_capacity &&
                    Options.ring_capacity <= 1u << 30,
                "kma: the capacity of the ring is a power of two from 2 to 2^30");

  static constexpr std::uint32_t page_shift = 12;
  static constexpr std::uint64_t page_bytes = std::uint64_t{1} << page_shift;
  static_assert(page_bytes == classes::superblock_bytes, "kma: a superblock is a page");
  static constexpr std::uint32_t span_pages = page_source::span_pages;
  static constexpr std::uint64_t base_alignment = std::uint64_t{1} << 21;

  /// Page numbers are below this: a `bit_tree` has a bit for each.
  static constexpr std::uint32_t most_pages = bit_tree::most_leaves * bit_tree::leaf_bits;
  static_assert(most_pages <= page_source::most_pages);

  // Requests that can be refused: of each class, then of blocks of pages of each order.
  static constexpr std::uint32_t notes = classes::count + page_source::largest_order + 1;

  // 1 + the page of a superblock, or 0.
  struct alignas(128) current {
    std::uint32_t page;
  };
  struct alignas(128) control {
    page_source::state pages;
    std::uint32_t end;  // number after the last page
    search_counts<8, notes> searches;
    index_ring::state free;
    current currents[classes::count][Options.currents];
    bit_tree::levels listed[classes::count];
  };
  // What there is of each page.
  struct alignas(128) span {
    page_source::span pages;
    slab_entry states[span_pages];
  };
  // A word for each class: which of 64 pages are listed.
  using leaf = std::uint64_t[classes::count];
  static_assert(sizeof(control) % alignof(span) == 0);

  WARPHEAP_FN static std::uint64_t leaf_bytes(std::uint64_t bytes) {
    // Page 0 may be up to `base_alignment` below the arena.
    constexpr std::uint64_t before = base_alignment / page_bytes;
    return align_up((divide_up(limited(bytes) + before, bit_tree::leaf_bits) + 1) * sizeof(leaf), alignof(span));
  }
  WARPHEAP_FN static std::uint32_t ring_capacity(std::uint64_t bytes) {
    const std::uint64_t pages = next_power_of_two(limited(bytes) + index_ring::least_capacity);
    return pages < Options.ring_capacity ? static_cast<std::uint32_t>(pages) : Options.ring_capacity;
  }
  WARPHEAP_FN static std::uint64_t ring_bytes(std::uint64_t bytes) {
    return align_up(index_ring::slot_bytes(ring_capacity(bytes)), alignof(span));
  }
  WARPHEAP_FN static std::uint64_t metadata_bytes(std::uint64_t bytes) {
    // The pages can begin within a span.
    return sizeof(control) + leaf_bytes(bytes) + ring_bytes(bytes) +
           (divide_up(limited(bytes), span_pages) + 1) * sizeof(span);
  }

 private:
  // Pages of an arena of `bytes` bytes.
  WARPHEAP_FN static std::uint64_t limited(std::uint64_t bytes) {
    const std::uint64_t pages = bytes >> page_shift;
    return pages < most_pages ? pages : most_pages;
  }
};

}  // namespace warpheap::detail
