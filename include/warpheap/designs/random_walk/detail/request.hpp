// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/random_walk/detail/line_word.hpp>
#include <warpheap/platform/device.hpp>

namespace warpheap::detail {

/// What a request of `random_walk` asks for. Plain numbers; no memory is read.
///
/// A block of up to a line of pages has a place in each line, at multiples of its size. A block of more pages, or with
/// an alignment above a line, begins with a line: line `phase`, or each `stride` lines after it.
struct walk_request {
  static constexpr std::uint64_t largest_bytes = std::uint64_t{1} << 20;  ///< largest request
  static constexpr std::uint32_t most_lines = static_cast<std::uint32_t>(largest_bytes / line_word::line_bytes);
  static constexpr std::uint32_t indices = line_word::pages + most_lines - 1;  ///< values of `index`

  std::uint32_t pages;   ///< pages of the block
  std::uint32_t lines;   ///< lines that it lies in
  std::uint32_t stride;  ///< lines between two places of a block that begins with a line
  std::uint32_t phase;   ///< line of the first such place
  bool noted;            ///< true if its refusals are noted: its places do not depend on an alignment

  /// The request of `pages` pages within a line.
  WARPHEAP_FN static constexpr walk_request within_line(std::uint32_t pages) { return {pages, 1, 1, 0, true}; }
  /// The request of `bytes` bytes at a multiple of `alignment` in a heap of `count` lines whose first byte is at
  /// address `begin`. False, and `wanted` is unspecified, if no such heap has a place for it.
  WARPHEAP_FN static bool make(std::uint64_t alignment, std::uint64_t bytes, std::uint64_t begin, std::uint32_t count,
                               walk_request& wanted) {
    if (bytes > largest_bytes) return false;
    const auto pages = static_cast<std::uint32_t>(divide_up(bytes == 0 ? 1 : bytes, line_word::page_bytes));
    const auto lines = static_cast<std::uint32_t>(divide_up(pages, line_word::pages));
    if (alignment <= line_word::line_bytes) {
      // A block within a line begins at a multiple of its size, which is made a multiple of the alignment.
      const std::uint64_t aligned = alignment <= line_word::page_bytes ? 1 : alignment / line_word::page_bytes;
      wanted = {lines == 1 ? static_cast<std::uint32_t>(align_up(pages, aligned)) : pages, lines, lines, 0, true};
      return lines <= count;
    }
    const std::uint64_t phase = (align_up(begin, alignment) - begin) / line_word::line_bytes;
    const std::uint64_t stride = align_up(lines, alignment / line_word::line_bytes);
    if (phase >= count || lines > count - phase) return false;
    wanted = {pages, lines, static_cast<std::uint32_t>(stride < count ? stride : count),
              static_cast<std::uint32_t>(phase), false};
    return true;
  }

  /// True if the block lies within a line, at a multiple of its size.
  WARPHEAP_FN constexpr bool is_within_line() const { return lines == 1 && noted; }
  /// Index of the note of its refusals: one for each size within a line, then one for each number of lines.
  WARPHEAP_FN constexpr std::uint32_t index() const { return lines == 1 ? pages - 1 : line_word::pages + lines - 2; }
  /// Pages above the least number that has the same index.
  WARPHEAP_FN constexpr std::uint32_t above_least() const { return lines == 1 ? 0 : (pages - 1) % line_word::pages; }

  /// Number of places in a heap of `count` lines that `make` was told.
  WARPHEAP_FN constexpr std::uint32_t places(std::uint32_t count) const { return (count - phase - lines) / stride + 1; }
  /// Line that begins place `place`.
  WARPHEAP_FN constexpr std::uint32_t line_of(std::uint32_t place) const { return phase + place * stride; }
  /// What line `nth` of the block is: its pages, and in the first line a begin.
  WARPHEAP_FN constexpr std::uint64_t word_of(std::uint32_t nth) const {
    const std::uint32_t left = pages - nth * line_word::pages;
    return line_word::make(line_word::run(0, left < line_word::pages ? left : line_word::pages), nth == 0 ? 1 : 0);
  }

  /// The request of lane `source`. Collective over `group`.
  WARPHEAP_FN walk_request from(lane_mask group, int source) const {
    return {shuffle(group, pages, source), shuffle(group, lines, source), shuffle(group, stride, source),
            shuffle(group, phase, source), shuffle(group, noted, source)};
  }
  WARPHEAP_FN friend constexpr bool operator==(const walk_request&, const walk_request&) = default;
};

/// Where a lane has its block.
struct walk_place {
  std::uint32_t line;  ///< unspecified if `served` is false, as the page
  std::uint32_t page;
  bool served;
};

}  // namespace warpheap::detail
