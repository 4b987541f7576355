// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>

namespace warpheap {

/// Pages of 2^`page_shift` bytes, numbered so that a page whose number is a multiple of 2^k is aligned to 2^k pages, up
/// to `base_alignment` bytes: page 0 may lie below the memory.
///
/// Invariant: page p lies at `base + p * page_bytes`. `base` is the last multiple of `base_alignment` at or below the
/// memory, which begins `begin()` bytes after it.
///
/// A view: copies are the same pages. No byte of it is padding, since kernels get it by value.
template <std::uint32_t page_shift, std::uint64_t base_alignment>
class numbered_pages {
 public:
  static constexpr std::uint64_t page_bytes = std::uint64_t{1} << page_shift;  ///< bytes of a page
  static_assert(base_alignment % page_bytes == 0 && is_power_of_two(base_alignment),
                "numbered_pages: page 0 is aligned to a power of two of pages");

  /// The pages of memory that begins at `data`.
  WARPHEAP_FN explicit numbered_pages(const std::byte* data)
      : base_(align_down(reinterpret_cast<std::uint64_t>(data), base_alignment)),
        begin_(reinterpret_cast<std::uint64_t>(data) - base_) {}

  /// Address of page `page`.
  WARPHEAP_FN std::uint64_t address_of(std::uint32_t page) const { return base_ + (std::uint64_t{page} << page_shift); }
  /// Number of the page that `address` lies in.
  WARPHEAP_FN std::uint32_t page_of(std::uint64_t address) const {
    return static_cast<std::uint32_t>((address - base_) >> page_shift);
  }
  /// Number of the first whole page of the memory.
  WARPHEAP_FN std::uint32_t first_page() const { return static_cast<std::uint32_t>(divide_up(begin_, page_bytes)); }
  /// Number after the last whole page of memory of `bytes` bytes; `most` if that is less.
  WARPHEAP_FN std::uint32_t end_page(std::uint64_t bytes, std::uint64_t most) const {
    const std::uint64_t whole = (begin_ + bytes) >> page_shift;
    return static_cast<std::uint32_t>(whole < most ? whole : most);
  }
  /// Address of page 0.
  WARPHEAP_FN std::uint64_t base() const { return base_; }
  /// Bytes between page 0 and the memory.
  WARPHEAP_FN std::uint64_t begin() const { return begin_; }

 private:
  std::uint64_t base_;
  std::uint64_t begin_;
};

}  // namespace warpheap
