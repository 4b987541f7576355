// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/warp_slab/detail/forecast.hpp>
#include <warpheap/designs/warp_slab/detail/search.hpp>
#include <warpheap/designs/warp_slab/size_classes.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>
#include <warpheap/sync.hpp>

namespace warpheap::detail {

/// Extends a class that has no free block and gets none by tickets: by more slabs, or it refuses its requests.
///
/// The lock's holder closes the class's ledger before it looks for units, and opens it when it has added slabs. So
/// while the holder searches for proof, no ticket's slab is in the making.
///
/// One group at a time extends a class, for all that wait; a lane of the group holds the heap's lock. Attempts are
/// numbered when they begin. A refusal rests on a sweep over the slabs of all classes, by the refusing attempt or by an
/// earlier one that began after the refusing lane had begun to wait. It is published with the sweep's number (`swept`).
/// A waiting group takes a refusal for its own if the sweep began after the group had begun to wait: then the moment at
/// which no block was free lies within its call. Waiting groups help the holder to take slabs back.
///
/// That moment lies in the last search for blocks of the class. If no units for a slab are free after the search, and
/// meanwhile no thread took any, none were free during it.
///
/// Orders: `generation` and `refused` are released by the holder and acquired by those that wait, so slabs, or their
/// absence, are visible. An attempt's number is drawn by an acquire, and a wait begins with a release, so an attempt
/// sees what precedes the waits that it refuses.
class slab_extension {
 public:
  using classes = slab_classes;

  WARPHEAP_FN explicit slab_extension(const arena& from) : search_(from) {}
  WARPHEAP_FN const slab_search& search() const { return search_; }
  WARPHEAP_FN const slab_rounds& rounds() const { return search_.rounds(); }
  WARPHEAP_FN const slab_growth& growth() const { return search_.growth(); }
  WARPHEAP_FN const slab_maker& maker() const { return search_.maker(); }
  WARPHEAP_FN const slab_runs& runs() const { return search_.runs(); }
  WARPHEAP_FN const slab_reclamation& reclamation() const { return search_.reclamation(); }
  WARPHEAP_FN const slab_sharing& sharing() const { return search_.sharing(); }
  WARPHEAP_FN const slab_claims& claims() const { return search_.claims(); }
  WARPHEAP_FN const slab_hints& hints() const { return search_.hints(); }
  WARPHEAP_FN const slab_store& store() const { return search_.store(); }

  /// What became of a lane's wait for its class.
  enum class outcome : std::uint32_t { waits, holds, extended, served, refused };

  /// Extends class `c` of each lane that is `exhausted`: that is, its search found no block. `generation` is the value
  /// that the class's counter had before that search. Lanes that are not exhausted help to extend what others want.
  /// Returns to exhausted lanes what became of their class: `extended`, `refused`, or `served`. The latter means that
  /// no slab could be added, but some lane of the class has a block in `found`, or a lane that looks again may find
  /// one. Collective.
  WARPHEAP_COLD_FN outcome extend(lane_mask group, std::uint32_t c, bool exhausted, std::uint32_t generation,
                                  void*& found) const {
    extension_wait mine{match(group, exhausted ? c : classes::count), generation, 0, 0, outcome::extended};
    const bool asks = exhausted && is_leader(mine.peers);
    if (asks) ask(c, mine);
    // Where classes begin, all warps may wait here, and the classes are extended one after the other.
    constexpr unsigned longest = 1u << 14;
    // The lane that gets the lock extends its class and releases the lock within this loop: lanes of its warp that use
    // another heap may hold the group up at the loop's end.
    for (backoff wait{longest}; any(group, mine.then == outcome::waits); wait.pause()) {
      if (mine.then == outcome::waits) look_for_turn(c, mine);
      if (any(group, mine.then == outcome::holds)) {
        wait.end();
        extend_for_holder(group, c, mine, found);
      } else if (reclamation().has_work(group)) {
        wait.end();
        reclamation().help(group);
      }
    }
    if (asks) withdraw_demand(c, mine);
    return shuffle(group, mine.then, leader(mine.peers));
  }

 private:
  struct extension_wait {      // in memory, so that it needs no registers
    lane_mask peers;           // those that want the class
    std::uint32_t generation;  // of the class, before the looks that found nothing
    std::uint64_t earlier;     // attempts that had begun before the wait
    std::uint32_t times;       // how often the demand had been taken when the caller's part was added
    outcome then;
  };

