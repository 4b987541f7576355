// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocator/device.hpp>
#include <warpheap/designs/scatter/detail/chunk_size.hpp>
#include <warpheap/designs/scatter/detail/quiescence.hpp>
#include <warpheap/designs/scatter/options.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>
#include <warpheap/sync.hpp>

namespace warpheap::detail {

/// Pages that are worth a look: of 64 neighbours those whose bits are set.
struct scatter_row {
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  std::uint64_t pages;
  std::uint32_t first;  // page of bit 0; that at which the search ends if no bit is set

  /// Page number `index` of them, or `none`.
  WARPHEAP_FN std::uint32_t page(std::uint32_t index) const {
    const std::uint32_t bit = index < 64 ? nth_mark(pages, static_cast<int>(index)) : 64;
    return bit < 64 ? first + bit : none;
  }
  /// Where the search goes on after `looked` of them, at most `end`.
  WARPHEAP_FN std::uint32_t next(std::uint32_t looked, std::uint32_t end) const {
    if (pages == 0) return end;
    const std::uint32_t after = page(looked - 1) != none ? page(looked - 1) + 1 : first + 64;
    return after < end ? after : end;
  }
};

/// What a search knows of a page that it looked at, in one word.
class scatter_look {
 public:
  scatter_look() = default;
  /// A page of chunks of `units` units, `room` of which seem to be free. Without a size, 0, any room means that the
  /// page is empty. Not `settled`: some thread is just changing what the page is.
  WARPHEAP_FN constexpr scatter_look(std::uint32_t units, std::uint32_t room, bool settled)
      : bits_(room | units << units_shift | (settled ? 0 : unsettled_bit)) {}
  /// A page of which nothing is known, and that serves nobody.
  WARPHEAP_FN static constexpr scatter_look nothing() { return {0, 0, true}; }

  WARPHEAP_FN constexpr std::uint32_t units() const { return bits_ >> units_shift & ((1u << 13) - 1); }
  WARPHEAP_FN constexpr std::uint32_t room() const { return bits_ & ((1u << units_shift) - 1); }
  WARPHEAP_FN constexpr bool settled() const { return (bits_ & unsettled_bit) == 0; }
  WARPHEAP_FN constexpr bool is_empty() const { return units() == 0 && room() != 0; }

 private:
  static constexpr int units_shift = 14;
  static constexpr std::uint32_t unsettled_bit = 1u << 31;

  std::uint32_t bits_;
};

/// Chunks of one page that a lane counted off for its group.
struct scatter_share {
  std::uint32_t count;
  std::uint32_t units;  // their size
  bool fresh;           // the lane prepared the page: the chunks are its first ones
  bool last;            // the page has no more
};

/// The pages of a heap: their numbers and addresses, and the parts that keep them. A page is the page source's, or in a
/// block of pages, or *open*: then chunks may be cut from it, and the table has it.
///
/// The lowest part of the two designs that a kernel carries; the table and the source are made of it where they are
/// used.
///
/// Invariant: page p lies at `base + p * page_bytes`, and `base` is a multiple of `base_alignment`. So a block of 2^k
/// pages, which begins at a multiple of 2^k, is aligned to its size, or to `base_alignment` if that is less.
template <class Table>
class scatter_pages {
 public:
  static constexpr std::uint64_t base_alignment = std::uint64_t{1} << 21;
  static constexpr std::uint32_t least_shift = Table::least_page_shift;

  // What changes; zero bytes are a heap without pages.
  struct alignas(256) control {
    page_source::state source;
    typename Table::state table;
    scatter_quiescence::state changes;
    std::uint32_t end;                   // number after the last page; 0 at first
    alignas(128) std::uint32_t current;  // access block in which requests begin; a hint
    std::uint32_t open_end;              // all open pages have lower numbers; it only rises
    std::uint32_t opened;                // how often pages were opened
    alignas(128) spin_lock opening;      // of the thread that opens pages
  };

