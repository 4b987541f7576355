// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <vector>
#include <warpheap/pool.hpp>

namespace warpheap::test {

/// What an engine must agree with: a map of segments that is walked for everything.
class plain_book {
 public:
  struct segment {
    std::uint64_t bytes;
    segment_state state;
  };
  using segments = std::map<std::uint64_t, segment>;

  void adopt(std::uint64_t begin, std::uint64_t bytes, segment_state state) { all_[begin] = {bytes, state}; }

  /// Gives `[begin, begin + bytes)`, which lies in one segment, a state; merges it unless that is live.
  void change(std::uint64_t begin, std::uint64_t bytes, segment_state state) {
    auto at = std::prev(all_.upper_bound(begin));
    const auto [old_begin, old] = *at;
    all_.erase(at);
    if (old_begin < begin) all_[old_begin] = {begin - old_begin, old.state};
    if (begin + bytes < old_begin + old.bytes) {
      all_[begin + bytes] = {old_begin + old.bytes - begin - bytes, old.state};
    }
    at = all_.insert_or_assign(begin, segment{bytes, state}).first;
    if (state == segment_state::live) return;
    if (const auto next = std::next(at); next != all_.end() && joins(at, next)) {
      at->second.bytes += next->second.bytes;
      all_.erase(next);
    }
    if (at != all_.begin() && joins(std::prev(at), at)) {
      std::prev(at)->second.bytes += at->second.bytes;
      all_.erase(at);
    }
  }

  /// Sizes that free segments offer at this alignment: what is left of each behind the bytes that must be skipped.
  /// The smallest segment that can hold a request, in bytes.
  std::optional<std::uint64_t> best(std::uint64_t bytes, std::uint64_t alignment) const {
    std::optional<std::uint64_t> found;
    for (const auto& [begin, each] : all_) {
      const std::uint64_t skipped = align_up(begin, alignment) - begin;
      const bool holds = each.state == segment_state::free && skipped + bytes <= each.bytes;
      if (holds && (!found || each.bytes < *found)) found = each.bytes;
    }
    return found;
  }
  /// The smallest free segment of at least `bytes`.
  std::optional<std::uint64_t> smallest_from(std::uint64_t bytes) const { return best(bytes, 1); }

  segments::const_iterator holding(std::uint64_t address) const { return std::prev(all_.upper_bound(address)); }
  const segments& all() const { return all_; }
  std::uint64_t bytes_in(segment_state state) const {
    std::uint64_t bytes = 0;
    for (const auto& [begin, each] : all_) bytes += each.state == state ? each.bytes : 0;
    return bytes;
  }
  std::vector<std::uint64_t> in_state(segment_state state) const {
    std::vector<std::uint64_t> begins;
    for (const auto& [begin, each] : all_) {
      if (each.state == state) begins.push_back(begin);
    }
    return begins;
  }

 private:
  static bool joins(segments::const_iterator first, segments::const_iterator second) {
    return first->second.state == second->second.state && first->first + first->second.bytes == second->first;
  }
  segments all_;
};

}  // namespace warpheap::test
