// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>

namespace warpheap {

/// A bulk semaphore whose units have numbers. Threads draw tickets by one addition; batches of units are published for
/// ranges of tickets, in order; and whoever holds the first ticket that no batch covers publishes the next.
///
/// The bulk semaphore of the papers (Gelado & Garland 2019) counts units that are available, expected and reserved.
/// Here the last ticket and the end of the newest batch say all three: tickets below the end have units, the holder of
/// the ticket at the end is expected to bring a batch, and the tickets beyond it are reserved, in order of arrival. A
/// ticket also tells *which* unit is meant, so nothing else has to be counted to find it, and no draw is ever in vain
/// or undone. What a batch is the user says by 52 bits of its own; a batch can also tell its holders that there is
/// nothing.
///
/// Tickets count modulo 2^28. Those that are drawn and not resolved lie within 8 batches, each of at most 2^23 units
/// and the draws of 270,336 resident threads (2^18.05): less than the 2^27 that a comparison can tell apart.
///
/// Invariant: the newest batch's end is the first ticket without a unit, and only the holder of that ticket changes it.
/// A batch's slot is used again, eight batches later, only when all of its units are `finish`ed.
class batch_ring {
 public:
  static constexpr std::uint32_t slots = 8;                 ///< batches that can be in use at once
  static constexpr std::uint32_t largest_batch = 1u << 22;  ///< units of a batch at most
  /// A draw that reaches beyond each batch, for a thread that wants all that is left of one.
  static constexpr std::uint32_t all = 1u << 23;

  /// A batch: tickets [end - size, end), modulo 2^28.
  struct batch {
    std::uint64_t word;  ///< turn, size and end, from the top
    /// The first ticket after it.
    WARPHEAP_FN std::uint32_t end() const { return static_cast<std::uint32_t>(word) & ticket_mask; }
    /// Its units.
    WARPHEAP_FN std::uint32_t size() const { return static_cast<std::uint32_t>(word >> 28) & 0xffffff; }
    /// Its number in the order of batches, modulo 2^12.
    WARPHEAP_FN std::uint32_t turn() const { return static_cast<std::uint32_t>(word >> 52); }
    /// Its first ticket.
    WARPHEAP_FN std::uint32_t begin() const { return (end() - size()) & ticket_mask; }
  };

  /// Where a lane's unit is.
  struct place {
    batch in;             ///< the batch that it belongs to
    std::uint32_t index;  ///< counted from the batch's first unit
    std::uint64_t what;   ///< what the batch is
  };

  /// Draws `count` tickets in a row and returns the first. One lane, for its group.
  WARPHEAP_FN std::uint32_t draw(std::uint32_t count) {
    return atomic_view{front_}.fetch_add(count, memory_order::relaxed, thread_scope::device) & ticket_mask;
  }

  /// Draws `all` tickets if each ticket drawn before has a unit: the caller then has all undrawn units of the batch
  /// `newest` and is to publish the next, which begins with the rest of its draw. One lane.
  WARPHEAP_FN bool try_draw_all(batch& newest, std::uint32_t& ticket);

  /// Draws a ticket for each lane of `group`, finds their units, and returns what `use` returns (not void). Collective.
  ///
  /// Lanes that get units of the same batch call `use(served, place)` together, `served` set to them; it ends with
  /// `finish`, `leave` or `pass` for all their units, and waits for no thread that waits for this batch. Where no batch
  /// covers the tickets, `take` waits for one that others have to publish; where it is for this group to do, it calls
  /// `publish(group, newest)` in the lanes that have no unit yet. Acquires what the publisher released.
  ///
  /// Forward progress: no lane waits, nor publishes, while another lane of `group` has a unit that is not finished.
  /// Groups of one warp that come together take one at a time (`one_group_at_a_time`), for the same reason.
  template <class Publish, class Use>
  WARPHEAP_FN auto take(lane_mask group, Publish publish, Use use) {
    std::uint32_t ticket = 0;
    batch found{0};
    // Asked for together, since each answer is as long in coming. Nothing orders the draw before the look: a batch that
    // was the newest a little earlier holds our ticket for good, or ends before it; and if it ends right before, it
    // still is the newest, for only the caller can publish after it.
    if (is_leader(group)) {
      ticket = draw(static_cast<std::uint32_t>(group_size(group)));
      found = newest();
    }
    const std::uint64_t seen = word_of(static_cast<std::uint32_t>(lane_index()));
    return serve(group, shuffle(group, ticket, leader(group)), found, seen, publish, use);
  }
  /// As `take`, for tickets that are drawn: those from `ticket` on, one for each lane of `group` in lane order.
  template <class Publish, class Use>
  WARPHEAP_FN auto resolve(lane_mask group, std::uint32_t ticket, Publish publish, Use use) {
    batch found{0};
    if (is_leader(group)) found = newest();
    const std::uint64_t seen = word_of(static_cast<std::uint32_t>(lane_index()));
    return serve(group, ticket, found, seen, publish, use);
  }

