// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/structures/index_ring.hpp>

namespace warpheap {

// Orders. Tickets are relaxed: the word alone decides which thread gets which, and slots pass values on. A push
// releases what its thread did together with the value, and the pop that reads the value acquires it. A pop empties its
// slot relaxed: the next push of the slot writes the same word, and needs nothing that the popping thread did.

// Takes a ticket for each lane of `group`, or as many as `room(word)` allows. `one` is what a ticket adds to the word.
// Collective.
template <class Room>
WARPHEAP_FN auto index_ring::take_tickets(lane_mask group, std::uint64_t one, Room room) const -> draw {
  draw taken{0, 0};
  if (is_leader(group)) {
    const auto wanted = static_cast<std::uint32_t>(group_size(group));
    const atomic_view tickets{state_->tickets};
    taken.before = load_tickets();
    for (;;) {  // not a spin: each turn means that another call took its tickets
      const std::uint32_t there = room(taken.before);
      taken.count = wanted < there ? wanted : there;
      if (taken.count == 0) break;
      // The lower half must not carry into the upper one, so the halves are added apart.
      const std::uint64_t added = one * taken.count;
      const std::uint64_t upper = (taken.before >> 32) + (added >> 32);
      const std::uint64_t then = upper << 32 | static_cast<std::uint32_t>(taken.before + added);
      if (tickets.compare_exchange(taken.before, then, memory_order::relaxed, thread_scope::device)) break;
    }
  }
  return {shuffle(group, taken.before, leader(group)), shuffle(group, taken.count, leader(group))};
}

WARPHEAP_FN inline bool index_ring::push(lane_mask group, std::uint32_t value) const {
  const draw taken = take_tickets(group, std::uint64_t{1} << 32,
                                  [this](std::uint64_t word) { return capacity_ - (pushes(word) - pops(word)); });
  const auto rank = static_cast<std::uint32_t>(group_rank(group));
  if (rank >= taken.count) return false;
  const std::uint32_t ticket = pushes(taken.before) + rank;
  const std::uint32_t turn = turn_of(ticket);
  const atomic_view place = slot_of(ticket);
  stop_point("index_ring.push.drawn");
  for (backoff wait;; wait.pause()) {  // for the pop of the lap before, whose ticket is taken
    if (static_cast<std::uint32_t>(place.load(memory_order::relaxed, thread_scope::device) >> 32) != turn) continue;
    place.store(std::uint64_t{next_turn(turn)} << 32 | value, memory_order::release, thread_scope::device);
    return true;
  }
}

WARPHEAP_FN inline bool index_ring::pop(lane_mask group, std::uint32_t& value) const {
  const draw taken = take_tickets(group, 1, [](std::uint64_t word) { return pushes(word) - pops(word); });
  const auto rank = static_cast<std::uint32_t>(group_rank(group));
  if (rank >= taken.count) return false;
  const std::uint32_t ticket = pops(taken.before) + rank;
  const std::uint32_t turn = next_turn(turn_of(ticket));
  const atomic_view place = slot_of(ticket);
  stop_point("index_ring.pop.drawn");
  for (backoff wait;; wait.pause()) {  // for the push, whose ticket is taken
    const std::uint64_t seen = place.load(memory_order::acquire, thread_scope::device);
    if (static_cast<std::uint32_t>(seen >> 32) != turn) continue;
    value = static_cast<std::uint32_t>(seen);
    place.store(std::uint64_t{next_turn(turn)} << 32, memory_order::relaxed, thread_scope::device);
    return true;
  }
}

}  // namespace warpheap
