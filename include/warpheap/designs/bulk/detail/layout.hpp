// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/platform.hpp>
#include <warpheap/structures.hpp>
#include <warpheap/sync.hpp>

namespace warpheap::detail {

// The state of a bin or of a chunk that has bins, in one word:
//
//   | units, 32 bits, signed | listed, 1 | pins, 31 |
//
// units   free ones that nobody has counted off. Below 0 only while somebody counted off more than there were and is
//         about to give them back. On top, where a borrow leaves the word.
// listed  it is on the list of its shelf, or in the hands of who is about to put it there or took it off.
// pins    threads that gave units and have business with the header yet; while there are any, it stays what it is.
struct bin_state {
  static constexpr std::uint64_t one_pin = 1;
  static constexpr std::uint64_t listed_bit = std::uint64_t{1} << 31;
  static constexpr int units_shift = 32;

  WARPHEAP_FN static constexpr std::uint64_t units_of(std::uint32_t count) {
    return std::uint64_t{count} << units_shift;
  }
  WARPHEAP_FN constexpr std::int32_t units() const { return static_cast<std::int32_t>(bits >> units_shift); }
  WARPHEAP_FN constexpr bool listed() const { return (bits & listed_bit) != 0; }

  std::uint64_t bits;
};

// Parts of the allocator in memory.
//
//   chunk, of 32 pages here, in the form that pages share, and in the form of one large bin
//
//   | head  tail 1 ... tail 31 | head  blocks ... | head  blocks ... | ...     bins of 8 to 128 bytes
//   | head  blocks ...                                               |         a bin of 256 to 2,048 bytes
//
// Heads and tails have 128 bytes. A bin of a page has 3,968 bytes for blocks behind its head and goes on in its tail, so it
// holds a page full of them: 512 blocks of 8 bytes to 32 of 128, whole words of its bitmap, so that a warp takes half a
// word. The head of the chunk is the tail that page 0 does not need.
template <class Buddy, std::uint32_t ChunkPages>
struct bulk_layout {
  static constexpr std::uint64_t page_bytes = 4096;
  static constexpr std::uint32_t chunk_pages = ChunkPages;
  static constexpr std::uint32_t chunk_order = static_cast<std::uint32_t>(ChunkPages == 4    ? 2
                                                                          : ChunkPages == 8  ? 3
                                                                          : ChunkPages == 16 ? 4
                                                                                             : 5);
  static constexpr std::uint64_t chunk_bytes = page_bytes * chunk_pages;
  static constexpr std::uint32_t head_bytes = 128;
  static constexpr std::uint32_t body_bytes = page_bytes - head_bytes;  // of a page, behind its head
  static_assert(1u << chunk_order == ChunkPages && ChunkPages * head_bytes <= page_bytes,
                "bulk: a chunk has 4, 8, 16 or 32 pages, so that the first has room for the tails of all others");

  // Classes: sizes, and behind them the pages of a chunk that become bins.
  static constexpr std::uint32_t sizes = 9;        // 8 to 2,048 bytes
  static constexpr std::uint32_t paged_sizes = 5;  // 8 to 128 bytes
  static constexpr std::uint32_t pages_class = sizes;
  static constexpr std::uint32_t classes = sizes + 1;
  static constexpr std::uint64_t largest_bytes = 2048;

  WARPHEAP_FN static constexpr std::uint32_t bytes(std::uint32_t c) { return 8u << c; }
  WARPHEAP_FN static std::uint32_t class_of(std::uint64_t bytes) {
    return bytes <= 8 ? 0 : static_cast<std::uint32_t>(highest_bit(bytes - 1)) - 2;
  }
  // Units of a bin of the class; of a chunk, its pages but the first.
  WARPHEAP_FN static constexpr std::uint32_t units(std::uint32_t c) {
    if (c == pages_class) return chunk_pages - 1;
    const std::uint64_t all = c < paged_sizes ? page_bytes : chunk_bytes - head_bytes;
    return static_cast<std::uint32_t>(all >> (c + 3));
  }
  static constexpr std::uint32_t most_words = 8;
  static_assert(units(0) <= 64 * most_words && units(paged_sizes) <= 64 * most_words);
  WARPHEAP_FN static constexpr std::uint32_t words(std::uint32_t c) {
    return c == pages_class ? 1 : (units(c) + 63) / 64;
  }
  // The bits of word `index` that stand for units.
  WARPHEAP_FN static constexpr std::uint64_t all_bits(std::uint32_t c, std::uint32_t index) {
    if (c == pages_class) return index == 0 ? (std::uint64_t{1} << chunk_pages) - 2 : 0;
    const std::uint32_t count = units(c);
    if (index * 64 >= count) return 0;
    return count - index * 64 >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << (count - index * 64)) - 1;
  }

