// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>
#include <warpheap/pool/stream_pool.hpp>

namespace warpheap {

template <stream_order Streams, segment_engine Engine>
std::string basic_stream_pool<Streams, Engine>::snapshot() const {
  using pool_detail::hexadecimal;
  std::vector<pool_detail::told_segment> all;
  const auto tell = [&](const segment_view& each, const std::string& more) {
    all.push_back({each.begin, each.bytes, pool_detail::state_name(each.state), more});
  };
  const auto stream_member = [](std::uint64_t key) { return ", \"stream\": \"" + hexadecimal(key) + "\""; };
  const host_lock lock(common_);
  for (const segment_view& each : pool_.segments()) {
    if (each.state != segment_state::live) tell(each, "");  // live ones are spans
  }
  for (const shard* of : all_shards()) {
    const host_lock own(of->mutex);
    const std::string more = stream_member(of->key.value_or(0));
    of->book->for_each([&](const segment_view& each) { tell(each, more); });
  }
  if (orphans_ != nullptr) {
    orphans_->book->for_each([&](const segment_view& each) { tell(each, ""); });
  }
  for (const auto& [name, kept] : captures_) {
    const std::string capture =
        ", \"capture\": [" + std::to_string(name.first) + ", " + std::to_string(name.second) + "]";
    for (const auto& [key, of] : kept->shards) {
      of->book->for_each([&](const segment_view& each) { tell(each, stream_member(key) + capture); });
    }
  }
  for (const deferred_block& each : deferred_) {
    all.push_back({each.parts.front().key(), each.bytes, "deferred", ""});
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  const std::uint64_t begin = number(pool_.data());
  return pool_detail::tell_segments(begin, begin + pool_.reserved_bytes(), pool_.granule_bytes(), all);
}

}  // namespace warpheap
