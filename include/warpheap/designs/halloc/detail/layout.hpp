// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/halloc/options.hpp>
#include <warpheap/designs/halloc/size_classes.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>
#include <warpheap/sync.hpp>

namespace warpheap::detail {

/// A head in one word: tickets, signed, in the upper half, and below them the turn and the page where the slab begins.
///
/// A ticket is a permit of the slab's entry. The thread that made the slab a head took the permits there. So a slab
/// with a head that has tickets keeps its class. A request draws tickets by one subtraction, whose borrow leaves the
/// word; tickets below 0 were drawn in vain and stand for nothing.
struct halloc_head {
  static constexpr int page_bits = 26;
  static constexpr int tickets_shift = 32;
  std::uint64_t value;

  WARPHEAP_FN static halloc_head make(std::uint32_t page, std::uint32_t turn, std::uint32_t tickets) {
    return {std::uint64_t{tickets} << tickets_shift | turn << page_bits | page};
  }
  WARPHEAP_FN std::int32_t tickets() const { return static_cast<std::int32_t>(split(value).high); }
  WARPHEAP_FN std::uint32_t page() const { return split(value).low & ((1u << page_bits) - 1); }
  /// Number of heads before this one, modulo 64.
  WARPHEAP_FN std::uint32_t turn() const { return split(value).low >> page_bits; }
};

/// What the page where a slab begins says of it: its number and its class. 0: no slab begins there.
struct halloc_slab_name {
  static constexpr int class_shift = 24;
  std::uint32_t value;

  WARPHEAP_FN static halloc_slab_name make(std::uint32_t slab, std::uint32_t c) {
    return {c << class_shift | (slab + 1)};
  }
  WARPHEAP_FN bool is_slab() const { return value != 0; }
  WARPHEAP_FN std::uint32_t slab() const { return (value & ((1u << class_shift) - 1)) - 1; }
  WARPHEAP_FN std::uint32_t of_class() const { return value >> class_shift; }
};

/// What the allocator keeps in memory, and the sizes of it.
///
///   metadata   control | spans, each for 4,096 pages
///   slab       bitmap | blocks
///
/// A slab of class c begins with its bitmap, a bit for each block. Blocks follow from `first` on. A slot that would
/// begin at a page is no block: its bit is always set. So the address tells a block of a slab from a block of pages.
template <halloc_options Options>
struct halloc_layout {
  static constexpr halloc_options options = Options;
  using classes = halloc_classes;

  static constexpr std::uint32_t page_shift = 12;
  static constexpr std::uint64_t page_bytes = std::uint64_t{1} << page_shift;
  static constexpr std::uint32_t span_pages = page_source::span_pages;
  static_assert(is_power_of_two(Options.slab_bytes) && Options.slab_bytes >= page_bytes &&
                    Options.slab_bytes <= (16u << 20),
                "halloc: a slab has a power of two of bytes, from 4 KiB to 16 MiB");
  static_assert(is_power_of_two(Options.heads) && Options.heads <= 64 && Options.slabs_of_heap != 0 &&
                    Options.slabs_at_once != 0,
                "halloc: a class has 1, 2, 4, ... 64 heads, and a thread may make a slab");
  static_assert(Options.sparse <= Options.roomy && Options.roomy <= Options.busy && Options.busy <= 1000,
                "halloc: a slab is sparse, then roomy, then busy, of at most 1,000 thousandths");

  // Sets of slabs: three of each class, then that of fully free slabs.
  enum kind : std::uint32_t { roomy, sparse, busy, kinds };
  static constexpr std::uint32_t free_set = kinds * classes::count;
  static constexpr std::uint32_t sets = free_set + 1;
  WARPHEAP_FN static constexpr std::uint32_t set_of(kind of, std::uint32_t c) { return kinds * c + of; }
  static constexpr std::uint32_t most_slabs = 1u << 16;

  /// Figures of a class in this heap; written when the heap is made.
  struct class_figures {
    probe_space words;         // of a bitmap
    std::uint32_t slots;       // bits that have a slot
    std::uint32_t capacity;    // slots that are blocks
    std::uint32_t first;       // bytes from the slab's begin to slot 0
    std::uint32_t probe_step;  // words; no divisor in common with their number
    std::uint32_t replace_at;  // tickets below which a head is replaced
    std::uint32_t making;      // gate of the threads that make a slab
  };
  struct alignas(128) class_state {
    class_figures figures;
  };
  struct alignas(128) head_state {
    std::uint64_t word;       // halloc_head
    std::uint32_t replacing;  // 1 while a thread replaces the head
  };

  // Requests that can be refused: of each class, then of blocks of pages of each order.
  static constexpr std::uint32_t notes = classes::count + page_source::largest_order + 1;

