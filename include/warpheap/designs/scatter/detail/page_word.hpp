// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>

namespace warpheap::detail {

/// The entry of a page in the page table: chunk size and count of free chunks in one word.
///
///   | state, 2 bits | listed, 1 | chunk size in units, 9 | free chunks, 9 |
///
///              open                  prepare                publish
///     closed --------> empty -------------> preparing ------------> sized   a chunk taken, or given back
///            <--------       <-------------
///              close              (by the last chunk that comes back: sized -> empty)
///
/// closed     the page is the page source's, or part of a block of pages; zero bytes
/// empty      the page has no chunk size and no chunk in use; anybody may prepare it for one
/// preparing  one thread has the page to itself
/// sized      the page is cut into chunks; as long as a chunk is in use it stays so
/// listed     the page has a bit in its region, or some thread is about to set that bit or has taken it out to look
///
/// Functions of plain words; who changes an entry does so by one atomic operation on it.
struct scatter_page_word {
  enum class kind : std::uint32_t { closed, empty, preparing, sized };

  std::uint32_t bits;

  WARPHEAP_FN static constexpr scatter_page_word closed() { return {0}; }
  WARPHEAP_FN static constexpr scatter_page_word empty() {
    return {static_cast<std::uint32_t>(kind::empty) << state_shift | listed_bit};
  }
  WARPHEAP_FN static constexpr scatter_page_word preparing() {
    return {static_cast<std::uint32_t>(kind::preparing) << state_shift | listed_bit};
  }
  /// A listed page of chunks of `units` units of which `free` are free.
  WARPHEAP_FN static constexpr scatter_page_word sized(std::uint32_t units, std::uint32_t free) {
    return {static_cast<std::uint32_t>(kind::sized) << state_shift | listed_bit | units << units_shift | free};
  }

  WARPHEAP_FN constexpr kind what() const { return static_cast<kind>(bits >> state_shift); }
  WARPHEAP_FN constexpr bool listed() const { return (bits & listed_bit) != 0; }
  WARPHEAP_FN constexpr std::uint32_t units() const { return bits >> units_shift & field; }
  WARPHEAP_FN constexpr std::uint32_t free() const { return bits & field; }

  /// A sized page with other numbers of free chunks, and with or without its entry.
  WARPHEAP_FN constexpr scatter_page_word with_free(std::uint32_t count) const { return {(bits & ~field) | count}; }
  WARPHEAP_FN constexpr scatter_page_word unlisted() const { return {bits & ~listed_bit}; }
  WARPHEAP_FN constexpr scatter_page_word relisted() const { return {bits | listed_bit}; }

 private:
  static constexpr std::uint32_t field = (1u << 9) - 1;
  static constexpr int units_shift = 9;
  static constexpr std::uint32_t listed_bit = 1u << 18;
  static constexpr int state_shift = 19;
};

}  // namespace warpheap::detail
