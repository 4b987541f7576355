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
  // As long as the first undrawn ticket has a unit or is the first without, no thread can publish after this batch.
  if (distance(ticket, found.end()) < 0) return false;
  return front.compare_exchange(drawn, drawn + all, memory_order::relaxed, thread_scope::device);
}

// `found` is what the leader saw as the newest batch, `seen` the word of slot i in each lane whose number is i modulo
// their number, as of about the same time.
template <class Publish, class Use>
WARPHEAP_FN auto batch_ring::serve(lane_mask group, std::uint32_t ticket, batch found, std::uint64_t seen,
                                   Publish publish, Use use) -> decltype(use(group, place{})) {
  decltype(use(group, place{})) result{};
  const auto look_again = [&] {
    if (is_leader(group)) found = newest();
    // A word that the slot never has: of a turn of the next one.
    seen = std::uint64_t{(static_cast<std::uint32_t>(lane_index()) + 1) % slots} << what_bits;
  };
  for (;; look_again()) {
    found.word = shuffle(group, found.word, leader(group));
    sync(group);  // what the leader acquired holds for all
    const std::int32_t covered = distance(ticket, found.end());
    if (covered < 0) {
      if (is_leader(group)) await_newer(found);
      continue;
    }
    if (covered == 0) {
      // Ours is the first ticket without a unit. It was so whenever that batch was the newest, so nobody else came
      // here, and nobody can have published since.
      publish(group, found);
      continue;
    }
    // The caller's batch keeps its slot until the unit is finished, and so do the batches after it.
    found = holding(found, ticket);
    const std::int32_t here = distance(ticket, found.end());
    const std::int32_t rank = group_rank(group);
    const lane_mask rest = ballot(group, rank >= here);
    ticket = found.end();
    if (rank < here) {
      // The turn tells whether the word that was seen is this batch's. If not, it is now: it was written before the
      // batch was published, and stays until we finish.
      static_assert(slots == 8, "the mask has each eighth lane");
      const lane_mask served = group & ~rest;
      const lane_mask holders = served & (lane_mask{0x01010101} << found.turn() % slots);
      std::uint64_t word = holders != 0 ? shuffle(served, seen, lowest_bit(holders)) : 0;
      if (holders == 0 || word >> what_bits != found.turn()) word = word_of(found.turn());
      const auto index = static_cast<std::uint32_t>(static_cast<std::int32_t>(found.size()) - here + rank);
      result = use(served, place{found, index, word & what_mask});
    }
    // Where all are served, each has the same way out, and needs no vote before it.
    if (rest == 0) return result;
    // No lane leaves, nor looks again, while another one has its unit still to finish.
    reconverge(group);
    if ((rest & lane_bit()) == 0) return result;
    group = rest;
  }
}

WARPHEAP_FN inline void batch_ring::await_finished(std::uint32_t number) const {
  using enum memory_order;
  using enum thread_scope;
  const atomic_view of{const_cast<std::uint32_t&>(number_[number % slots])};
  const atomic_view open{const_cast<std::uint32_t&>(open_[number % slots].units)};
  for (backoff wait;; wait.pause()) {
    // A slot that holds a later batch was finished before: its publisher acquired that, and we acquire it from it.
    if (of.load(acquire, device) != number) return;
    if (open.load(acquire, device) == 0) return;
  }
}

WARPHEAP_FN inline void batch_ring::await_all_finished() const {
  for (const open_units& batch : open_) {
    const atomic_view open{const_cast<std::uint32_t&>(batch.units)};
    for (backoff wait; open.load(memory_order::acquire, thread_scope::device) != 0;) wait.pause();
  }
}

WARPHEAP_FN inline void batch_ring::publish(batch newest, std::uint64_t what, std::uint32_t size, std::uint32_t open) {
  using enum memory_order;
  using enum thread_scope;
  invariant(what <= what_mask, "batch_ring: a batch is told in 52 bits");
  const std::uint32_t number = next_number(newest);
  const std::uint64_t turn = std::uint64_t{number & 0xfff} << what_bits;
  const std::uint64_t word = turn | std::uint64_t{size} << 28 | ((newest.end() + size) & ticket_mask);
  const std::uint32_t into = number % slots;
  const atomic_view units{open_[into].units};
  for (backoff wait; units.load(acquire, device) != 0;) wait.pause();
  units.store(open, relaxed, device);
  atomic_view{what_[into]}.store(turn | what, relaxed, device);
  atomic_view{span_[into]}.store(word, relaxed, device);
  atomic_view{number_[into]}.store(number, release, device);
  atomic_view{newest_}.store(word, release, device);
}

}  // namespace warpheap
