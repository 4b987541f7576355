// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <span>
#include <vector>
#include <warpheap/pool/detail/joined_stretch.hpp>
#include <warpheap/pool/stream_pool.hpp>

// Free memory of streams goes to the common pool.
//
// Invariant: before a shard's memory is in the common pool, the shard shows a mark that its stream reaches after all
// work that used the memory.

namespace warpheap {

// True if `own`, whose lock is held, shows a mark that covers what it has free; its memory may then be handed over.
// False for a stream that is being captured, where a mark would become a part of the graph.
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

// All that is free or absent, outside of captures and of streams that are being captured, in the order of addresses,
// and the locks under which it stays so, as far as it is streams'.
template <stream_order Streams, segment_engine Engine>
auto basic_stream_pool<Streams, Engine>::look_at_idle() -> idle_memory {
  idle_memory idle;
  idle.shards = all_shards();
  bool leaves_memory = false;
  std::erase_if(idle.shards, [&](const shard* each) {
    if (!each->is_shared || !streams_.is_capturing(each->name)) return false;
    const host_lock lock(each->mutex);
    leaves_memory = leaves_memory || each->book->segments_in(segment_state::free) != 0;
    return true;
  });
  if (leaves_memory) ++partial_looks_;
  std::sort(idle.shards.begin(), idle.shards.end(), std::less<>{});  // the order in which all take several locks
  idle.locks.reserve(idle.shards.size());
  for (shard* each : idle.shards) idle.locks.emplace_back(each->mutex);
  for (const segment_view& each : pool_.segments()) {
    if (each.state != segment_state::live) idle.parts.push_back({each, pool_detail::common_book});
  }
  for (std::size_t i = 0; i < idle.shards.size(); ++i) {
    const auto note = [&](const segment_view& each) { idle.parts.push_back({each, i + 1}); };
    idle.shards[i]->book->for_each_free(pool_.granule_bytes(), note);
  }
  std::sort(idle.parts.begin(), idle.parts.end(),
            [](const auto& a, const auto& b) { return a.where.begin < b.where.begin; });
  return idle;
}

// A number that stays the same only while, in all books that `look_at_idle` sees, free and absent segments lose parts
// and gain none, and the limit stays. Each term of the sum only rises, so no two changes cancel. A look that left a
// stream's free memory out counts as a change, since no book tells when the stream's capture ends.
template <stream_order Streams, segment_engine Engine>
std::uint64_t basic_stream_pool<Streams, Engine>::changes() const {
  std::uint64_t sum = pool_.changes() + gains_of_forgotten_ + partial_looks_;
  for (const shard* each : all_shards()) {
    const host_lock lock(each->mutex);
    sum += each->book->gains;
  }
  return sum;
}

// Streams give the common pool those of the parts that are theirs, after their marks.
template <stream_order Streams, segment_engine Engine>
void basic_stream_pool<Streams, Engine>::hand_over(const idle_memory& idle,
                                                   std::span<const pool_detail::idle_part> parts) {
  ++gatherings_;
  std::vector<std::vector<segment_view>> of(idle.shards.size() + 1);
  for (const pool_detail::idle_part& each : parts) of[each.book].push_back(each.where);
  for (std::size_t i = 0; i < idle.shards.size(); ++i) {
    if (!of[i + 1].empty() && show_mark(*idle.shards[i])) hand_over(*idle.shards[i], of[i + 1]);
  }
}

// Puts together, for a request that no book can hold, a stretch that several books have. What is too small for it stays
// where it is, since small requests would break long stretches if all small ones lay in the common pool. With
// `takes_all` it takes all stretches over which the pool may grow, not one. False if there is no such stretch; nothing
// has changed then.
template <stream_order Streams, segment_engine Engine>
bool basic_stream_pool<Streams, Engine>::gather_for(std::uint64_t bytes, std::uint64_t alignment, std::uint64_t most,
                                                    bool takes_all) {
  const idle_memory idle = look_at_idle();
  auto parts = pool_detail::parts_to_join(idle.parts, bytes, alignment, most);
  if (parts.empty()) {
    parts = pool_detail::parts_to_grow_over(idle.parts, bytes, alignment, pool_.unused_bytes(), takes_all);
  }
  if (parts.empty()) return false;
  hand_over(idle, parts);
  return true;
}

// Gives idle memory back to the machine in whole pieces, as much as a request needs, so that the pool can grow by as
// much where enough addresses lie in a row. Waits for the work that used the memory, without the lock. False, with
// nothing changed, if all that is idle is too little for the limit, or no addresses in a row are enough.
template <stream_order Streams, segment_engine Engine>
bool basic_stream_pool<Streams, Engine>::free_pieces_for(host_lock& common, std::uint64_t bytes,
                                                         std::uint64_t alignment) {
  const std::uint64_t piece = pool_.piece_bytes();
  if (piece == 0) return false;
  const std::uint64_t excess = pool_.excess_bytes();
  // A request that begins within a piece needs a part of one more.
  const std::uint64_t wanted = excess + (divide_up(bytes, piece) + 1) * piece;
  {
    // Asked for first: what another thread commits meanwhile is counted twice, never left out.
    std::uint64_t there = pool_.unused_bytes();
    const bool is_limited = there < pool_.reserved_bytes();
    const idle_memory idle = look_at_idle();
    bool has_addresses = false;
    pool_detail::for_each_stretch(
        idle.parts, true, [&](const pool_detail::stretch& each) { has_addresses |= each.holds(bytes, alignment); });
    if (!has_addresses) return false;
    const auto pieces = [&](const pool_detail::stretch& of) {
      return pool_.bytes_in_pieces(of.begin, of.end - of.begin);
    };
    std::vector<pool_detail::stretch> found;
    pool_detail::for_each_stretch(idle.parts, false, [&](const pool_detail::stretch& each) {
      if (pieces(each) == 0) return;
      found.push_back(each);
      there += std::min(pieces(each), ~there);
    });
    if (there < excess + bytes) return false;
    // Where nothing is idle, growth may still find what another thread has just given back, if only the limit was in
    // its way.
    if (found.empty()) return is_limited;
    // The longest first, so that few streams lose memory.
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.free > b.free; });
    std::vector<pool_detail::idle_part> parts;
    std::uint64_t chosen = 0;
    for (const pool_detail::stretch& each : found) {
      if (chosen >= wanted) break;
      parts.insert(parts.end(), each.parts.begin(), each.parts.end());
      chosen += pieces(each);
    }
    hand_over(idle, parts);
  }
  trim_after_marks(common, [&] {
    const std::uint64_t has = pool_.statistics().committed_bytes;
    return has - std::min(has, wanted);
  });
  return true;
}

// Trims the common pool when no mark is shown. Others may put memory together while marks are awaited, after marks of
// their own, so it looks again, four times at most; then it gives nothing back.
template <stream_order Streams, segment_engine Engine>
template <class Keep>
std::uint64_t basic_stream_pool<Streams, Engine>::trim_after_marks(host_lock& common, Keep keep_bytes) {
  constexpr int passes = 4;
  for (int pass = 0; pass < passes; ++pass) {
    if (unreached_marks().empty()) return pool_.trim(keep_bytes());
    await_all_marks(common);
  }
  return 0;
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
