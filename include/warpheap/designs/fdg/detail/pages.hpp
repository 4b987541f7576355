// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocator/device.hpp>
#include <warpheap/designs/fdg/detail/layout.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::detail {

/// The pages of a heap: their addresses, their headers, and the source of those that are free. The lowest part of
/// `fdg`.
///
/// Invariant: page p lies at the arena's data + p * page_bytes. A header is used by the arena whose first page it is
/// for, and its link by the list that has the page; of a page that is free nobody uses either.
template <class Layout>
class fdg_pages {
 public:
  using control_type = typename Layout::control;
  using span_type = typename Layout::span;
  using header = typename Layout::header;

  /// Finds the link of a page.
  struct page_links {
    span_type* spans;
    WARPHEAP_FN std::uint32_t& operator()(std::uint32_t page) const {
      return spans[page / Layout::span_pages].of_page[page % Layout::span_pages].link;
    }
  };
  using list_type = push_stack<page_links>;
  static_assert(page_source::most_pages <= list_type::last_node);

  WARPHEAP_FN explicit fdg_pages(const arena& from)
      : data_(from.data), control_(reinterpret_cast<control_type*>(from.metadata)) {}

  WARPHEAP_FN control_type& control() const { return *control_; }
  WARPHEAP_FN page_source source() const {
    return {&control_->pages, &spans()->pages, 0, static_cast<std::uint32_t>(sizeof(span_type))};
  }
  WARPHEAP_FN header& header_of(std::uint32_t page) const {
    return spans()[page / Layout::span_pages].of_page[page % Layout::span_pages];
  }
  /// The pages of the arena with header `of`.
  WARPHEAP_FN list_type list(header& of) const { return {&of.list, page_links{spans()}}; }
  WARPHEAP_FN std::byte* address(std::uint64_t granules) const { return data_ + granules * Layout::granule; }

 private:
  WARPHEAP_FN span_type* spans() const {
    return reinterpret_cast<span_type*>(reinterpret_cast<std::byte*>(control_) + sizeof(control_type));
  }

  std::byte* data_;
  control_type* control_;
};

}  // namespace warpheap::detail
