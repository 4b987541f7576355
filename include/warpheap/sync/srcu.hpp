// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>
#include <warpheap/sync/detail/srcu_word.hpp>
#include <warpheap/sync/spin_lock.hpp>

namespace warpheap {

/// A node of what `srcu` reclaims: make it a base or a member of the objects. It belongs to the caller until it is
/// retired, and then to `srcu` until it is reclaimed; readers never look at it.
struct srcu_node {
  srcu_node* next;  ///< for `srcu` alone
};

/// Sleepable read-copy-update: readers traverse a structure while others unlink objects from it, and what was unlinked
/// is reclaimed when no reader can hold it any more.
///
/// A reader enters, reads, and leaves; it waits for nobody. A writer unlinks an object, so that readers that enter from
/// then on do not find it, and retires it. That is the *conditional barrier* of the paper: if another thread is about
/// to start a grace period, it is left to that thread to reclaim the object, and the writer goes on at once; if not,
/// the writer becomes that thread, waits until all readers that may have the object have left, and reclaims all that
/// was left to it. So at most one thread waits for readers, one for its turn, and all others go on.
///
/// Any subset of lanes may call. A thread is in at most two read sections of one domain at a time. Between `enter` and
/// `leave` it must not wait for a writer: not retire, not synchronise, not take a lock that is held across those. Zero
/// bytes are a domain without readers. Writers keep each other out of the structure by means of their own, such as a
/// lock, which they should have given back before they retire.
///
/// Memory order: what a thread did before it retired an object, or called a barrier, happens before what readers do
/// that the grace period does not wait for; what a reader did before it left happens before the reclamation.
///
/// Gelado & Garland, Throughput-oriented GPU memory allocation, PPoPP 2019, section 4.2.1; McKenney, Sleepable
/// Read-Copy-Update, 2006. Where we differ, and the gap of the plain form: docs/design/srcu.md.
class srcu {
 public:
  /// Where a reader is counted; for `leave`.
  struct ticket {
    std::uint32_t side;  ///< of the counters
  };

  /// Begins a read section of the caller. Acquires what writers did before the grace periods that it does not hold up.
  WARPHEAP_FN ticket enter();
  /// Ends it. Releases the caller's accesses.
  WARPHEAP_FN void leave(ticket at);
  /// Begins a read section for all lanes of `group`, as one reader. Collective.
  WARPHEAP_FN ticket enter(lane_mask group);
  /// Ends what the same lanes entered together. Collective.
  WARPHEAP_FN void leave(lane_mask group, ticket at);

  /// Leaves `node`, whose object was unlinked, to be reclaimed by `reclaim(node)`. Returns false at once if another
  /// thread will do it; true if the caller was the one to wait, and reclaimed all that was left to it. One lane. All
  /// calls on one domain name the same kind of `reclaim`, which may be called by any of these threads, in any order; it
  /// may retire other nodes of other domains.
  template <class Reclaim>
  WARPHEAP_FN bool retire(srcu_node& node, Reclaim reclaim);

  /// The classical, full barrier: as `retire`, but waits for a grace period of its own, in turn after all others that
  /// wait. After it no reader can hold the object, and it is reclaimed, unless another thread took it on before and is
  /// just about to. One lane.
  template <class Reclaim>
  WARPHEAP_FN void retire_and_wait(srcu_node& node, Reclaim reclaim);

  /// Waits until all readers have left that were in a read section when it was called, and reclaims nothing. A grace
  /// period of another thread that begins after the call will do. One lane.
  WARPHEAP_FN void synchronise();

  /// The counts at one instant, exact while nobody enters, leaves or waits.
  struct counts {
    std::uint32_t readers;  ///< read sections that are open
    std::uint32_t epoch;    ///< grace periods that began, modulo 2^24
    bool pending;           ///< there are nodes that nobody took on yet
  };
  /// The counts now.
  WARPHEAP_FN counts count() const;

 private:
  using word = detail::srcu_word;

  WARPHEAP_FN srcu_node* take_pending();
  WARPHEAP_FN bool push(srcu_node& node);
  WARPHEAP_FN void grace_period();

  // Readers use the first line, writers the second, writers that wait for readers the third.
  alignas(128) std::uint64_t bits_;
  alignas(128) std::uint64_t pending_;  // the newest node that was retired; see detail/srcu.hpp
  alignas(128) spin_lock turn_;         // whose holder may begin a grace period
};

}  // namespace warpheap

#include <warpheap/sync/detail/srcu.hpp>
