// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/sync/batch_ring.hpp>

namespace warpheap {

WARPHEAP_FN inline void batch_ring::await_newer(batch seen) const {
  const atomic_view newest{const_cast<std::uint64_t&>(newest_)};
  for (backoff wait; newest.load(memory_order::relaxed, thread_scope::device) == seen.word;) wait.pause();
}

WARPHEAP_FN inline bool batch_ring::try_draw_all(batch& found, std::uint32_t& ticket) {
  found = newest();
  const atomic_view front{front_};
  std::uint32_t drawn = front.load(memory_order::relaxed, thread_scope::device);
  ticket = drawn & ticket_mask;
  // As long as the first undrawn ticket has a unit or is the first without, nobody can publish behind this batch.
  if (distance(ticket, found.end()) < 0) return false;
  return front.compare_exchange(drawn, drawn + all, memory_order::relaxed, thread_scope::device);
}

template <class Publish>
WARPHEAP_FN auto batch_ring::resolve(lane_mask& group, std::uint32_t ticket, Publish publish) -> place {
  for (;;) {
    batch found{0};
    if (is_leader(group)) found = newest();
    found.word = shuffle(group, found.word, leader(group));
    sync(group);  // what the leader acquired holds for all
    const std::int32_t covered = distance(ticket, found.end());
    if (covered < 0) {
      if (is_leader(group)) await_newer(found);
      continue;
    }
    if (covered == 0) {
      // Ours is the first ticket without a unit. It was so whenever that batch was the newest, so nobody else came here,
      // and nobody can have published since.
      publish(group, found);
      continue;
    }
    // Our unit's batch keeps its slot until we finish it, and so do those behind it.
    found = holding(found, ticket);
    const std::int32_t here = distance(ticket, found.end());
    const std::int32_t rank = group_rank(group);
    const lane_mask rest = ballot(group, rank >= here);
    if (rank < here) {
      group &= ~rest;
      return {found, static_cast<std::uint32_t>(distance(found.begin(), ticket) + rank)};
    }
    group = rest;
    ticket = found.end();
  }
}

WARPHEAP_FN inline void batch_ring::await_finished(std::uint32_t number) const {
  using enum memory_order;
  using enum thread_scope;
  slot& of = const_cast<slot&>(slot_[number % slots]);
  for (backoff wait;; wait.pause()) {
    // A slot that holds a later batch was finished before: its publisher acquired that, and we acquire it from it.
    if (atomic_view{of.number}.load(acquire, device) != number) return;
    if (atomic_view{of.open}.load(acquire, device) == 0) return;
  }
}

WARPHEAP_FN inline void batch_ring::publish(batch newest, std::uint64_t what, std::uint32_t size, std::uint32_t open) {
  using enum memory_order;
  using enum thread_scope;
  const std::uint32_t number = next_number(newest);
  const std::uint64_t word =
      std::uint64_t{number & 0xfff} << 52 | std::uint64_t{size} << 28 | ((newest.end() + size) & ticket_mask);
  slot& into = slot_[number % slots];
  for (backoff wait; atomic_view{into.open}.load(acquire, device) != 0;) wait.pause();
  atomic_view{into.open}.store(open, relaxed, device);
  atomic_view{into.what}.store(what, relaxed, device);
  atomic_view{into.span}.store(word, relaxed, device);
  atomic_view{into.number}.store(number, release, device);
  atomic_view{newest_}.store(word, release, device);
}

}  // namespace warpheap
