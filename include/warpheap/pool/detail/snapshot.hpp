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

// What one character of a picture covers, in bytes of each state.
struct picture_cell {
  std::uint64_t live = 0;
  std::uint64_t free = 0;

  char mark() const {
    if (live == 0) return free == 0 ? ' ' : '.';
    return free == 0 ? '#' : '+';
  }
};

}  // namespace pool_detail

template <segment_engine Engine>
std::vector<segment_view> basic_pool<Engine>::sorted_segments() const {
  std::vector<segment_view> segments;
  {
    const host_lock lock(mutex_);
    engine_.for_each([&](const segment_view& each) { segments.push_back(each); });
  }
  std::sort(segments.begin(), segments.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  return segments;
}

template <segment_engine Engine>
std::string basic_pool<Engine>::snapshot() const {
  char base_text[32];
  std::snprintf(base_text, sizeof base_text, "0x%llx", static_cast<unsigned long long>(begin_));
  std::string text = "{\"base\": \"" + std::string(base_text) +
                     "\", \"reserved_bytes\": " + std::to_string(end_ - begin_) +
                     ", \"granule_bytes\": " + std::to_string(granule_bytes()) + ", \"segments\": [";
  const char* separator = "";
  for (const segment_view& each : sorted_segments()) {
    text += separator;
    text += "{\"offset\": " + std::to_string(each.begin - begin_) + ", \"bytes\": " + std::to_string(each.bytes) +
            ", \"state\": \"" + pool_detail::state_name(each.state) + "\"}";
    separator = ", ";
  }
  return text + "]}";
}

template <segment_engine Engine>
std::string basic_pool<Engine>::picture(std::uint64_t columns) const {
  if (columns == 0 || begin_ == end_) return {};
  std::vector<pool_detail::picture_cell> cells(columns);
  const std::uint64_t width = divide_up(end_ - begin_, columns);
  for (const segment_view& each : sorted_segments()) {
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
