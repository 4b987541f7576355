// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>

namespace warpheap {

/// The state of one line of the heap, 32 pages of 16 bytes, in one word: a bit for each page that is taken, and above
/// them a bit for each page that a block begins with.
///
/// Invariant: a page that a block begins with is taken. A block is the page that it begins with and the taken pages
/// after it up to the next free page or the next begin, in the next lines too if it reaches the end of its line. So a
/// word tells where blocks begin, how long they are, and what is free, at one moment. No size is kept elsewhere.
///
/// A block of several lines begins with a line. Its lines are taken from the first on and given back from the last on.
/// So a line that begins with a page of such a block always follows a line of it, and the owner of a block that ends
/// with its line never takes the next line for its own.
///
/// Functions of plain words; a thread changes a line by one atomic operation on it.
struct line_word {
  static constexpr std::uint32_t pages = 32;                       ///< pages of a line
  static constexpr std::uint32_t page_bytes = 16;                  ///< bytes of a page
  static constexpr std::uint32_t line_bytes = pages * page_bytes;  ///< bytes of a line

  /// The pages that are taken.
  WARPHEAP_FN static std::uint32_t taken(std::uint64_t word) { return split(word).low; }
  /// The pages that blocks begin with.
  WARPHEAP_FN static std::uint32_t begins(std::uint64_t word) { return split(word).high; }
  /// A word of these two.
  WARPHEAP_FN static constexpr std::uint64_t make(std::uint32_t taken, std::uint32_t begins) {
    return taken | std::uint64_t{begins} << 32;
  }

  /// The pages `[first, first + count)` of a line; `count` from 1 to 32.
  WARPHEAP_FN static constexpr std::uint32_t run(std::uint32_t first, std::uint32_t count) {
    return low_bits(static_cast<int>(count)) << first;
  }

  /// The pages at which a block of `size` pages can begin: multiples of `size` from which on `size` pages of the line
  /// are free. That each size has places of its own keeps what a line holds of it the same, whatever came and went.
  WARPHEAP_FN static std::uint32_t places(std::uint64_t word, std::uint32_t size) {
    std::uint32_t free = ~taken(word);
    for (std::uint32_t have = 1; have < size;) {  // not a spin: doubles
      const std::uint32_t step = size - have < have ? size - have : have;
      free &= free >> step;  // what enters at the top is 0: a block ends within its line
      have += step;
    }
    return free & multiples(size);
  }

  /// Those of `sizes`, bit n for a block of n + 1 pages, for which the line has a place.
  WARPHEAP_FN static std::uint32_t sizes_that_fit(std::uint64_t word, std::uint32_t sizes) {
    std::uint32_t fit = 0;
    sizes &= low_bits(popcount(~taken(word)));  // no block has more pages than are free
    for (; sizes != 0; sizes &= sizes - 1) {    // not a spin: a size a turn
      const int size = lowest_bit(sizes);
      if (places(word, static_cast<std::uint32_t>(size) + 1) != 0) fit |= 1u << size;
    }
    return fit;
  }

  /// The pages of the blocks of `size` pages that begin at `begins`.
  WARPHEAP_FN static constexpr std::uint32_t extent(std::uint32_t begins, std::uint32_t size) {
    for (std::uint32_t have = 1; have < size;) {  // not a spin: doubles
      const std::uint32_t step = size - have < have ? size - have : have;
      begins |= begins << step;
      have += step;
    }
    return begins;
  }

  /// The number of pages of a block that lie in this line, from page `first` on. `first` is where the block begins, or
  /// 0 in a line that the block goes on in.
  WARPHEAP_FN static std::uint32_t length(std::uint64_t word, std::uint32_t first) {
    const std::uint32_t ends = (~taken(word) | begins(word)) & ~run(0, first + 1);
    return (ends == 0 ? pages : static_cast<std::uint32_t>(lowest_bit(ends))) - first;
  }

  /// True if a block that fills the line before to its end goes on in this one.
  WARPHEAP_FN static bool goes_on(std::uint64_t word) { return (taken(word) & ~begins(word) & 1) != 0; }

 private:
  WARPHEAP_FN static constexpr std::uint32_t multiples(std::uint32_t size) {
    std::uint32_t mask = 1;
    for (std::uint32_t have = size; have < pages; have *= 2) mask |= mask << have;  // not a spin: doubles
    return mask;
  }
};

}  // namespace warpheap
