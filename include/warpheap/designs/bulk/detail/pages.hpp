// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocator/device.hpp>
#include <warpheap/designs/bulk/detail/layout.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>
#include <warpheap/sync.hpp>

namespace warpheap::detail {

/// The pages of a heap: their numbers, their addresses, and TBuddy, which owns those that are free.
///
/// This is the lowest part of `bulk`. Each part above has the part below as its only member, so a
/// kernel carries these addresses once, and a part can call only what lies below it.
///
/// Invariant: page p lies at `base + p * page_bytes`, and `base` is a multiple of the largest
/// block. So a block of 2^k pages, which begins at a multiple of 2^k, is aligned to its size.
template <class Layout>
class bulk_pages {
 public:
  using buddy_type = typename Layout::buddy_type;
  using header = typename Layout::header;
  using control_type = typename Layout::control;

  WARPHEAP_FN explicit bulk_pages(const arena& from)
      : base_(align_down(reinterpret_cast<std::uint64_t>(from.data), Layout::base_alignment)),
        control_(reinterpret_cast<control_type*>(from.metadata)),
        spans_(reinterpret_cast<typename buddy_type::span*>(from.metadata + sizeof(control_type))),
        begin_(reinterpret_cast<std::uint64_t>(from.data) - base_),
        initial_bytes_(from.bytes),
        first_page_(static_cast<std::uint32_t>(divide_up(begin_, Layout::page_bytes))),
        arena_mask_(Layout::arenas(from.bytes) - 1) {}

  WARPHEAP_FN control_type& control() const { return *control_; }
  WARPHEAP_FN buddy_type buddy() const { return {&control_->pages, spans_, first_page_ / buddy_type::span_pages}; }

  WARPHEAP_FN std::uint64_t address_of(std::uint32_t page) const { return base_ + page * Layout::page_bytes; }
  WARPHEAP_FN std::uint32_t page_of(std::uint64_t address) const {
    return static_cast<std::uint32_t>((address - base_) / Layout::page_bytes);
  }
  /// The header in the first bytes of a page that is a bin, or the first page of a chunk.
  WARPHEAP_FN header& header_at(std::uint32_t page) const { return *reinterpret_cast<header*>(address_of(page)); }

  /// The first whole page of the arena, as a number.
  WARPHEAP_FN std::uint32_t first_page() const { return first_page_; }
  /// Bytes between page 0 and the arena.
  WARPHEAP_FN std::uint64_t begin() const { return begin_; }
  /// Bytes that the arena has before it grows.
  WARPHEAP_FN std::uint64_t initial_bytes() const { return initial_bytes_; }
  /// Number of arenas of UAlloc, less 1. The number is a power of two.
  WARPHEAP_FN std::uint32_t arena_mask() const { return arena_mask_; }

  /// True if a whole chunk lies among the heap's pages. A chunk begins at a multiple of its size.
  WARPHEAP_FN bool has_chunks() const {
    return divide_up(first_page_, Layout::chunk_pages) * Layout::chunk_pages + Layout::chunk_pages <= control_->end;
  }

  /// Takes a block of 2^`order` pages for each lane of `group`, after at most `tries` searches.
  /// Collective. Returns the first page of the lane's block, or `buddy_type::none`.
  WARPHEAP_COLD_FN std::uint32_t take(lane_mask group, std::uint32_t order, std::uint32_t tries) const {
    return buddy().take(group, order, retry_limit{tries});
  }

  /// Takes a chunk and stores its first page in `page`; false if TBuddy has none. Lanes that come
  /// together take theirs by one change of TBuddy where it can serve them so, whatever they want
  /// the chunks for.
  WARPHEAP_FN bool take_chunk(std::uint32_t& page) const {
    constexpr std::uint32_t tries = 8;
    const lane_mask together = warp_request::of(active_group(), control_).lanes;
    page = take(together, Layout::chunk_order, tries);
    return page != buddy_type::none;
  }

 private:
  // Kernels get these fields by value, so no byte of them is padding.
  std::uint64_t base_;  // address of page 0: a multiple of the largest block's size, at or below the arena
  control_type* control_;
  typename buddy_type::span* spans_;
  std::uint64_t begin_;
  std::uint64_t initial_bytes_;
  std::uint32_t first_page_;
  std::uint32_t arena_mask_;
};

}  // namespace warpheap::detail