  /// The newest batch. Acquires.
  WARPHEAP_FN batch newest() const {
    return {atomic_view{const_cast<std::uint64_t&>(newest_)}.load(memory_order::acquire, thread_scope::device)};
  }
  /// Waits until there is a newer batch than `seen`; its publisher runs.
  WARPHEAP_FN void await_newer(batch seen) const;
  /// Tickets from `from` to `to`; negative if `to` comes before `from`.
  WARPHEAP_FN static std::int32_t distance(std::uint32_t from, std::uint32_t to) {
    return static_cast<std::int32_t>((to - from) << 4) >> 4;
  }
  /// Tickets drawn beyond the batch `newest`. At least, when others draw.
  WARPHEAP_FN std::uint32_t demand(batch newest) const { return (front() - newest.end()) & ticket_mask; }
  /// Units of the newest batch that nobody has drawn or, below zero, tickets that wait for a batch. A hint while others
  /// draw.
  WARPHEAP_FN std::int32_t balance() const { return distance(front(), newest().end()); }

  /// What the batch is, as its publisher said. For holders of a unit that is not finished.
  WARPHEAP_FN std::uint64_t what(batch of) const { return word_of(of.turn()) & what_mask; }

  /// Publishes a batch of `size` units after `newest`, of which `open` are for others to finish; `what` is below 2^52.
  /// Only the holder of the first ticket without a unit. Waits for holders of units of the batch eight before.
  /// Releases.
  WARPHEAP_FN void publish(batch newest, std::uint64_t what, std::uint32_t size, std::uint32_t open);

  /// Says that `count` units of `of` are done with; true if no unit of the batch is left. Releases the caller's
  /// accesses to the caller that gets true, which acquires them. One lane, after a `sync` of the lanes that had the
  /// units.
  WARPHEAP_FN bool finish(batch of, std::uint32_t count) {
    return atomic_view{open_[of.turn() % slots].units}.fetch_sub(count, memory_order::acq_rel, thread_scope::device) ==
           count;
  }
  /// Says that `count` units of `of` are done with, as `finish` does, for a caller that has no use for the answer.
  WARPHEAP_FN void leave(batch of, std::uint32_t count) {
    atomic_view{open_[of.turn() % slots].units}.fetch_sub(count, memory_order::release, thread_scope::device);
  }
  /// Says that `count` units of `of` are done with, none of which the caller touched: orders nothing.
  WARPHEAP_FN void pass(batch of, std::uint32_t count) {
    atomic_view{open_[of.turn() % slots].units}.fetch_sub(count, memory_order::relaxed, thread_scope::device);
  }
  /// The number of the batch that will be published after `newest`. For its publisher.
  WARPHEAP_FN std::uint32_t next_number(batch newest) const {
    const std::uint32_t& number = number_[newest.turn() % slots];
    return 1 + atomic_view{const_cast<std::uint32_t&>(number)}.load(memory_order::relaxed, thread_scope::device);
  }
  /// Waits until all units of the batch with that number are finished. Acquires what was released.
  WARPHEAP_FN void await_finished(std::uint32_t number) const;
  /// Waits until all units of all batches are finished. Only the holder of the first ticket without a unit; acquires
  /// what was released.
  WARPHEAP_FN void await_all_finished() const;
  /// The batch that holds `ticket`, `newest` or one before it. For holders of the ticket.
  WARPHEAP_FN batch holding(batch newest, std::uint32_t ticket) const {
    while (distance(newest.begin(), ticket) < 0) {  // not a spin: each turn goes one batch back, eight at most
      const std::uint64_t& span = span_[(newest.turn() - 1) % slots];
      newest.word = atomic_view{const_cast<std::uint64_t&>(span)}.load(memory_order::relaxed, thread_scope::device);
    }
    return newest;
  }

 private:
  static constexpr std::uint32_t ticket_mask = (1u << 28) - 1;
  static constexpr int what_bits = 52;  // as those below a batch's turn
  static constexpr std::uint64_t what_mask = (std::uint64_t{1} << what_bits) - 1;

  WARPHEAP_FN std::uint64_t word_of(std::uint32_t turn) const {
    return atomic_view{const_cast<std::uint64_t&>(what_[turn % slots])}.load(memory_order::relaxed,
                                                                             thread_scope::device);
  }
  template <class Publish, class Use>
  WARPHEAP_FN auto serve(lane_mask group, std::uint32_t ticket, batch found, std::uint64_t seen, Publish publish,
                         Use use) -> decltype(use(group, place{}));

  WARPHEAP_FN std::uint32_t front() const {
    return atomic_view{const_cast<std::uint32_t&>(front_)}.load(memory_order::relaxed, thread_scope::device);
  }

  struct alignas(128) open_units {
    std::uint32_t units;  // of a batch, that are not finished
  };

  // All groups go to the first three and to one of the last, and a line serves one at a time: so each has its own.
  alignas(128) std::uint32_t front_;        // tickets drawn
  alignas(128) std::uint64_t newest_;       // the newest batch
  alignas(128) std::uint64_t what_[slots];  // what the user said, below the batch's turn
  alignas(128) std::uint64_t span_[slots];  // the batches
  std::uint32_t number_[slots];             // their numbers, counted from 1
  open_units open_[slots];
};

}  // namespace warpheap

#include <warpheap/sync/detail/batch_ring.hpp>
