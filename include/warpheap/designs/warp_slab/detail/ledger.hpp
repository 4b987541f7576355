// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/warp_slab/detail/forecast.hpp>
#include <warpheap/designs/warp_slab/detail/sharing.hpp>
#include <warpheap/platform/device.hpp>

namespace warpheap::detail {

/// Tickets for blocks of slabs that are not made yet. Requests that find no free block draw them from a count for their
/// class. The number of a ticket says which place of the table, and which word of the slab there, it stands for. So one
/// addition tells each of a million threads where its block will be, and which of them has to make the slab: the one
/// whose ticket is the first of a place. The others wait for that slab only. This is growth without a lock.
///
/// A ticket reserves nothing: other threads may find and take the block by a probe. Then its holder gets fewer blocks
/// than it drew tickets for, and goes on probing.
///
/// The holder of the heap's lock closes the ledger of a class before it changes the class's table, and opens it when it
/// is done. Tickets that are drawn of a closed ledger are void.
///
/// In the launch in which a class begins, about as many blocks are drawn as are asked for. Later launches lack a few,
/// which they would have to search for. So the first draw of a later launch takes more by a part of the class, in whole
/// slabs that nobody waits for. In any launch the first draw by a warp that mallocs and frees by turns takes half of
/// it.
///
/// Invariant: while the ledger is open, places below `opened_places` have slabs, and each place above has none, or that
/// of the one thread that drew its first ticket. That thread settles the place, with a slab or without, before it waits
/// for anything. While the ledger is closed, all places that were drawn are settled, and only the lock's holder, and
/// groups that share its work, change the table.
///
/// Orders: a draw acquires the opening of the ledger, and with it the table as it was then. `settled` is released with
/// each slab, and the close acquires it. A slab's entry is released by its maker and acquired by those that wait for
/// it.
///
/// Each function is for one lane. `close` and `entry_of` wait for threads that drew tickets and make slabs. These
/// threads have started, and wait for no other thread.
class slab_ledger {
 public:
  WARPHEAP_FN explicit slab_ledger(const arena& from) : sharing_(from) {}
  WARPHEAP_FN const slab_sharing& sharing() const { return sharing_; }
  WARPHEAP_FN const slab_probes& probes() const { return sharing_.probes(); }
  WARPHEAP_FN const slab_claims& claims() const { return sharing_.claims(); }
  WARPHEAP_FN const slab_hints& hints() const { return sharing_.hints(); }
  WARPHEAP_FN const slab_store& store() const { return sharing_.store(); }