  // The head of a bin or a chunk. A word of the bitmap has a set bit for each unit that is free.
  struct alignas(128) header {
    std::uint64_t bits[most_words];
    std::uint64_t state;     // bin_state
    srcu_node retired;       // while it waits to be reclaimed
    std::uint32_t next;      // on a list: page of the next header plus 1, or 0
    std::uint16_t arena;     // whose shelf it is on
    std::uint16_t of_class;  // pages_class: the chunk has bins
    // Of a chunk that has bins: the class of each.
    std::uint8_t classes[32];
  };
  static_assert(sizeof(header) == head_bytes);

  // Lists of a shelf: a warp begins at one of its own, since warps of a multiprocessor come together.
  static constexpr std::uint32_t lists = 8;
  WARPHEAP_FN static constexpr std::uint32_t list_of(std::uint32_t page) { return (page + page / chunk_pages) % lists; }

  // The free units of a class in an arena. Those who count them, those who look for them, and those who seldom come.
  struct shelf {
    bulk_semaphore count;
    // Of each list: page plus 1, and above changes, so that no change goes unnoticed.
    alignas(128) std::uint64_t top[lists];
    alignas(128) std::uint32_t whole;  // bins of which all units are free; a hint, below 0 for a moment
    std::uint32_t bins;                // that there are
  };
  struct arena_state {
    srcu readers;         // those who look at headers by way of a list
    std::uint32_t whole;  // of all shelves
    shelf shelves[classes];
  };

  // What happened, counted by those who did it, each near its multiprocessor.
  struct alignas(128) tally {
    std::uint64_t given;  // calls of `free` that made blocks free
    std::uint64_t begun;  // changes: what others may need was, or will be, in a thread's hands
    std::uint64_t ended;
    std::uint64_t moved;  // changes that made or returned something, counted as they end
  };
  static constexpr std::uint32_t tallies = 4;
  static constexpr std::uint32_t most_arenas = 128;
  // Classes, and then the orders of blocks of pages.
  static constexpr std::uint32_t notes = classes + Buddy::largest_order + 1;

  struct alignas(128) control {
    typename Buddy::state pages;
    std::uint32_t end;                          // behind the last page; 0 at first
    alignas(128) std::uint64_t refused[notes];  // 1 + what was given when there was nothing of it
    tally tallies_[tallies];
    arena_state arenas[most_arenas];
  };

  // Page numbers begin at a multiple of the largest block, so that all blocks are aligned to their size.
  static constexpr std::uint64_t base_alignment = page_bytes << Buddy::largest_order;
  static constexpr std::uint64_t most_pages = Buddy::most_pages - (std::uint64_t{1} << Buddy::largest_order);

  WARPHEAP_FN static constexpr std::uint64_t metadata_bytes(std::uint64_t bytes) {
    // The pages can begin within a span.
    const std::uint64_t pages = bytes / page_bytes < most_pages ? bytes / page_bytes : most_pages;
    return sizeof(control) + (divide_up(pages, Buddy::span_pages) + 1) * sizeof(typename Buddy::span);
  }
  static_assert(sizeof(control) % alignof(typename Buddy::span) == 0, "spans follow the control");

  // Arenas of a heap: one for each 512 KiB that it begins with, a power of two.
  static std::uint32_t arenas(std::uint64_t bytes) {
    const std::uint64_t wanted = bytes >> 19;
    if (wanted == 0) return 1;
    return wanted >= most_arenas ? most_arenas : 1u << highest_bit(wanted);
  }
};

}  // namespace warpheap::detail
