// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>
#include <warpheap/platform.hpp>
#include <warpheap/pool/engine.hpp>

namespace warpheap::pool_detail {

// A free or absent segment, and which of several books has it.
struct idle_part {
  segment_view where;
  std::size_t book;
};
inline constexpr std::size_t common_book = 0;  // the only one that has absent segments, and whose free ones are at hand
inline bool lies_before(const idle_part& a, const idle_part& b) { return a.where.begin < b.where.begin; }

// Of all stretches that the parts form across books, and that hold the request, the one to put together: with free
// parts alone the smallest; with absent ones, too, the one that has the most free memory, so that the least must be
// committed. Sorts the parts by address and returns a range of them; an empty one if no stretch with a part outside the
// common book holds the request.
inline std::span<const idle_part> joined_stretch(std::vector<idle_part>& parts, std::uint64_t bytes,
                                                 std::uint64_t alignment, bool with_absent) {
  std::sort(parts.begin(), parts.end(), lies_before);
  const auto is_wanted = [&](const idle_part& each) { return with_absent || each.where.state == segment_state::free; };
  std::span<const idle_part> best;
  std::uint64_t best_free = 0;
  for (auto first = parts.begin(); first != parts.end();) {
    std::uint64_t end = first->where.begin;
    std::uint64_t free = 0;
    bool joins_books = false;
    auto last = first;
    for (; last != parts.end() && last->where.begin == end && is_wanted(*last); ++last) {
      end += last->where.bytes;
      if (last->where.state == segment_state::free) free += last->where.bytes;
      joins_books |= last->book != common_book;
    }
    const std::uint64_t begin = align_up(first->where.begin, alignment);
    const bool holds = joins_books && begin <= end && end - begin >= bytes;
    if (holds && (best.empty() || (with_absent ? free > best_free : free < best_free))) {
      best = {first, last};
      best_free = free;
    }
    first = std::max(last, first + 1);
  }
  return best;
}

// The most bytes that a request can have in a row of free and absent addresses, whichever book has them. Sorts the
// parts by address.
inline std::uint64_t longest_stretch(std::vector<idle_part>& parts, std::uint64_t alignment) {
  std::sort(parts.begin(), parts.end(), lies_before);
  std::uint64_t longest = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  for (const idle_part& each : parts) {
    if (each.where.begin != end) begin = align_up(each.where.begin, alignment);
    end = each.where.begin + each.where.bytes;
    longest = std::max(longest, end - std::min(begin, end));
  }
  return longest;
}

}  // namespace warpheap::pool_detail
