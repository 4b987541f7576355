// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/structures/index_ring.hpp>

namespace warpheap {

// Orders. Counts and tickets are relaxed: which thread gets which ticket follows from the order of the changes of one
// word, and slots pass values on. A push releases what its thread did together with the value, and the pop that reads
// the value acquires it. A pop empties its slot relaxed: the next push of the slot writes the same word, and needs
// nothing that the popping thread did.

// Claims `wanted` units of `from`, or as many as there are, draws a ticket for each, and only then adds as many to
// `to`: so the counterpart of a ticket drawn by a claim of those is drawn already. One lane.
WARPHEAP_FN inline auto index_ring::draw_row(std::uint32_t wanted, const unit_count& from, std::uint32_t& tickets,
                                             const unit_count& to) -> draw {
  draw taken{0, from.claim(wanted)};
  if (taken.count != 0) {
    taken.first = atomic_view{tickets}.fetch_add(taken.count, memory_order::relaxed, thread_scope::device);
    to.add(taken.count);
  }
  return taken;
}

// A ticket for each lane of `group`, as far as there are units. Collective.
WARPHEAP_FN inline auto index_ring::draw_tickets(lane_mask group, const unit_count& from, std::uint32_t& tickets,
                                                 const unit_count& to) -> draw {
  draw taken{0, 0};
  if (is_leader(group)) taken = draw_row(static_cast<std::uint32_t>(group_size(group)), from, tickets, to);
  return {shuffle(group, taken.first, leader(group)), shuffle(group, taken.count, leader(group))};
}

// The lanes of a draw leave by a vote, across which a compiler moves nothing. So no lane stands at the reconvergence
// barrier after the loop, where it waits for all lanes of its warp, with its slot still to be used.
WARPHEAP_FN inline bool index_ring::push(lane_mask group, std::uint32_t value) const {
  const draw taken = draw_tickets(group, room(), state_->pushes, values());
  const auto rank = static_cast<std::uint32_t>(group_rank(group));
  const lane_mask drawn = ballot(group, rank < taken.count);
  if (rank >= taken.count) return false;
  const std::uint32_t ticket = taken.first + rank;
  const std::uint32_t turn = turn_of(ticket);
  const atomic_view place = slot_of(ticket);
  stop_point("index_ring.push.drawn");
  bool done = false;
  for (backoff wait;; wait.pause()) {  // for the pop of the lap before, whose ticket is taken
    if (!done && static_cast<std::uint32_t>(place.load(memory_order::relaxed, thread_scope::device) >> 32) == turn) {
      place.store(std::uint64_t{next_turn(turn)} << 32 | value, memory_order::release, thread_scope::device);
      done = true;
    }
    if (all(drawn, done)) return true;
  }
}

// The pops that it waits for hold tickets that are older than its first one, since no row is longer than the queue: so
// none of them waits for a push of the row. One loop for all values: lanes of a warp that push rows beside each other
// come together in each turn, and none waits there for what another has yet to store.
template <class ValueOf>
WARPHEAP_FN std::uint32_t index_ring::push_row(std::uint32_t count, ValueOf value_of) const {
  const draw taken = draw_row(count, room(), state_->pushes, values());
  fence(memory_order::release, thread_scope::device);  // one for all values
  std::uint32_t done = 0;
  for (backoff wait; done != taken.count;) {
    const std::uint32_t turn = turn_of(taken.first + done);
    const atomic_view place = slot_of(taken.first + done);
    if (static_cast<std::uint32_t>(place.load(memory_order::relaxed, thread_scope::device) >> 32) != turn) {
      wait.pause();  // for the pop of the lap before, whose ticket is taken
      continue;
    }
    wait.end();
    place.store(std::uint64_t{next_turn(turn)} << 32 | value_of(done), after_release_fence, thread_scope::device);
    ++done;
  }
  return taken.count;
}

WARPHEAP_FN inline bool index_ring::pop(lane_mask group, std::uint32_t& value) const {
  const draw taken = draw_tickets(group, values(), state_->pops, room());
  const auto rank = static_cast<std::uint32_t>(group_rank(group));
  const lane_mask drawn = ballot(group, rank < taken.count);
  if (rank >= taken.count) return false;
  const std::uint32_t ticket = taken.first + rank;
  const std::uint32_t turn = next_turn(turn_of(ticket));
  const atomic_view place = slot_of(ticket);
  stop_point("index_ring.pop.drawn");
  bool done = false;
  for (backoff wait;; wait.pause()) {  // for the push, whose ticket is taken
    if (!done) {
      const std::uint64_t seen = place.load(memory_order::acquire, thread_scope::device);
      done = static_cast<std::uint32_t>(seen >> 32) == turn;
      if (done) {
        value = static_cast<std::uint32_t>(seen);
        place.store(std::uint64_t{next_turn(turn)} << 32, memory_order::relaxed, thread_scope::device);
      }
    }
    if (all(drawn, done)) return true;
  }
}

}  // namespace warpheap
