// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/xmalloc/options.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>
#include <warpheap/sync.hpp>

namespace warpheap::detail {

/// What the allocator keeps in memory, and the sizes of it.
///
///   metadata   control | second-level queues, class after class | spans, each for 4,096 pages
///
/// Class c has basic blocks of `least_block * 2^c` bytes. A basic block has a number, its distance from page 0 in units
/// of `least_block` bytes. With superblocks a page has 4 KiB and a superblock is a block of pages; without, a page is a
/// block of class 0 and a basic block is a block of pages.
template <xmalloc_options Options, bool Superblocks>
struct xmalloc_layout {
  static constexpr xmalloc_options options = Options;
  static constexpr bool has_superblocks = Superblocks;

  WARPHEAP_FN static constexpr std::uint32_t log2_of(std::uint64_t power) {
    std::uint32_t bits = 0;
    while (power >> bits > 1) ++bits;  // not a spin: a count
    return bits;
  }
  static_assert(is_power_of_two(Options.least_block) && is_power_of_two(Options.largest_block) &&
                    Options.least_block >= 512 && Options.least_block <= Options.largest_block,
                "xmalloc: basic blocks have powers of two of bytes, 512 or more");
  static_assert(is_power_of_two(Options.superblock_blocks) && Options.superblock_blocks >= 2 &&
                    Options.superblock_blocks <= 32,
                "xmalloc: a superblock has 2, 4, 8, 16 or 32 basic blocks");
  static_assert(is_power_of_two(Options.lists) && is_power_of_two(Options.list_capacity) && Options.list_capacity >= 2,
                "xmalloc: the number of queues of a class and their capacity are powers of two");
  static_assert(combined_piece::bytes_for(Options.combine_below) <= Options.largest_block,
                "xmalloc: what is combined fits in a basic block");

  static constexpr std::uint32_t least_shift = log2_of(Options.least_block);
  static constexpr std::uint32_t classes = log2_of(Options.largest_block) - least_shift + 1;
  static constexpr std::uint32_t blocks_shift = log2_of(Options.superblock_blocks);
  static constexpr std::uint32_t lists = Options.lists;
  static constexpr std::uint32_t all_blocks = low_bits(static_cast<int>(Options.superblock_blocks));

  static constexpr std::uint32_t page_shift = Superblocks && least_shift < 12 ? 12 : least_shift;
  static constexpr std::uint64_t page_bytes = std::uint64_t{1} << page_shift;
  static constexpr std::uint32_t span_pages = page_source::span_pages;
  static constexpr std::uint64_t base_alignment = std::uint64_t{1} << 21;
  static_assert(Options.largest_block <= base_alignment, "xmalloc: a basic block is aligned to its size");

  /// Bytes of a basic block of class `c`.
  WARPHEAP_FN static constexpr std::uint32_t bytes(std::uint32_t c) { return Options.least_block << c; }
  /// The smallest class whose blocks have `bytes` bytes or more; `bytes` is 1 to `largest_block`.
  WARPHEAP_FN static std::uint32_t class_of(std::uint64_t bytes) {
    if (bytes <= Options.least_block) return 0;
    return static_cast<std::uint32_t>(highest_bit(static_cast<std::uint32_t>(bytes - 1))) + 1 - least_shift;
  }
  /// Order of the pages of one basic block of class `c`.
  WARPHEAP_FN static constexpr std::uint32_t block_order(std::uint32_t c) {
    return least_shift + c > page_shift ? least_shift + c - page_shift : 0;
  }
  /// Order of the pages of what the source gives for blocks of class `c`: a superblock, or a basic block.
  WARPHEAP_FN static constexpr std::uint32_t source_order(std::uint32_t c) {
    if constexpr (!Superblocks) return block_order(c);
    const std::uint32_t shift = least_shift + c + blocks_shift;
    return shift > page_shift ? shift - page_shift : 0;
  }
  static_assert(!Superblocks || (std::uint64_t{Options.least_block} << blocks_shift) >= page_bytes,
                "xmalloc: a superblock has a page or more");

  // Requests that can be refused: of each class, then of blocks of pages of each order.
  static constexpr std::uint32_t notes = classes + page_source::largest_order + 1;

  struct alignas(128) control {
    page_source::state pages;
    std::uint32_t end;  // number after the last page
    search_counts<4, notes> searches;
    index_ring::state lists[classes][Options.lists];
    index_ring::state superblocks[classes];
    index_ring::slot list_slots[classes][Options.lists][Options.list_capacity];
  };

  // What there is of each page. Words of a superblock are those of its first page.
  struct alignas(128) superblock_span {
    page_source::span pages;
    slab_entry entries[span_pages];     // class and free permits
    std::uint32_t taken[span_pages];    // a bit for each basic block: it is not free in its superblock
    std::uint32_t listed[span_pages];   // a bit for each class: its second-level queue has the page
    std::uint8_t class_of[span_pages];  // of each page of a superblock: class + 1; 0: no superblock
  };
  struct alignas(128) plain_span {
    page_source::span pages;
  };
  using span = std::conditional_t<Superblocks, superblock_span, plain_span>;
  static_assert(sizeof(control) % alignof(span) == 0);

  /// Capacity of the second-level queue of class 0 in a heap of `bytes` bytes, as a power of two: each place where a
  /// superblock can begin has room. That of class c is 2^c times smaller.
  WARPHEAP_FN static std::uint32_t queue_shift(std::uint64_t bytes) {
    const std::uint64_t places = (limited(bytes) >> source_order(0)) + 2;
    const auto shift = static_cast<std::uint32_t>(highest_bit(places)) + 1;
    return shift > classes ? shift : classes;
  }
  /// Bytes of all second-level queues.
  WARPHEAP_FN static std::uint64_t queue_bytes(std::uint64_t bytes) {
    return Superblocks ? sizeof(index_ring::slot) << (queue_shift(bytes) + 1) : 0;
  }
  WARPHEAP_FN static std::uint64_t metadata_bytes(std::uint64_t bytes) {
    // The pages can begin within a span.
    return sizeof(control) + align_up(queue_bytes(bytes), alignof(span)) +
           (divide_up(limited(bytes), span_pages) + 1) * sizeof(span);
  }

 private:
  // Pages of an arena of `bytes` bytes.
  WARPHEAP_FN static std::uint64_t limited(std::uint64_t bytes) {
    const std::uint64_t pages = bytes >> page_shift;
    return pages < page_source::most_pages ? pages : page_source::most_pages;
  }
};

}  // namespace warpheap::detail
