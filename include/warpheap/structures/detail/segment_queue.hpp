// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/structures/segment_queue.hpp>

namespace warpheap {

template <class Kind>
WARPHEAP_COLD_FN void segment_queue<Kind>::open(lane_mask group, batch_ring::batch newest) const {
  using enum memory_order;
  using enum thread_scope;
  const std::uint32_t fresh = kind_.open(group, state_);
  if (is_leader(group)) {
    std::uint32_t places = state_.places.demand(newest);
    if (fresh != 0) {
      const segment_name name = segment_name::unpack(fresh);
      places = segment_capacity(name.size);
      segment_header& header = kind_.segments().header(name.id);
      header.number = state_.places.next_number(newest);
      header.count = places;
      state_.last = fresh;
      // Releases the segment's header and its place in the order of segments.
      atomic_view{state_.opened}.store(state_.opened + 1, release, device);
    }
    state_.places.publish(newest, fresh, places, places);
  }
  sync(group);
}

template <class Kind>
template <class OpenAnew>
WARPHEAP_FN bool segment_queue<Kind>::push(lane_mask group, std::uint32_t value, OpenAnew open_anew) const {
  batch_ring& places = state_.places;
  return places.take(group, open_anew, [&](lane_mask served, batch_ring::place mine) {
    const auto segment = static_cast<std::uint32_t>(mine.what);
    if (segment != 0) kind_.segments().entry(segment_name::unpack(segment).id, mine.index) = value;
    sync(served);
    if (is_leader(served)) places.leave(mine.in, static_cast<std::uint32_t>(group_size(served)));
    return segment != 0;
  });
}

template <class Kind>
WARPHEAP_FN bool segment_queue<Kind>::has_entries() const {
  using enum memory_order;
  using enum thread_scope;
  return atomic_view{state_.opened}.load(relaxed, device) != atomic_view{state_.adopted}.load(relaxed, device);
}

// A look while others use the queue may find a name that is no longer one, in storage that became something else. So
// names are checked before they are followed, and counts are never believed beyond what a segment can have.
template <class Kind>
template <class Exists>
WARPHEAP_FN auto segment_queue<Kind>::look(std::uint64_t chunks, Exists exists_in_chunks) const -> contents {
  using enum memory_order;
  using enum thread_scope;
  const auto exists = [&](segment_name segment) {
    if constexpr (requires { state_.reserve; }) return exists_in_chunks(segment);
    return true;
  };
  const auto chunks_of = [&](segment_name segment) -> std::uint64_t {
    const std::uint32_t all = speculative_load(kind_.segments().header(segment.id).chunks);
    return all < segment_header::most_chunks ? all : segment_header::most_chunks;
  };
  contents found{0, 0};
  const auto unread = static_cast<std::int32_t>(atomic_view{state_.opened}.load(relaxed, device) -
                                                atomic_view{state_.adopted}.load(relaxed, device));
  const std::uint64_t most = kind_.most_segments(state_, chunks);
  segment_name segment{};
  for (std::int32_t i = 0; i < unread && static_cast<std::uint64_t>(i) < most; ++i) {
    segment = kind_.following(state_, static_cast<std::uint32_t>(i), segment);
    if (!exists(segment)) break;
    const std::uint32_t count = speculative_load(kind_.segments().header(segment.id).count);
    found.entries += count < segment_capacity(segment.size) ? count : segment_capacity(segment.size);
    found.chunks += chunks_of(segment);
  }
  // Nobody has drawn the last places of the open segment.
  if (unread > 0 && state_.places.what(state_.places.newest()) != 0) {
    const std::int32_t balance = state_.places.balance();
    const std::uint64_t undrawn = balance < 0 ? 0 : static_cast<std::uint64_t>(balance);
    found.entries -= undrawn < found.entries ? undrawn : found.entries;
  }
  if constexpr (requires { state_.reserve; }) {
    for (std::uint32_t& kept : state_.reserve) {
      const std::uint32_t name = atomic_view{kept}.load(relaxed, device);
      if (name != 0 && exists(segment_name::unpack(name))) found.chunks += chunks_of(segment_name::unpack(name));
    }
  }
  return found;
}

// Adopts the oldest segment when it seems to be the open one: ends that where it is filled to. The adopter becomes the
// opener for it, by a draw that reaches beyond any batch, and the rest of the draw is places that are nowhere.
template <class Kind>
WARPHEAP_FN segment_name segment_queue<Kind>::adopt_last(std::uint32_t number) const {
  batch_ring& places = state_.places;
  for (;;) {
    const std::uint32_t ticket = places.draw(batch_ring::all);
    batch_ring::batch found = places.newest();
    for (; batch_ring::distance(ticket, found.end()) < 0; found = places.newest()) places.await_newer(found);
    found = places.holding(found, ticket);
    const auto rest = static_cast<std::uint32_t>(batch_ring::distance(ticket, found.end()));
    if (rest >= batch_ring::all) {  // an opener without room gave all waiting threads places that are nowhere
      places.pass(found, batch_ring::all);
      continue;
    }
    // The places up to the end of the batch are ours, and the first one after it is: so the caller is the opener.
    if (rest != 0) {
      kind_.segments().header(segment_name::unpack(state_.last).id).count -= rest;
      places.pass(found, rest);
    }
    const segment_name oldest = kind_.take_oldest(state_, number);
    if (oldest.packed() == state_.last) state_.last = 0;
    places.publish(found, 0, batch_ring::all - rest, 0);
    return oldest;
  }
}

template <class Kind>
WARPHEAP_COLD_FN adopted_segment segment_queue<Kind>::adopt() const {
  using enum memory_order;
  using enum thread_scope;
  const atomic_view adopted{state_.adopted};
  const atomic_view hint{state_.size_hint};
  const std::uint32_t number = adopted.load(relaxed, device);  // ours alone
  // Acquires what the opener wrote of the segments. If a later one was opened the oldest is full.
  const std::uint32_t unread = atomic_view{state_.opened}.load(acquire, device) - number;
  if (unread == 0) return {};
  const segment_name oldest = unread == 1 ? adopt_last(number) : kind_.take_oldest(state_, number);
  const segment_header* const header = &kind_.segments().header(oldest.id);
  // Acquires the entries. Each missing one belongs to a thread that has its place and runs.
  state_.places.await_finished(header->number);
  const std::uint32_t count = header->count;
  // A segment that stayed mostly empty was too large.
  const std::uint32_t size = hint.load(relaxed, device);
  if (size != 0 && count < segment_capacity(oldest.size) / 8) hint.store(size - 1, relaxed, device);
  adopted.store(number + 1, release, device);
  return {oldest, count};
}

}  // namespace warpheap
