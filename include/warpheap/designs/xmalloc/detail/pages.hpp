// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocator/device.hpp>
#include <warpheap/designs/xmalloc/detail/layout.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>
#include <warpheap/sync.hpp>

namespace warpheap::detail {

/// What a block is to the heap, as its address and the words of its page tell.
struct xmalloc_place {
  static constexpr std::uint32_t of_pages = ~std::uint32_t{0};

  bool whole;              ///< the block begins here; else the address is in a piece of a block
  std::uint32_t in_class;  ///< class of the basic block, or `of_pages` for a block of pages
};

/// The pages of a heap: their numbers, their addresses, what is kept of each, and the source of those that are free.
///
/// This is the lowest part of `xmalloc`. Each part above has the part below as its only member, so a kernel carries
/// these addresses once, and a part can call only what lies below it.
///
/// Invariant: that of `numbered_pages`. A block of pages and a superblock begin at a multiple of their size, up to
/// `base_alignment`. So a basic block is aligned to its size.
template <class Layout>
class xmalloc_pages {
 public:
  using control_type = typename Layout::control;
  using span_type = typename Layout::span;

  WARPHEAP_FN explicit xmalloc_pages(const arena& from)
      : numbers_(from.data),
        control_(reinterpret_cast<control_type*>(from.metadata)),
        spans_(reinterpret_cast<span_type*>(from.metadata + sizeof(control_type) +
                                            align_up(Layout::queue_bytes(from.bytes), alignof(span_type)))),
        bytes_(from.bytes) {}

  WARPHEAP_FN control_type& control() const { return *control_; }
  /// Key by which lanes that use the same heap find each other. Its low 7 bits are 0.
  WARPHEAP_FN std::uint64_t key() const { return reinterpret_cast<std::uint64_t>(control_); }

  WARPHEAP_FN page_source source() const {
    return {&control_->pages, &spans_->pages, first_span(), static_cast<std::uint32_t>(sizeof(span_type))};
  }
  /// What searches prove. A change has basic blocks on their way from a superblock to a queue or back, a
  /// superblock on its way to a queue or to pages. Frees are counted for themselves, of basic blocks and of pages.
  WARPHEAP_FN auto quiescence() const {
    return search_proof<decltype(Layout::control::searches), page_source>{control_->searches, source()};
  }

  WARPHEAP_FN std::uint64_t address_of(std::uint32_t page) const { return numbers_.address_of(page); }
  WARPHEAP_FN std::uint32_t page_of(std::uint64_t address) const { return numbers_.page_of(address); }
  /// Address of basic block `number`.
  WARPHEAP_FN std::uint64_t address_of_block(std::uint32_t number) const {
    return numbers_.base() + (std::uint64_t{number} << Layout::least_shift);
  }
  /// Number of the basic block at `address`.
  WARPHEAP_FN std::uint32_t block_at(std::uint64_t address) const {
    return static_cast<std::uint32_t>((address - numbers_.base()) >> Layout::least_shift);
  }
  /// Number of the basic block that begins at `page`.
  WARPHEAP_FN static std::uint32_t block_of_page(std::uint32_t page) {
    return page << (Layout::page_shift - Layout::least_shift);
  }
  /// The page in which basic block `number` begins.
  WARPHEAP_FN static std::uint32_t page_of_block(std::uint32_t number) {
    return number >> (Layout::page_shift - Layout::least_shift);
  }

  /// First-level queue `list` of class `c`.
  WARPHEAP_FN index_ring list(std::uint32_t c, std::uint32_t list) const {
    return {&control_->lists[c][list], control_->list_slots[c][list], Layout::options.list_capacity};
  }
  /// Second-level queue of class `c`.
  WARPHEAP_FN index_ring superblocks(std::uint32_t c) const {
    const std::uint32_t shift = Layout::queue_shift(bytes_);
    auto* const slots =
        reinterpret_cast<index_ring::slot*>(reinterpret_cast<std::byte*>(control_) + sizeof(control_type));
    // The queues of classes below c have 2^shift, 2^(shift - 1), ... slots.
    const std::uint64_t first = (std::uint64_t{2} << shift) - (std::uint64_t{2} << (shift - c));
    return {&control_->superblocks[c], slots + first, 1u << (shift - c)};
  }

  WARPHEAP_FN slab_entry& entry(std::uint32_t page) const { return span_at(page).entries[page % span_pages]; }
  WARPHEAP_FN atomic_view<std::uint32_t> taken(std::uint32_t page) const {
    return atomic_view{span_at(page).taken[page % span_pages]};
  }
  WARPHEAP_FN atomic_view<std::uint32_t> listed(std::uint32_t page) const {
    return atomic_view{span_at(page).listed[page % span_pages]};
  }
  /// Class + 1 of the superblock that `page` is part of, or 0. Written by its owner, read by threads that have a block
  /// there.
  WARPHEAP_FN std::uint8_t& class_at(std::uint32_t page) const { return span_at(page).class_of[page % span_pages]; }

  /// What the block or the piece at `address` is, which the caller has.
  WARPHEAP_FN xmalloc_place place_of(std::uint64_t address) const {
    const std::uint32_t page = page_of(address);
    if constexpr (Layout::has_superblocks) {
      const std::uint32_t mark = class_at(page);
      if (mark != 0) return {(address & (Layout::bytes(mark - 1) - 1)) == 0, mark - 1};
    }
    if (address % Layout::page_bytes != 0) return {false, xmalloc_place::of_pages};
    const std::uint32_t order = source().order_of(page);
    const bool is_basic = !Layout::has_superblocks && order < Layout::classes;
    return {order != page_source::none, is_basic ? order : xmalloc_place::of_pages};
  }

  /// The first whole page of the arena, as a number.
  WARPHEAP_FN std::uint32_t first_page() const { return numbers_.first_page(); }
  /// Number after the last whole page of the arena.
  WARPHEAP_FN std::uint32_t end_page() const { return numbers_.end_page(bytes_, page_source::most_pages); }
  /// Bytes between page 0 and the arena.
  WARPHEAP_FN std::uint64_t begin() const { return numbers_.begin(); }

 private:
  static constexpr std::uint32_t span_pages = Layout::span_pages;

  WARPHEAP_FN std::uint32_t first_span() const { return first_page() / span_pages; }
  WARPHEAP_FN span_type& span_at(std::uint32_t page) const { return spans_[page / span_pages - first_span()]; }

  // Kernels get these fields by value, so no byte of them is padding.
  numbered_pages<Layout::page_shift, Layout::base_alignment> numbers_;
  control_type* control_;
  span_type* spans_;
  std::uint64_t bytes_;
};

}  // namespace warpheap::detail