  /// True if tickets are drawn for class `c`: its slabs have a power of two of blocks, so that a ticket's number tells
  /// a word and a bit. For slabs of less than a word it is true only while the class begins. Later the lock's holder
  /// grows such a class, with some slabs in store: a warp of 32 lanes needs blocks of several.
  WARPHEAP_FN bool serves(std::uint32_t c) const {
    return is_power_of_two(store().blocks_of(c)) && (has_whole_words(c) || begins(c));
  }
  /// Whether slabs of class `c` consist of whole words: what a warp draws begins one slab at most.
  WARPHEAP_FN bool has_whole_words(std::uint32_t c) const { return store().blocks_of(c) >= 32; }
  /// True if class `c` begins: it has no slab and has noted no begin since it last had none, or it noted its begin in
  /// the caller's launch (`note_begin`).
  WARPHEAP_FN bool begins(std::uint32_t c) const {
    using enum memory_order;
    using enum thread_scope;
    const std::uint32_t began = atomic_view{state(c).began}.load(relaxed, device);
    const std::uint32_t places = atomic_view{state(c).places}.load(relaxed, device);
    return began == this_launch() || (began == 0 && places == 0);
  }
  /// Notes that the class begins in the caller's launch. By the thread that drew the ticket of the first slab, before
  /// it settles the place. So all later launches see it.
  WARPHEAP_FN void note_begin(std::uint32_t c) const {
    atomic_view{state(c).began}.store(this_launch(), memory_order::relaxed, thread_scope::device);
  }
  /// How many slabs the caller draws beside what it wants, as a part of those that the class has. For the first caller
  /// in a launch in which the class does not begin: an eighth, or a fifth where only a part of the grid runs at once.
  /// For the first caller that comes `again`, as warps do that malloc and free by turns: half, in any launch. Once half
  /// of the heap is slabs: a 16th. At least `least`.
  ///
  /// 0 for later callers of either kind in the launch, where 15/16 of the heap is slabs, and for a class of fewer than
  /// eight slabs unless `least` is above 0. One lane.
  WARPHEAP_COLD_FN std::uint32_t slabs_ahead(std::uint32_t c, bool again, std::uint32_t least = 0) const {
    using enum memory_order;
    using enum thread_scope;
    constexpr std::uint32_t few = 8;
    const std::uint32_t places = atomic_view{state(c).places}.load(relaxed, device);
    if ((places < few && least == 0) || (!again && begins(c)) || !store().has_units_ahead()) return 0;
    const atomic_view latest{again ? state(c).grown_by_half : state(c).grown};
    if (latest.load(relaxed, device) == this_launch()) return 0;
    if (latest.exchange(this_launch(), relaxed, device) == this_launch()) return 0;
    const std::uint32_t slabs = places / (!store().has_room() ? 16 : again ? 2 : has_more_threads_than_run() ? 5 : 8);
    return slabs < least ? least : slabs;
  }
  /// The count as it is now. Relaxed: a draw decides.
  WARPHEAP_FN slab_ledger_word look(std::uint32_t c) const {
    return {atomic_view{state(c).ledger}.load(memory_order::relaxed, thread_scope::device)};
  }
  /// Draws tickets for `blocks` blocks. Their numbers begin with `blocks()` of the returned word; if that is closed,
  /// the tickets are void. Acquires.
  WARPHEAP_FN slab_ledger_word draw(std::uint32_t c, std::uint32_t blocks) const {
    return {atomic_view{state(c).ledger}.fetch_add(blocks, memory_order::acquire, thread_scope::device)};
  }
  /// Place of the slab that has the block of ticket `number`.
  WARPHEAP_FN std::uint32_t place_of(std::uint32_t c, std::uint64_t number) const {
    return static_cast<std::uint32_t>(number >> shift(c));
  }
  /// Number of the first ticket of a place.
  WARPHEAP_FN std::uint64_t first_of(std::uint32_t c, std::uint32_t place) const {
    return std::uint64_t{place} << shift(c);
  }
  /// True if the ledger is closed, or if at one moment of the call each place of class `c` was settled for which a
  /// ticket had been drawn. The lock's holder. One lane.
  WARPHEAP_COLD_FN bool is_settled(std::uint32_t c) const {
    using enum memory_order;
    using enum thread_scope;
    // Both only grow, and no place is settled before it is drawn: so equal numbers were equal when the first was read.
    const std::uint32_t settled = atomic_view{state(c).settled}.load(acquire, device);
    const slab_ledger_word drawn = look(c);
    return drawn.is_closed() || settled == place_of(c, drawn.blocks() + first_of(c, 1) - 1);
  }
  /// Settles a place, by the thread that drew its first ticket: there is a slab now, and all that leads to it, or there
  /// were no units for one.
  WARPHEAP_COLD_FN void settle(std::uint32_t c, bool made) const {
    using enum memory_order;
    using enum thread_scope;
    if (!made) atomic_view{state(c).failed}.fetch_add(1, relaxed, device);
    atomic_view{state(c).settled}.fetch_add(1, release, device);
  }
  /// The table's entry of `place`, of which the caller drew a ticket when the ledger was `drawn`: waits until the slab
  /// is there. 0, and the ticket is void, if there is no such place, if some place of the class got no slab, or if the
  /// ledger was closed since. Acquires the entry.
  WARPHEAP_FN std::uint32_t entry_of(std::uint32_t c, std::uint32_t place, slab_ledger_word drawn) const {
    if (place >= store().control().units) return 0;  // the table has no such place
    const std::uint32_t entry = store().table(c, place).load(memory_order::acquire, thread_scope::device);
    return entry != 0 ? entry : await_entry(c, place, drawn);
  }

