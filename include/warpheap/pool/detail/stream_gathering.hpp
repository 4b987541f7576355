// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <vector>
#include <warpheap/pool/detail/joined_stretch.hpp>
#include <warpheap/pool/stream_pool.hpp>

// Free memory of streams goes to the common pool.
//
// Invariant: before a shard's memory is in the common pool, the shard shows a mark that its stream reaches after all
// work that used the memory.

namespace warpheap {

// True if `own`, whose lock is held, shows a mark that covers what it has free; its memory may then be handed over. False
// for a stream that is being captured, where a mark would become a part of the graph.
template <stream_order Streams, segment_engine Engine>
bool basic_stream_pool<Streams, Engine>::show_mark(shard& own) {
  if (own.is_shared) {
    if (streams_.is_capturing(own.name)) return false;
    record_mark(own);
  }
  // A thread's own stream that took nothing back used none of this: there is no mark then.
  own.has_mark = own.mark != nullptr;
  return true;
}

// Gives all that a stream has free to the common pool, after its mark.
template <stream_order Streams, segment_engine Engine>
void basic_stream_pool<Streams, Engine>::gather(shard& from) {
  const host_lock lock(from.mutex);
  gather_locked(from);
}
template <stream_order Streams, segment_engine Engine>
void basic_stream_pool<Streams, Engine>::gather_locked(shard& from) {
  from.moved = 0;
  if (from.book->segments_in(segment_state::free) == 0) return;
  std::vector<segment_view> idle;
  from.book->for_each_free(pool_.granule_bytes(), [&](const segment_view& each) { idle.push_back(each); });
  if (show_mark(from)) hand_over(from, idle);
}

// Gives free segments of a shard to the common pool. A mark that covers them is shown already. If it throws, those that
// are left are still the shard's.
template <stream_order Streams, segment_engine Engine>
void basic_stream_pool<Streams, Engine>::hand_over(shard& from, const std::vector<segment_view>& idle) {
  for (const segment_view& each : idle) {
    auto part = isolate(each.begin, each.bytes);  // may throw; what follows does not
    from.book->drop(each.handle);
    while (part != spans_.end() && part->first < each.begin + each.bytes) {
      pool_.deallocate(reinterpret_cast<void*>(part->first));
      part = spans_.erase(part);
    }
  }
}

template <stream_order Streams, segment_engine Engine>
void basic_stream_pool<Streams, Engine>::gather_all() {
  ++gatherings_;
  gather_deferred();
  for (shard* each : all_shards()) gather(*each);
}

// Puts together, for a request that no book can hold, one stretch that several books have: streams give the common pool
// what they have of it, after their marks. What is free elsewhere stays where it is, since small requests would break
// long stretches if all small ones lay in the common pool. False if there is no such stretch; nothing has changed then,
// except that deferred blocks may have been given on.
template <stream_order Streams, segment_engine Engine>
bool basic_stream_pool<Streams, Engine>::gather_for(std::uint64_t bytes, std::uint64_t alignment) {
  gather_deferred();
  std::vector<shard*> all = all_shards();
  std::erase_if(all, [&](const shard* each) { return each->is_shared && streams_.is_capturing(each->name); });
  std::sort(all.begin(), all.end(), std::less<>{});  // the order in which all who hold several locks take them
  std::vector<host_lock> locks;
  locks.reserve(all.size());
  for (shard* each : all) locks.emplace_back(each->mutex);

  std::vector<pool_detail::idle_part> parts;
  for (const segment_view& each : pool_.segments()) {
    if (each.state != segment_state::live) parts.push_back({each, pool_detail::common_book});
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto note = [&](const segment_view& each) { parts.push_back({each, i + 1}); };
    all[i]->book->for_each_free(pool_.granule_bytes(), note);
  }
  auto stretch = pool_detail::joined_stretch(parts, bytes, alignment, false);
  if (stretch.empty()) stretch = pool_detail::joined_stretch(parts, bytes, alignment, true);
  if (stretch.empty()) return false;
  ++gatherings_;
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::vector<segment_view> idle;
    for (const pool_detail::idle_part& each : stretch) {
      if (each.book == i + 1) idle.push_back(each.where);
    }
    if (!idle.empty() && show_mark(*all[i])) hand_over(*all[i], idle);
  }
  return true;
}

// Cuts spans so that one begins and one ends with the given part of a segment; returns the first in it. (There may be
// several, since spans that were cut stay so.) If it throws, spans may be cut and nothing else has changed.
template <stream_order Streams, segment_engine Engine>
auto basic_stream_pool<Streams, Engine>::isolate(std::uint64_t begin, std::uint64_t bytes) ->
    typename span_map::iterator {
  const std::uint64_t end = begin + bytes;
  auto first = std::prev(spans_.upper_bound(begin));
  if (first->first != begin) first = cut(first, begin);
  const auto last = std::prev(spans_.lower_bound(end));
  if (last->first + last->second.bytes != end) cut(last, end);
  return first;
}
template <stream_order Streams, segment_engine Engine>
auto basic_stream_pool<Streams, Engine>::cut(typename span_map::iterator whole, std::uint64_t at) ->
    typename span_map::iterator {
  const std::uint64_t first = at - whole->first;
  const auto rest = spans_.emplace(at, span{whole->second.bytes - first, whole->second.owner}).first;
  try {
    pool_.split(reinterpret_cast<void*>(whole->first), first);
  } catch (...) {
    spans_.erase(rest);
    throw;
  }
  whole->second.bytes = first;
  return rest;
}

}  // namespace warpheap
