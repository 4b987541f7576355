// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>
#include <warpheap/sync.hpp>

namespace warpheap::detail {

/// The state of a bin, or of a chunk that has bins, in one word:
///
///   | units, 32 bits, signed | listed, 1 | pins, 31 |
///
/// units   free ones that no thread has counted off. Below 0 only while a thread has counted off
///         more than there were and is about to return them. In the upper half, so that a borrow
///         leaves the word.
/// listed  the bin is on its list, or a thread is about to list it or has detached it.
/// pins    threads that freed units and still use the header. A bin with a pin cannot be withdrawn.
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

/// What the allocator keeps in memory, and the sizes of it.
///
///   chunk, of 32 pages here, as pages share it, and as one large bin
///
///   | head  tail 1 ... tail 31 | head  blocks ... | head  blocks ... | ...  bins of 8 to 128 bytes
///   | head  blocks ...                                               |      one of 256 to 2,048 bytes
///
/// Heads and tails have 128 bytes. A bin of a page has 3,968 bytes for blocks between its head and
/// the page's end, and goes on in its tail. So it holds a page full of blocks, 512 of 8 bytes to 32
/// of 128: whole halves of words of its bitmap, which is what a warp takes at once. The head of the
/// chunk is the tail that page 0 does not need.
template <class Buddy, std::uint32_t ChunkPages>
struct bulk_layout {
  using buddy_type = Buddy;
  static constexpr std::uint64_t page_bytes = 4096;
  static constexpr std::uint32_t chunk_pages = ChunkPages;
  static constexpr std::uint32_t chunk_order = static_cast<std::uint32_t>(ChunkPages == 4    ? 2
                                                                          : ChunkPages == 8  ? 3
                                                                          : ChunkPages == 16 ? 4
                                                                                             : 5);
  static constexpr std::uint64_t chunk_bytes = page_bytes * chunk_pages;
  static constexpr std::uint32_t head_bytes = 128;
  static constexpr std::uint32_t body_bytes = page_bytes - head_bytes;  // of a page, without its head
  static_assert(1u << chunk_order == ChunkPages && ChunkPages * head_bytes <= page_bytes,
                "bulk: a chunk has 4, 8, 16 or 32 pages, so that the first has room for the tails of all others");

  // Classes: the sizes, then the pages of a chunk that become bins.
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

  // The head of a bin or a chunk. The bitmap has a set bit for each unit that is no block, or page,
  // in use.
  struct alignas(128) header {
    std::uint64_t bits[most_words];
    std::uint64_t state;     // bin_state
    srcu_node retired;       // while it waits to be reclaimed
    std::uint32_t next;      // on a stack: page of the next header plus 1, or 0
    std::uint16_t arena;     // on whose list it is
    std::uint16_t of_class;  // pages_class: the chunk has bins
    // Of a chunk that has bins: the class of each.
    std::uint8_t classes[32];
  };
  static_assert(sizeof(header) == head_bytes);

  // Stacks of a bin list. A warp begins at one of its own, since the warps of a multiprocessor come
  // together.
  static constexpr std::uint32_t stacks = 8;
  WARPHEAP_FN static constexpr std::uint32_t stack_of(std::uint32_t page) {
    return (page + page / chunk_pages) % stacks;
  }

  // The bins of a class in an arena. Words that every malloc changes, words that it reads, and
  // words that few use lie apart. Its invariants stand at bulk_bin_lists.
  struct bin_list {
    bulk_semaphore count;  // of free units
    // Of each stack: page plus 1 in the lower half, number of changes in the upper half.
    alignas(128) std::uint64_t top[stacks];
    alignas(128) std::uint32_t fully_free;  // bins with all units free; a hint, below 0 for a moment
    std::uint32_t bins;                     // that the list has, exhausted ones included
  };
  struct arena_state {
    srcu readers;              // threads that reach headers by way of a list
    std::uint32_t fully_free;  // of all lists
    bin_list lists[classes];
  };

  // Counts that only rise, one copy of each for some multiprocessors: changes, and these. Their
  // invariants stand at bulk_quiescence.
  struct alignas(128) tally : change_counter<std::uint64_t> {
    std::uint64_t freed;     // calls of `free` whose blocks can be found
    std::uint64_t progress;  // changes that made or returned memory
  };
  static constexpr std::uint32_t tallies = 4;
  static constexpr std::uint32_t most_arenas = 128;
  // One for each class, then one for each order of blocks of pages.
  static constexpr std::uint32_t notes = classes + Buddy::largest_order + 1;

  struct alignas(128) control {
    typename Buddy::state pages;
    std::uint32_t end;                          // number after the last page; 0 at first
    alignas(128) std::uint64_t refused[notes];  // 1 + count of frees at a proof of exhaustion
    striped_change_counter<tally, tallies> changes;
    arena_state arenas[most_arenas];
  };

  // Page numbers begin at a multiple of the largest block, so that all blocks are aligned to their
  // size.
  static constexpr std::uint64_t base_alignment = page_bytes << Buddy::largest_order;
  static constexpr std::uint64_t most_pages = Buddy::most_pages - (std::uint64_t{1} << Buddy::largest_order);

  WARPHEAP_FN static constexpr std::uint64_t metadata_bytes(std::uint64_t bytes) {
    // The pages can begin within a span.
    const std::uint64_t pages = bytes / page_bytes < most_pages ? bytes / page_bytes : most_pages;
    return sizeof(control) + (divide_up(pages, Buddy::span_pages) + 1) * sizeof(typename Buddy::span);
  }
  static_assert(sizeof(control) % alignof(typename Buddy::span) == 0, "spans follow the control");

  // Arenas of a heap: one for each 512 KiB that it begins with, a power of two.
  WARPHEAP_FN static std::uint32_t arenas(std::uint64_t bytes) {
    const std::uint64_t wanted = bytes >> 19;
    if (wanted == 0) return 1;
    return wanted >= most_arenas ? most_arenas : 1u << highest_bit(wanted);
  }
};

}  // namespace warpheap::detail
