// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <warpheap/pool.hpp>

namespace warpheap::test {

/// What an engine must agree with: a map of all segments by address, beside it a set of the free ones by size. It is
/// slow and plain, but takes no time with the number of segments, so that ten million steps end.
class plain_book {
 public:
  struct segment {
    std::uint64_t bytes;
    segment_state state;
  };
  using segments = std::map<std::uint64_t, segment>;

  void adopt(std::uint64_t begin, std::uint64_t bytes, segment_state state) { put(begin, bytes, state); }

  /// Gives `[begin, begin + bytes)`, which lies in one segment, a state; merges it unless that is live.
  void change(std::uint64_t begin, std::uint64_t bytes, segment_state state) {
    const auto [old_begin, old] = *holding(begin);
    take(old_begin);
    if (old_begin < begin) put(old_begin, begin - old_begin, old.state);
    if (begin + bytes < old_begin + old.bytes) put(begin + bytes, old_begin + old.bytes - begin - bytes, old.state);
    if (state != segment_state::live) {
      if (const auto next = all_.find(begin + bytes); next != all_.end() && next->second.state == state) {
        bytes += next->second.bytes;
        take(next->first);
      }
      const auto next = all_.lower_bound(begin);
      if (next != all_.begin()) {
        const auto [last_begin, last] = *std::prev(next);
        if (last.state == state && last_begin + last.bytes == begin) {
          take(last_begin);
          begin = last_begin;
          bytes += last.bytes;
        }
      }
    }
    put(begin, bytes, state);
  }

  /// The smallest segment that can hold a request, in bytes.
  std::optional<std::uint64_t> best(std::uint64_t bytes, std::uint64_t alignment) const {
    for (auto at = free_.lower_bound({bytes, 0}); at != free_.end(); ++at) {
      const auto [size, begin] = *at;
      if (align_up(begin, alignment) - begin + bytes <= size) return size;
    }
    return std::nullopt;
  }
  /// The smallest free segment of at least `bytes`.
  std::optional<std::uint64_t> smallest_from(std::uint64_t bytes) const { return best(bytes, 1); }

  segments::const_iterator holding(std::uint64_t address) const { return std::prev(all_.upper_bound(address)); }
  const segments& all() const { return all_; }

 private:
  void put(std::uint64_t begin, std::uint64_t bytes, segment_state state) {
    all_[begin] = {bytes, state};
    if (state == segment_state::free) free_.insert({bytes, begin});
  }
  void take(std::uint64_t begin) {
    const auto at = all_.find(begin);
    if (at->second.state == segment_state::free) free_.erase({at->second.bytes, begin});
    all_.erase(at);
  }

  segments all_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> free_;  // sizes and begins
};

}  // namespace warpheap::test