  WARPHEAP_FN static constexpr std::uint64_t metadata_bytes(std::uint64_t bytes) {
    // As if all pages were the smallest, and the first one in the worst place.
    const std::uint64_t pages = (bytes + base_alignment) >> least_shift;
    const std::uint64_t counted = pages < Table::most_pages ? pages : Table::most_pages;
    return sizeof(control) + divide_up(counted, page_source::span_pages) * Table::span_bytes;
  }

  WARPHEAP_FN explicit scatter_pages(const arena& from)
      : base_(align_down(reinterpret_cast<std::uint64_t>(from.data), base_alignment)),
        control_(reinterpret_cast<control*>(from.metadata)),
        begin_(reinterpret_cast<std::uint64_t>(from.data) - base_),
        initial_bytes_(from.bytes),
        shift_(Table::page_shift_for(from.bytes)),
        block_shift_(block_shift_for(from.bytes >> shift_)) {}

  WARPHEAP_FN control& shared() const { return *control_; }
  /// Key by which lanes that use the same heap find each other. Its low bits are 0.
  WARPHEAP_FN std::uint64_t key() const { return reinterpret_cast<std::uint64_t>(control_); }
  WARPHEAP_FN scatter_quiescence changes() const { return scatter_quiescence{control_->changes}; }
  WARPHEAP_FN Table table() const { return {control_->table, spans(), changes(), shift_}; }
  WARPHEAP_FN page_source source() const { return Table::source(control_->source, spans(), shift_); }

  WARPHEAP_FN std::uint32_t shift() const { return shift_; }
  WARPHEAP_FN std::uint64_t page_bytes() const { return std::uint64_t{1} << shift_; }
  WARPHEAP_FN std::uint32_t page_units() const { return (1u << shift_) / scatter_chunk_size::unit_bytes; }
  WARPHEAP_FN std::uint64_t address_of(std::uint32_t page) const { return base_ + (std::uint64_t{page} << shift_); }
  WARPHEAP_FN std::uint32_t page_of(std::uint64_t address) const {
    return static_cast<std::uint32_t>((address - base_) >> shift_);
  }
  /// The first whole page of the arena.
  WARPHEAP_FN std::uint32_t first_page() const { return static_cast<std::uint32_t>(divide_up(begin_, page_bytes())); }
  /// Bytes between page 0 and the arena.
  WARPHEAP_FN std::uint64_t begin() const { return begin_; }
  /// Bytes that the arena has before it grows.
  WARPHEAP_FN std::uint64_t initial_bytes() const { return initial_bytes_; }
  /// Pages of an access block, as a power of two. Blocks begin at multiples of it.
  WARPHEAP_FN std::uint32_t block_shift() const { return block_shift_; }
  WARPHEAP_FN std::uint32_t block_of(std::uint32_t page) const { return page >> block_shift_; }

  /// Number after the last open page. A hint that is never too low for pages whose opening the caller knows of.
  WARPHEAP_FN std::uint32_t open_end() const {
    return atomic_view{control_->open_end}.load(memory_order::relaxed, thread_scope::device);
  }
  WARPHEAP_FN void raise_open_end(std::uint32_t end) const {
    // Relaxed: the change that opens the pages is counted, and its end is released.
    if (open_end() < end) atomic_view{control_->open_end}.fetch_max(end, memory_order::relaxed, thread_scope::device);
  }

 private:
  // An access block is a sixteenth of a small heap.
  WARPHEAP_FN static std::uint32_t block_shift_for(std::uint64_t pages) {
    const std::uint64_t wanted =
        pages / 16 < Table::options.access_block_pages ? pages / 16 : Table::options.access_block_pages;
    return wanted == 0 ? 0 : static_cast<std::uint32_t>(highest_bit(wanted));
  }
  WARPHEAP_FN std::byte* spans() const { return reinterpret_cast<std::byte*>(control_) + sizeof(control); }

  // Kernels get these fields by value, so no byte of them is padding.
  std::uint64_t base_;  // address of page 0, at or below the arena
  control* control_;
  std::uint64_t begin_;
  std::uint64_t initial_bytes_;
  std::uint32_t shift_;
  std::uint32_t block_shift_;
};

}  // namespace warpheap::detail
