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
  const batch_ring::place mine = places.take(group, open_anew);
  const auto segment = static_cast<std::uint32_t>(mine.what);
  if (segment != 0) kind_.segments().entry(segment_name::unpack(segment).id, mine.index) = value;
  sync(group);
  if (is_leader(group)) places.leave(mine.in, static_cast<std::uint32_t>(group_size(group)));
  return segment != 0;
}

template <class Kind>
WARPHEAP_FN bool segment_queue<Kind>::has_entries() const {
  using enum memory_order;
  using enum thread_scope;
  return atomic_view{state_.opened}.load(relaxed, device) != atomic_view{state_.adopted}.load(relaxed, device);
}

template <class Kind>
WARPHEAP_FN std::uint64_t segment_queue<Kind>::size() const {
  const std::uint32_t behind = state_.opened - state_.adopted;
  if (behind == 0) return 0;
  std::uint64_t total = 0;
  for (std::uint32_t i = 0; i < behind; ++i) total += kind_.segments().header(kind_.name(state_, i).id).count;
  // Nobody has drawn the last places of the open segment.
  return total - (state_.places.what(state_.places.newest()) != 0 ? state_.places.balance() : 0);
}

template <class Kind>
WARPHEAP_FN std::uint64_t segment_queue<Kind>::chunks() const {
  std::uint64_t total = 0;
  const std::uint32_t behind = state_.opened - state_.adopted;
  for (std::uint32_t i = 0; i < behind; ++i) total += kind_.segments().header(kind_.name(state_, i).id).chunks;
  if constexpr (requires { state_.reserve; }) {
    for (const std::uint32_t kept : state_.reserve) {
      if (kept != 0) total += kind_.segments().header(segment_name::unpack(kept).id).chunks;
    }
  }
  return total;
}

// Adopts the oldest segment when it seems to be the open one: ends that where it is filled to. The adopter becomes the
// opener for it, by a draw that reaches behind any batch, and the rest of the draw is places that are nowhere.
template <class Kind>
WARPHEAP_FN segment_name segment_queue<Kind>::adopt_last(std::uint32_t number) const {
  batch_ring& places = state_.places;
  for (;;) {
    const std::uint32_t ticket = places.draw(batch_ring::all);
    batch_ring::batch found = places.newest();
    for (; batch_ring::distance(ticket, found.end()) < 0; found = places.newest()) places.await_newer(found);
    found = places.holding(found, ticket);
    const auto rest = static_cast<std::uint32_t>(batch_ring::distance(ticket, found.end()));
    if (rest >= batch_ring::all) {  // an opener without room gave all who waited places that are nowhere
      places.pass(found, batch_ring::all);
      continue;
    }
    // The places up to the end of the batch are ours, and the first one behind it is: so we are the opener.
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
  const std::uint32_t behind = atomic_view{state_.opened}.load(acquire, device) - number;
  if (behind == 0) return {};
  const segment_name oldest = behind == 1 ? adopt_last(number) : kind_.take_oldest(state_, number);
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
