// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocator/device.hpp>
#include <warpheap/designs/kma/detail/layout.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>
#include <warpheap/sync.hpp>

namespace warpheap::detail {

/// The pages of a heap: their numbers, their addresses, what is kept of each, and the source of those that are free.
///
/// This is the lowest part of `kma`. Each part above has the part below as its only member, so a kernel carries these
/// addresses once, and a part can call only what lies below it.
///
/// Invariant: that of `numbered_pages`. A block of pages begins at a multiple of its size, up to `base_alignment`.
///
/// Invariant: the state of a page is assigned exactly while the page is a superblock. So a thread that has a block
/// knows by the state of its page what the block is: the state stays assigned, or unowned, as long as the block is
/// taken.
template <class Layout>
class kma_pages {
 public:
  using classes = typename Layout::classes;
  using control_type = typename Layout::control;
  using span_type = typename Layout::span;

  WARPHEAP_FN explicit kma_pages(const arena& from)
      : numbers_(from.data),
        control_(reinterpret_cast<control_type*>(from.metadata)),
        spans_(reinterpret_cast<span_type*>(from.metadata + sizeof(control_type) + Layout::leaf_bytes(from.bytes) +
                                            Layout::ring_bytes(from.bytes))),
        bytes_(from.bytes) {}

  WARPHEAP_FN control_type& control() const { return *control_; }
  /// Key by which lanes that use the same heap find each other. Its low 7 bits are 0.
  WARPHEAP_FN std::uint64_t key() const { return reinterpret_cast<std::uint64_t>(control_); }

  WARPHEAP_FN page_source source() const {
    return {&control_->pages, &spans_->pages, first_span(), static_cast<std::uint32_t>(sizeof(span_type))};
  }
  /// What searches prove. A change has a superblock on its way between the source, the ring, the table of current ones
  /// and the lists. Frees of blocks of superblocks are counted for themselves; the source counts those of pages.
  WARPHEAP_FN auto quiescence() const {
    return search_proof<decltype(Layout::control::searches), page_source>{control_->searches, source()};
  }

  WARPHEAP_FN std::uint64_t address_of(std::uint32_t page) const { return numbers_.address_of(page); }
  WARPHEAP_FN std::uint32_t page_of(std::uint64_t address) const { return numbers_.page_of(address); }

  /// State word of a page.
  WARPHEAP_FN slab_entry& state(std::uint32_t page) const {
    return spans_[page / span_pages - first_span()].states[page % span_pages];
  }
  /// Bitmap of the superblock of class `c` at `page`.
  WARPHEAP_FN slot_bits<> bits(std::uint32_t page, std::uint32_t c) const {
    const std::uint32_t slots = classes::capacity(c);
    const std::uint64_t bytes = slot_bits<>::words_for(slots) * sizeof(std::uint32_t);
    return {reinterpret_cast<std::uint32_t*>(address_of(page) + Layout::page_bytes - bytes), slots};
  }
  /// Ring of free superblocks.
  WARPHEAP_FN index_ring ring() const {
    auto* const slots = reinterpret_cast<index_ring::slot*>(leaves() + Layout::leaf_bytes(bytes_));
    return {&control_->free, slots, Layout::ring_capacity(bytes_)};
  }
  /// Set of listed superblocks of class `c`.
  WARPHEAP_FN bit_tree listed(std::uint32_t c) const {
    return {&control_->listed[c], leaves() + c * sizeof(std::uint64_t), sizeof(typename Layout::leaf)};
  }
  /// Current superblock of class `c` in `stripe`: 1 + its page, or 0.
  WARPHEAP_FN atomic_view<std::uint32_t> current(std::uint32_t c, std::uint32_t stripe) const {
    return atomic_view{control_->currents[c][stripe].page};
  }

  /// The first whole page of the arena, as a number.
  WARPHEAP_FN std::uint32_t first_page() const { return numbers_.first_page(); }
  /// Number after the last whole page of the arena.
  WARPHEAP_FN std::uint32_t end_page() const { return numbers_.end_page(bytes_, Layout::most_pages); }
  /// Bytes between page 0 and the arena.
  WARPHEAP_FN std::uint64_t begin() const { return numbers_.begin(); }

 private:
  static constexpr std::uint32_t span_pages = Layout::span_pages;

  WARPHEAP_FN std::uint32_t first_span() const { return first_page() / span_pages; }
  WARPHEAP_FN std::byte* leaves() const { return reinterpret_cast<std::byte*>(control_) + sizeof(control_type); }

  // Kernels get these fields by value, so no byte of them is padding.
  numbered_pages<Layout::page_shift, Layout::base_alignment> numbers_;
  control_type* control_;
  span_type* spans_;
  std::uint64_t bytes_;
};

}  // namespace warpheap::detail