  struct alignas(128) control {
    page_source::state pages;
    std::uint32_t end;         // number after the last page; 0 at first
    std::uint32_t slab_order;  // of the pages of a slab
    std::uint32_t head_mask;   // heads of a class, less 1
    std::uint32_t slabs_end;   // number after the highest slab that there was
    search_counts<4, notes> searches;
    class_state of_class[classes::count];
    head_state heads[classes::count][Options.heads];
    std::uint32_t numbers[most_slabs / 32];  // slot_bits: a slab's number is taken
    slab_entry entries[most_slabs];
    std::uint32_t page_of[most_slabs];  // where a slab begins
    alignas(128) std::byte set_memory[slab_sets::bytes(sets, most_slabs)];
  };
  struct alignas(128) span {
    page_source::span pages;
    std::uint32_t slab_at[span_pages];  // halloc_slab_name
  };
  static_assert(sizeof(control) % alignof(span) == 0 && sizeof(span) % alignof(page_source::span) == 0);

  // Page numbers begin at a multiple of the largest block, so that all blocks are aligned to their size.
  static constexpr std::uint64_t base_alignment = page_bytes << page_source::largest_order;
  static constexpr std::uint64_t most_pages =
      page_source::most_pages - (std::uint64_t{1} << page_source::largest_order);

  WARPHEAP_FN static constexpr std::uint64_t metadata_bytes(std::uint64_t bytes) {
    // The pages can begin within a span.
    const std::uint64_t pages = bytes / page_bytes < most_pages ? bytes / page_bytes : most_pages;
    return sizeof(control) + (divide_up(pages, span_pages) + 1) * sizeof(span);
  }

  /// Order of the pages of a slab in a heap that begins with `bytes` bytes.
  WARPHEAP_FN static std::uint32_t slab_order(std::uint64_t bytes) {
    const std::uint64_t wanted = bytes / Options.slabs_of_heap / page_bytes;
    constexpr std::uint64_t most = Options.slab_bytes / page_bytes;
    if (wanted == 0) return 0;
    return static_cast<std::uint32_t>(highest_bit(wanted < most ? wanted : most));
  }
  /// Heads of a class in a heap of `slabs` slabs: a class may hold a small part of them.
  WARPHEAP_FN static std::uint32_t heads(std::uint64_t slabs) {
    const std::uint64_t wanted = slabs / 64;
    if (wanted == 0) return 1;
    return wanted < Options.heads ? 1u << highest_bit(wanted) : Options.heads;
  }

  /// Bytes before slot 0 of a slab with `slots` slots. Blocks of 128 bytes and more begin 64 bytes after a multiple of
  /// 128, so of those of most classes none begins at a page.
  WARPHEAP_FN static constexpr std::uint32_t first(std::uint32_t c, std::uint32_t slots) {
    const std::uint32_t bitmap = (slots + 31) / 32 * 4;
    if (classes::bytes(c) < 128) return (bitmap + 63) / 64 * 64;
    return (bitmap + 63) / 128 * 128 + 64;
  }
  /// True if slot `slot` would begin at a page.
  WARPHEAP_FN static bool is_absent(std::uint32_t c, std::uint32_t first, std::uint32_t slot) {
    return (first + slot * classes::bytes(c)) % page_bytes == 0;
  }
  WARPHEAP_FN static class_figures figures(std::uint32_t c, std::uint32_t slab_order) {
    const std::uint32_t bytes = classes::bytes(c);
    const auto slab = static_cast<std::uint32_t>(page_bytes << slab_order);
    std::uint32_t slots = slab / bytes;
    while (first(c, slots) + slots * bytes > slab) --slots;  // not a spin: a count
    const std::uint32_t from = first(c, slots);
    std::uint32_t absent = 0;
    for (std::uint32_t at = page_bytes; at < from + slots * bytes; at += page_bytes) {
      absent += at >= from && (at - from) % bytes == 0;
    }
    const std::uint32_t capacity = slots - absent;
    const probe_space words{slot_bits<>::words_for(slots)};
    // As in the original a step between a 256th and a 64th of the places, and a bit more.
    const std::uint32_t step = words.coprime_step(words.count() / 64 + words.count() / 256 + 1);
    const auto replace_at = static_cast<std::uint32_t>(std::uint64_t{capacity} * (1000 - Options.busy) / 1000);
    return {words, slots, capacity, from, step, replace_at, 0};
  }

  /// The kind of a slab with `free` of `capacity` blocks free, some but not all.
  WARPHEAP_FN static kind kind_of(std::uint32_t free, std::uint32_t capacity) {
    const std::uint64_t used = std::uint64_t{capacity - free} * 1000;
    if (used <= std::uint64_t{capacity} * Options.sparse) return sparse;
    return used <= std::uint64_t{capacity} * Options.roomy ? roomy : busy;
  }
  /// The set of a slab of class `c` with `free` of `capacity` blocks free.
  WARPHEAP_FN static std::uint32_t set_by_fill(std::uint32_t c, std::uint32_t free, std::uint32_t capacity) {
    if (free == 0) return sets;  // the rest
    return free == capacity ? free_set : set_of(kind_of(free, capacity), c);
  }
};

}  // namespace warpheap::detail
