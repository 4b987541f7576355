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

// Parts whose addresses lie in a row, with no more of them on either side.
struct stretch {
  std::span<const idle_part> parts = {};
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t free = 0;  // bytes with memory
  bool is_at_hand = true;  // all of it is the common book's

  bool holds(std::uint64_t bytes, std::uint64_t alignment) const {
    const std::uint64_t first = align_up(begin, alignment);
    return first <= end && end - first >= bytes;
  }
};

// Calls `visit(stretch)` for each stretch of parts that are sorted by address: of free parts, or of absent ones, too.
template <class Visit>
void for_each_stretch(std::span<const idle_part> parts, bool with_absent, Visit visit) {
  for (std::size_t first = 0; first < parts.size();) {
    stretch found{.begin = parts[first].where.begin, .end = parts[first].where.begin};
    std::size_t last = first;
    for (; last < parts.size() && parts[last].where.begin == found.end; ++last) {
      const idle_part& each = parts[last];
      const bool is_free = each.where.state == segment_state::free;
      if (!is_free && !with_absent) break;
      found.end += each.where.bytes;
      found.free += is_free ? each.where.bytes : 0;
      found.is_at_hand &= each.book == common_book;
    }
    found.parts = parts.subspan(first, last - first);
    if (last != first) visit(found);
    first = std::max(last, first + 1);
  }
}

// Parts of free stretches that hold the request and that several books have: of the smallest, and of the next ones up
// to `most` bytes in all, since other small requests follow a small one, and each look takes time with all parts.
inline std::vector<idle_part> parts_to_join(std::span<const idle_part> parts, std::uint64_t bytes,
                                            std::uint64_t alignment, std::uint64_t most) {
  std::vector<stretch> found;
  for_each_stretch(parts, false, [&](const stretch& each) {
    if (!each.is_at_hand && each.holds(bytes, alignment)) found.push_back(each);
  });
  std::sort(found.begin(), found.end(), [](const stretch& a, const stretch& b) { return a.free < b.free; });
  std::vector<idle_part> chosen;
  std::uint64_t total = 0;
  for (const stretch& each : found) {
    if (total != 0 && total + each.free > most) break;
    chosen.insert(chosen.end(), each.parts.begin(), each.parts.end());
    total += each.free;
  }
  return chosen;
}

// Parts of the stretch, of free and absent addresses, that holds the request and has the most memory, unless that and
// `more` bytes are too little; with `takes_all`, parts of each such stretch. None if no such stretch has a part that is
// not at hand.
inline std::vector<idle_part> parts_to_grow_over(std::span<const idle_part> parts, std::uint64_t bytes,
                                                 std::uint64_t alignment, std::uint64_t more, bool takes_all) {
  stretch best;
  std::vector<idle_part> all;
  for_each_stretch(parts, true, [&](const stretch& each) {
    const bool is_enough = each.free >= bytes || bytes - each.free <= more;
    if (each.is_at_hand || !is_enough || !each.holds(bytes, alignment)) return;
    if (each.free > best.free) best = each;
    if (takes_all) all.insert(all.end(), each.parts.begin(), each.parts.end());
  });
  return takes_all ? all : std::vector<idle_part>(best.parts.begin(), best.parts.end());
}

}  // namespace warpheap::pool_detail
