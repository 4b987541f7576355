// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocator/device.hpp>
#include <warpheap/designs/halloc/detail/layout.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>
#include <warpheap/sync.hpp>

namespace warpheap::detail {

/// The pages of a heap: their numbers, their addresses, the slabs that begin at them, and the source of those that are
/// free. Slabs and large blocks come from this one source.
///
/// This is the lowest part of `halloc`. Each part above has the part below as its only member, so a kernel carries
/// these addresses once, and a part can call only what lies below it.
///
/// Invariant: that of `numbered_pages`, whose page 0 is aligned to the largest block. So a block of 2^k pages, which
/// begins at a multiple of 2^k, is aligned to its size.
template <class Layout>
class halloc_pages {
 public:
  using control_type = typename Layout::control;
  using span_type = typename Layout::span;

  WARPHEAP_FN explicit halloc_pages(const arena& from)
      : numbers_(from.data), control_(reinterpret_cast<control_type*>(from.metadata)), initial_bytes_(from.bytes) {}

  WARPHEAP_FN control_type& control() const { return *control_; }
  /// Key by which lanes that use the same heap find each other. Its low 7 bits are 0.
  WARPHEAP_FN std::uint64_t key() const { return reinterpret_cast<std::uint64_t>(control_); }

  WARPHEAP_FN page_source source() const {
    return {&control_->pages, &spans()->pages, first_span(), static_cast<std::uint32_t>(sizeof(span_type))};
  }
  /// What searches prove. A change has permits on their way from a slab to a head or back, a slab on its way
  /// to another class or to pages. Blocks of pages are counted by their source when they come back.
  WARPHEAP_FN auto quiescence() const {
    return search_proof<decltype(Layout::control::searches), page_source>{control_->searches, source()};
  }
  /// What begins at `page`; only what its owner wrote while the caller has a block there.
  WARPHEAP_FN atomic_view<std::uint32_t> slab_at(std::uint32_t page) const {
    return atomic_view{spans()[page / Layout::span_pages - first_span()].slab_at[page % Layout::span_pages]};
  }
  /// The name of the slab that `page` is part of, if its owner's caller has a block there.
  WARPHEAP_FN halloc_slab_name name_at(std::uint32_t page) const {
    // Relaxed: the name was written before the block was handed out.
    return halloc_slab_name{slab_at(slab_begin(page)).load(memory_order::relaxed, thread_scope::device)};
  }
  WARPHEAP_FN std::uint32_t slab_order() const { return control_->slab_order; }
  /// The page where a slab begins if `page` is part of it.
  WARPHEAP_FN std::uint32_t slab_begin(std::uint32_t page) const { return page & ~((1u << slab_order()) - 1); }

  WARPHEAP_FN std::uint64_t address_of(std::uint32_t page) const { return numbers_.address_of(page); }
  WARPHEAP_FN std::uint32_t page_of(std::uint64_t address) const { return numbers_.page_of(address); }
  /// The bitmap of the slab that begins at `page` and has `slots` slots.
  WARPHEAP_FN slot_bits<> bits(std::uint32_t page, std::uint32_t slots) const {
    return {reinterpret_cast<std::uint32_t*>(address_of(page)), slots};
  }

  /// The first whole page of the arena, as a number.
  WARPHEAP_FN std::uint32_t first_page() const { return numbers_.first_page(); }
  /// Bytes between page 0 and the arena.
  WARPHEAP_FN std::uint64_t begin() const { return numbers_.begin(); }
  /// Bytes that the arena has before it grows.
  WARPHEAP_FN std::uint64_t initial_bytes() const { return initial_bytes_; }

 private:
  WARPHEAP_FN span_type* spans() const {
    return reinterpret_cast<span_type*>(reinterpret_cast<std::byte*>(control_) + sizeof(control_type));
  }
  WARPHEAP_FN std::uint32_t first_span() const { return first_page() / Layout::span_pages; }

  // Kernels get these fields by value, so no byte of them is padding.
  numbered_pages<Layout::page_shift, Layout::base_alignment> numbers_;
  control_type* control_;
  std::uint64_t initial_bytes_;
};

}  // namespace warpheap::detail
