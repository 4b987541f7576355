// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>
#include <warpheap/sync.hpp>

namespace warpheap {

/// A bounded queue of 32-bit values, first in, first out, that any threads push to and pop from.
///
/// A view: the owner provides the state and the slots, `slot_bytes(capacity)` bytes of device memory, all zero at
/// first; copies of the view are the same queue. A collective call draws for all lanes of its group at once.
///
/// A push claims room, draws as many tickets of pushes, and adds as many values for others to claim; a pop claims
/// values, draws tickets of pops, and adds room. All of that are additions, which do not fail, so threads that meet at
/// one queue need not repeat their work. Claims are exact (`unit_count`), so a refused call knows that the queue was
/// full or empty. Ticket t is for slot t modulo the capacity. The slot's turn tells what the slot waits for: the push
/// of a lap, or the pop of that lap.
///
/// Invariant: a slot with turn 2k is empty and waits for the push of lap k; with turn 2k + 1 it holds the value of lap
/// k and waits for the pop of lap k. Only the holder of the ticket that a slot waits for changes the slot. A ticket is
/// drawn only after its older counterpart: the one of a pop after that of the push, and the one of a push after that of
/// the pop a lap before.
///
/// A call waits only for threads that hold tickets already and are between taking a ticket and using the slot. A pop
/// waits for the push of its ticket, and a push for the pop of the ticket one lap before. So each waits for older
/// tickets only, and no cycle exists. A lane uses its slot before it leaves the loop in which the lanes of its group
/// wait, so nobody waits for a lane that waits for its group.
///
/// Memory order: what a thread did before it pushed a value happens before what the thread does that pops it.
///
/// The queues of pages of XMalloc (Huang et al., CIT 2010) and faimGraph (Winter et al., SC 2018) are of this kind. The
/// original of XMalloc loses a value and hands out another one twice.
class index_ring {
 public:
  static constexpr std::uint32_t least_capacity = 2;                      ///< smallest capacity
  static constexpr std::uint32_t most_capacity = std::uint32_t{1} << 31;  ///< largest capacity

  /// What pops claim and draw, and what pushes do. Zero is an empty queue.
  struct state {
    alignas(128) std::uint64_t values;  ///< of a `unit_count`: values that pops may claim
    std::uint32_t pops;                 ///< the next ticket of a pop
    alignas(128) std::uint64_t room;    ///< of a `unit_count`: places that pushes may claim, the capacity at first
    std::uint32_t pushes;               ///< the next ticket of a push
  };
  /// A place for a value: the turn in the upper half, the value in the lower.
  using slot = std::uint64_t;

  /// Bytes of the slots of a queue of `capacity` values.
  WARPHEAP_FN static constexpr std::uint64_t slot_bytes(std::uint32_t capacity) {
    return std::uint64_t{capacity} * sizeof(slot);
  }

  /// The queue whose word is at `of` and whose `capacity` slots are at `slots`. The capacity is a power of two, from
  /// `least_capacity` to `most_capacity`.
  WARPHEAP_FN index_ring(state* of, slot* slots, std::uint32_t capacity)
      : state_(of), slots_(slots), capacity_(capacity) {}

  /// Puts the value of each lane of `group` in, in the order of the lanes. Returns false to the lanes whose values
  /// found no room, which are the highest: the queue was full at one moment of the call, with the values of the others.
  /// Collective; any lanes.
  WARPHEAP_FN bool push(lane_mask group, std::uint32_t value) const;

  /// Puts `count` values in, 1 or more: `value_of(i)` for each i from 0 on, in this order. Returns how many found room,
  /// which are the first ones: if they are fewer, the queue was full at one moment of the call, with them. One lane.
  template <class ValueOf>
  WARPHEAP_FN std::uint32_t push_row(std::uint32_t count, ValueOf value_of) const;

  /// Takes the oldest values out, one for each lane of `group`, in the order of the lanes. Returns false to the lanes
  /// that get none, which are the highest: the queue was empty at one moment of the call. `value` is unchanged then.
  /// Collective; any lanes.
  WARPHEAP_FN bool pop(lane_mask group, std::uint32_t& value) const;

  /// Values in the queue, those included that a push or a pop is just moving. Exact if no pop is under way; else there
  /// may be more.
  WARPHEAP_FN std::uint32_t size() const { return static_cast<std::uint32_t>(values().units()); }
  /// As `size`, of the queue whose state was copied to `of`.
  WARPHEAP_FN static std::uint32_t size_of(const state& of) {
    return static_cast<std::uint32_t>(unit_count::units_of(of.values));
  }
  WARPHEAP_FN std::uint32_t capacity() const { return capacity_; }  ///< most values at once

 private:
  WARPHEAP_FN unit_count values() const { return unit_count{state_->values}; }
  WARPHEAP_FN unit_count room() const { return unit_count{state_->room, capacity_}; }
  WARPHEAP_FN atomic_view<slot> slot_of(std::uint32_t ticket) const {
    return atomic_view{slots_[ticket & (capacity_ - 1)]};
  }
  // Twice the lap of a ticket. Laps count modulo 2^32 / capacity, as tickets count modulo 2^32.
  WARPHEAP_FN std::uint32_t turn_of(std::uint32_t ticket) const {
    return 2 * (ticket >> static_cast<std::uint32_t>(highest_bit(std::uint64_t{capacity_})));
  }
  WARPHEAP_FN std::uint32_t next_turn(std::uint32_t turn) const {
    // After the last lap comes lap 0. With two slots the turns fill 32 bits.
    const std::uint32_t last = static_cast<std::uint32_t>((std::uint64_t{2} << 32) / capacity_ - 1);
    return (turn + 1) & last;
  }

  // Tickets in a row: `count` of them, from `first` on.
  struct draw {
    std::uint32_t first;
    std::uint32_t count;
  };
  WARPHEAP_FN static draw draw_row(std::uint32_t wanted, const unit_count& from, std::uint32_t& tickets,
                                   const unit_count& to);
  WARPHEAP_FN static draw draw_tickets(lane_mask group, const unit_count& from, std::uint32_t& tickets,
                                       const unit_count& to);

  state* state_;
  slot* slots_;
  std::uint32_t capacity_;
};

}  // namespace warpheap

#include <warpheap/structures/detail/index_ring.hpp>