  /// Closes the ledger, waits until each place is settled for which tickets were drawn, and stores their number as the
  /// class's `places`. `gaps` of these have no slab, all from place `opened_places` on. False, and nothing changes, if
  /// the ledger was closed before. The lock's holder.
  WARPHEAP_COLD_FN bool close(std::uint32_t c, std::uint32_t& gaps) const {
    using enum memory_order;
    using enum thread_scope;
    gaps = 0;
    if (look(c).is_closed()) return false;  // only the lock's holder closes and opens it
    const slab_ledger_word before{atomic_view{state(c).ledger}.fetch_or(slab_ledger_word::closed_bit, acq_rel, device)};
    const std::uint32_t drawn = place_of(c, before.blocks() + first_of(c, 1) - 1);
    stop_point("warp_slab.close.closed");
    for (backoff wait; atomic_view{state(c).settled}.load(acquire, device) != drawn;) wait.pause();
    // The table has a place for each unit, and those above got no slab.
    const auto most = static_cast<std::uint32_t>(store().control().units);
    const std::uint32_t beyond = drawn > most ? drawn - most : 0;
    const std::uint32_t failed = atomic_view{state(c).failed}.load(relaxed, device);
    if (failed != 0) note_no_units(c);
    gaps = failed - beyond;
    atomic_view{state(c).places}.store(drawn - beyond, relaxed, device);
    return true;
  }
  /// True if makers of slabs of class `c` are likely to find units. The lock's holder.
  WARPHEAP_FN bool may_draw_units(std::uint32_t c) const {
    return store().has_units_ahead() && state(c).no_units != store().control().reclaims + 1;
  }
  /// Notes that a maker of class `c` found no units. The lock's holder.
  WARPHEAP_FN void note_no_units(std::uint32_t c) const { state(c).no_units = store().control().reclaims + 1; }
  /// The number of places when the ledger was last opened: all of these have slabs. The lock's holder.
  WARPHEAP_FN std::uint32_t opened_places(std::uint32_t c) const { return state(c).opened_places; }
  /// Opens the ledger: tickets are drawn from the first block on that no slab has. Where most units are slabs, or a
  /// ticket found no units and no slab was taken back since, it stays closed: tickets would look for units in vain, and
  /// then wait for the lock all the same. The lock's holder.
  WARPHEAP_COLD_FN void open(std::uint32_t c) const {
    using enum memory_order;
    using enum thread_scope;
    const std::uint32_t places = atomic_view{state(c).places}.load(relaxed, device);
    if (places == 0) atomic_view{state(c).began}.store(0, relaxed, device);
    if (!may_draw_units(c)) return;
    state(c).opened_places = places;
    atomic_view{state(c).failed}.store(0, relaxed, device);
    atomic_view{state(c).settled}.store(places, relaxed, device);
    // What void tickets add meanwhile is overwritten.
    atomic_view{state(c).ledger}.store(look(c).opened(first_of(c, places)).value, release, device);
  }

 private:
  // As `entry_of`. On a GPU thousands of warps wait side by side, each for one of a few hundred slabs. So most looks
  // there are at the entry, since frequent reads of the class's counters by all warps would delay the makers; and only
  // the last look acquires, since each acquiring load empties the cache of its multiprocessor. One lane.
  WARPHEAP_COLD_FN std::uint32_t await_entry(std::uint32_t c, std::uint32_t place, slab_ledger_word drawn) const {
    using enum memory_order;
    using enum thread_scope;
    constexpr std::uint32_t each = this_backend == backend::cuda ? 8 : 1;  // looks at the entry for one at the class
    const atomic_view<std::uint32_t> entry = store().table(c, place);
    std::uint32_t looks = 0;
    for (backoff wait; entry.load(relaxed, device) == 0; wait.pause()) {
      if (++looks % each != 0) continue;
      if (atomic_view{state(c).failed}.load(relaxed, device) != 0 || !look(c).counts(drawn)) return 0;
    }
    return entry.load(acquire, device);
  }
  // The caller's launch, as `began` has it.
  WARPHEAP_FN static std::uint32_t this_launch() { return static_cast<std::uint32_t>(launch_number()) + 1; }
  WARPHEAP_FN slab_store::class_state& state(std::uint32_t c) const { return store().of_class(c); }
  // The binary logarithm of how many ticket numbers a place has: the blocks of a slab, rounded up to a power of two.
  WARPHEAP_FN int shift(std::uint32_t c) const { return highest_bit(2 * store().blocks_of(c) - 1); }

  slab_sharing sharing_;
};

}  // namespace warpheap::detail
