// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/sync/srcu.hpp>

namespace warpheap {

// A grace period begins with an addition to the epoch, of a thread that holds `turn_`, and ends when that thread saw
// the side of the epoch before without readers.
//
// Invariant: a reader in its section is counted on the side that the epoch had at the very change of the word that
// counted it. So at most two epochs have readers, and when a grace period begins only the present one has: those who
// come later count on the other side, and each of them sees what was done before. Others can be counted on a side for a
// moment only: they found that the epoch was another one, read nothing, and count again.
//
// Invariant: `pending_` is a list of nodes, linked by `next`, with a mark in its lowest bit. While it has nodes it has
// the mark, and then a thread stands between its `push`, which found no mark, and its `take_pending`, which will take
// the whole list. All changes are read-modify-writes of the one word; so a thread that finds the mark knows that its
// node is taken, and the taker's grace period begins after that.
//
// Orders: all changes of the word of readers are read-modify-writes, so each release in it heads a sequence that goes
// through all later ones. Leaving releases, and the wait for readers acquires, so all readers' accesses come before the
// reclamation. The epoch's addition releases what the unlinker did (its own, or by the acquiring take of the list what
// others did), and entering acquires it.

WARPHEAP_FN inline srcu::ticket srcu::enter() {
  using enum memory_order;
  using enum thread_scope;
  const atomic_view bits{bits_};
  word seen{bits.load(relaxed, device)};
  for (;;) {  // not a spin: each turn means that a grace period began since the last
    const std::uint32_t side = seen.side();
    stop_point("srcu.enter.seen");
    seen.bits = bits.fetch_add(word::one_reader(side), acquire, device);
    if (seen.side() == side) return {side};
    // Nothing was read in between, so there is nothing to release.
    seen.bits = bits.fetch_sub(word::one_reader(side), relaxed, device);
  }
}

WARPHEAP_FN inline void srcu::leave(ticket at) {
  const word before{
      atomic_view{bits_}.fetch_sub(word::one_reader(at.side), memory_order::release, thread_scope::device)};
  invariant(before.readers(at.side) != 0, "srcu: left a read section that nobody entered");
  (void)before;
}

WARPHEAP_FN inline srcu::ticket srcu::enter(lane_mask group) {
  ticket at{};
  if (is_leader(group)) at = enter();
  sync(group);  // what the leader acquired, all did
  return {shuffle(group, at.side, leader(group))};
}

WARPHEAP_FN inline void srcu::leave(lane_mask group, ticket at) {
  sync(group);  // the leader releases what all did
  if (is_leader(group)) leave(at);
}

// Adds a node; true if the caller has to take the list.
WARPHEAP_FN inline bool srcu::push(srcu_node& node) {
  using enum memory_order;
  using enum thread_scope;
  static_assert(alignof(srcu_node) > 1, "the lowest bit of an address is the mark");
  const atomic_view pending{pending_};
  std::uint64_t seen = pending.load(relaxed, device);
  do {  // not a spin: each turn means that another thread's change came in between
    node.next = reinterpret_cast<srcu_node*>(seen & ~std::uint64_t{1});
    // Releases the unlinking to the taker. Nodes that were taken and came back do no harm: `next` is the newest node
    // all the same.
  } while (!pending.compare_exchange(seen, reinterpret_cast<std::uint64_t>(&node) | 1, release, device));
  return (seen & 1) == 0;
}

WARPHEAP_FN inline srcu_node* srcu::take_pending() {
  const std::uint64_t taken = atomic_view{pending_}.exchange(0, memory_order::acquire, thread_scope::device);
  return reinterpret_cast<srcu_node*>(taken & ~std::uint64_t{1});
}

// Begins one and waits for its end; only the holder of `turn_`. It ends: no reader that it waits for waits for a
// writer, and a reader counted on that side by mistake takes itself away at once.
WARPHEAP_FN inline void srcu::grace_period() {
  using enum memory_order;
  using enum thread_scope;
  const atomic_view bits{bits_};
  const word before{bits.fetch_add(word::one_epoch, acq_rel, device)};
  // The addition acquires, too: with nobody on that side it is the last look.
  if (before.readers(before.side()) == 0) return;
  for (backoff wait; word{bits.load(acquire, device)}.readers(before.side()) != 0;) wait.pause();
}

namespace detail {

template <class Reclaim>
WARPHEAP_FN void reclaim_all(srcu_node* taken, Reclaim reclaim) {
  while (taken != nullptr) {  // not a spin: each turn goes on along a list that nobody else has
    srcu_node& node = *taken;
    taken = node.next;
    reclaim(node);
  }
}

}  // namespace detail

template <class Reclaim>
WARPHEAP_FN bool srcu::retire(srcu_node& node, Reclaim reclaim) {
  if (!push(node)) return false;
  srcu_node* taken = nullptr;
  turn_.hold([&] {
    // Only now, so that threads that retire while this one waits for its turn need not wait for one of their own.
    taken = take_pending();
    // A writer that waited for a grace period before this one may have taken all nodes, this one's with them.
    if (taken != nullptr) grace_period();
  });
  detail::reclaim_all(taken, reclaim);
  return true;
}

template <class Reclaim>
WARPHEAP_FN void srcu::retire_and_wait(srcu_node& node, Reclaim reclaim) {
  push(node);
  srcu_node* taken = nullptr;
  turn_.hold([&] {
    taken = take_pending();
    grace_period();
  });
  detail::reclaim_all(taken, reclaim);
}

WARPHEAP_FN inline void srcu::synchronise() {
  // Adds nothing, and releases what we unlinked to the thread that begins the next grace period, if that is another.
  const word before{atomic_view{bits_}.fetch_add(std::uint64_t{0}, memory_order::acq_rel, thread_scope::device)};
  turn_.hold([&] {
    // One that began since the call has ended, for its thread had the lock. After 2^24 of them we would wait once more.
    const word now{atomic_view{bits_}.load(memory_order::relaxed, thread_scope::device)};
    if (now.epoch() == before.epoch()) grace_period();
  });
}

WARPHEAP_FN inline srcu::counts srcu::count() const {
  using enum memory_order;
  using enum thread_scope;
  const word now{atomic_view{const_cast<std::uint64_t&>(bits_)}.load(relaxed, device)};
  const std::uint64_t pending = atomic_view{const_cast<std::uint64_t&>(pending_)}.load(relaxed, device);
  return {now.readers(0) + now.readers(1), now.epoch(), pending != 0};
}

}  // namespace warpheap
