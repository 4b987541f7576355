// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>
#include <warpheap/pool/pool.hpp>

namespace warpheap {

namespace pool_detail {

inline const char* state_name(segment_state state) {
  switch (state) {
    case segment_state::live: return "live";
    case segment_state::free: return "free";
    case segment_state::absent: return "absent";
    default: return "unused";
  }
}

inline std::string hexadecimal(std::uint64_t number) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(number));
  return text;
}

// What one character of a picture covers, in bytes of each state.
struct picture_cell {
  std::uint64_t live = 0;
  std::uint64_t free = 0;

  char mark() const {
    if (live == 0) return free == 0 ? ' ' : '.';
    return free == 0 ? '#' : '+';
  }
};

// A segment as a snapshot tells of it.
struct told_segment {
  std::uint64_t begin;
  std::uint64_t bytes;
  const char* state;
  std::string more;  // further members, with a comma before each
};

// One JSON object of a pool that hands out `[begin, end)`.
inline std::string tell_segments(std::uint64_t begin, std::uint64_t end, std::uint64_t granule,
                                 const std::vector<told_segment>& segments) {
  std::string text = "{\"base\": \"" + hexadecimal(begin) + "\", \"reserved_bytes\": " + std::to_string(end - begin) +
                     ", \"granule_bytes\": " + std::to_string(granule) + ", \"segments\": [";
  const char* separator = "";
  for (const told_segment& each : segments) {
    text += separator;
    text += "{\"offset\": " + std::to_string(each.begin - begin) + ", \"bytes\": " + std::to_string(each.bytes) +
            ", \"state\": \"" + each.state + "\"" + each.more + "}";
    separator = ", ";
  }
  return text + "]}";
}

}  // namespace pool_detail

template <segment_engine Engine>
std::vector<segment_view> basic_pool<Engine>::segments() const {
  std::vector<segment_view> all;
  {
    const host_lock lock(mutex_);
    engine_.for_each([&](const segment_view& each) { all.push_back(each); });
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  return all;
}

template <segment_engine Engine>
std::string basic_pool<Engine>::snapshot() const {
  std::vector<pool_detail::told_segment> all;
  for (const segment_view& each : segments()) {
    all.push_back({each.begin, each.bytes, pool_detail::state_name(each.state), ""});
  }
  return pool_detail::tell_segments(begin_, end_, granule_bytes(), all);
}

template <segment_engine Engine>
std::string basic_pool<Engine>::picture(std::uint64_t columns) const {
  if (columns == 0 || begin_ == end_) return {};
  std::vector<pool_detail::picture_cell> cells(columns);
  const std::uint64_t width = divide_up(end_ - begin_, columns);
  for (const segment_view& each : segments()) {
    const std::uint64_t end = each.begin - begin_ + each.bytes;
    for (std::uint64_t at = each.begin - begin_; at < end;) {
      const std::uint64_t cell = at / width;
      const std::uint64_t until = std::min(end, (cell + 1) * width);
      if (each.state == segment_state::live) cells[cell].live += until - at;
      if (each.state == segment_state::free) cells[cell].free += until - at;
      at = until;
    }
  }
  std::string marks;
  for (const auto& cell : cells) marks += cell.mark();
  return marks;
}

}  // namespace warpheap