  // Begins to wait for class `c`, for all peers. One lane.
  WARPHEAP_COLD_FN void ask(std::uint32_t c, extension_wait& mine) const {
    using enum memory_order;
    using enum thread_scope;
    // By an RMW, so that a later attempt sees all that comes before this call.
    mine.earlier = atomic_view{store().control().attempts}.fetch_add(0, release, device);
    const auto wanted = static_cast<std::uint32_t>(group_size(mine.peers));
    mine.times = slab_demand{atomic_view{store().of_class(c).demand}.fetch_add(wanted, relaxed, device)}.times();
    mine.then = outcome::waits;
  }
  // Sets `mine.then` to what became of the class meanwhile; `holds`: nothing, and now the caller holds the lock. One
  // lane.
  WARPHEAP_COLD_FN void look_for_turn(std::uint32_t c, extension_wait& mine) const {
    using enum memory_order;
    using enum thread_scope;
    const atomic_view view{store().of_class(c).generation};
    const std::uint64_t refused = atomic_view{store().of_class(c).refused}.load(acquire, device);
    if (view.load(acquire, device) != mine.generation) {
      mine.then = outcome::extended;
    } else if (refused > mine.earlier) {
      mine.then = outcome::refused;
    } else if (store().control().lock.try_acquire()) {
      if (view.load(relaxed, device) == mine.generation) {
        mine.then = outcome::holds;
      } else {
        store().control().lock.release();
      }
    }
  }
  // Subtracts the demand that `ask` counted, unless a lock holder, maybe the caller, has taken it since. One lane.
  WARPHEAP_COLD_FN void withdraw_demand(std::uint32_t c, const extension_wait& mine) const {
    using enum memory_order;
    using enum thread_scope;
    const auto blocks = static_cast<std::uint32_t>(group_size(mine.peers));
    const atomic_view view{store().of_class(c).demand};
    if (slab_demand{view.load(relaxed, device)}.times() != mine.times) return;
    const slab_demand before{view.fetch_sub(blocks, relaxed, device)};
    // A lock holder took the demand in between. If another takes it before this addition, the next extension counts
    // some blocks too many, once.
    if (before.times() != mine.times) view.fetch_add(blocks, relaxed, device);
  }
  // Extends the class of the lane of `group` that holds the lock. Collective.
  WARPHEAP_COLD_FN void extend_for_holder(lane_mask group, std::uint32_t c, extension_wait& mine, void*& found) const {
    const bool holds = mine.then == outcome::holds;
    const int holder = leader(ballot(group, holds));  // there is one, since they all ask for the same lock
    const outcome then = extend_alone(group, shuffle(group, mine.peers, holder), shuffle(group, c, holder),
                                      shuffle(group, mine.earlier, holder), found);
    if (holds) mine.then = then;
  }
  // Extends the class for all that wait, and releases the lock, which the first of the lanes `wanting` blocks holds.
  // When that lane began to wait, `earlier` attempts had begun. Collective over `group`.
  WARPHEAP_COLD_FN outcome extend_alone(lane_mask group, lane_mask wanting, std::uint32_t c, std::uint64_t earlier,
                                        void*& found) const {
    using enum memory_order;
    using enum thread_scope;
    std::uint32_t slabs = 0;
    if (is_leader(wanting)) {
      atomic_view{store().control().attempts}.fetch_add(1, acquire, device);
      slabs = growth().slabs_wanted(c, static_cast<std::uint32_t>(group_size(wanting)), wanting != group);
    }
    slabs = shuffle(group, slabs, leader(wanting));
    sync(group);  // what the lock's holder before wrote is visible to all lanes
    reclamation().compaction().close_ledger(group, c);
    const outcome then = add_or_search(group, wanting, c, slabs, earlier, found);
    sync(group);
    if (is_leader(wanting)) {
      if (then == outcome::extended) maker().ledger().open(c);
      // Where a search found blocks there may be more: waiting warps look by themselves, and need not have the lock in
      // turn.
      if (then != outcome::refused) atomic_view{store().of_class(c).generation}.fetch_add(1, release, device);
      // It holds for all that began to wait before the sweep that it rests on, which may be of an earlier attempt.
      if (then == outcome::refused) {
        atomic_view{store().of_class(c).refused}.store(store().control().swept, release, device);
      }
      store().control().lock.release();
    }
    return then;
  }
  // Adds slabs or, if there is no memory for one, looks once more for blocks. The lock's holder. Collective over
  // `group`.
  WARPHEAP_COLD_FN outcome add_or_search(lane_mask group, lane_mask wanting, std::uint32_t c, std::uint32_t slabs,
                                         std::uint64_t earlier, void*& found) const {
    if (maker().add_slabs(group, c, slabs)) return outcome::extended;
    const std::uint32_t room = slabs * store().units_of(c);
    while (reclamation().reclaim_since(group, room, earlier)) {  // not a spin: each turn takes slabs back
      if (maker().add_slabs(group, c, slabs)) return outcome::extended;
    }
    // Blocks of the class may have come back since the caller looked.
    const bit_tree::quiescence_snapshot units = store().free_units().begin_snapshot();
    stop_point("warp_slab.add_or_search.snapshot_begun");
    sync(group);
    void* const got = search().find(group, wanting, c);
    stop_point("warp_slab.add_or_search.searched");
    if (got != nullptr) found = got;
    if (any(group, got != nullptr)) return outcome::served;
    if (maker().add_slabs(group, c, slabs)) return outcome::extended;
    // A run may have had units that were there during the search. Then all look again.
    const bool quiescent = any(group, is_leader(group) && store().free_units().was_quiescent(units));
    return quiescent ? outcome::refused : outcome::served;
  }

  slab_search search_;
};

}  // namespace warpheap::detail
