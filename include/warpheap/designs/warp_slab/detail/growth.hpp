// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/warp_slab/detail/forecast.hpp>
#include <warpheap/designs/warp_slab/detail/tickets.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/sync.hpp>

namespace warpheap::detail {

/// How many slabs the heap's lock holder gives to a class that has no free block and gets none by tickets: for the
/// blocks that are waited for, and some in store. So the class grows in few steps, and takes little more than is asked
/// for.
///
/// What is likely to be asked for next decides how many are in store. Where all threads of a grid run at once and ask
/// once each, what is waited for is all; of random sizes, each launch asks for a little more or less of one. Where most
/// of a grid has not begun yet, the rest will ask as the others did. A warp that comes again in a launch mallocs and
/// frees by turns, and is quicker where much is free. A heap that fills up is to do so in few steps.
///
/// Invariant: the course of a launch (`front`, `launch`, `places_before_launch`) is written by the holder of the heap's
/// lock alone. Waits of `slab_extension` add to the demand and subtract from it; only the holder takes it all.
///
/// One lane calls, the lock's holder. All accesses are relaxed: these numbers decide how much is added, and nothing
/// else.
class slab_growth {
 public:
  WARPHEAP_FN explicit slab_growth(const arena& from) : tickets_(from) {}
  WARPHEAP_FN const slab_tickets& tickets() const { return tickets_; }
  WARPHEAP_FN const slab_maker& maker() const { return tickets_.maker(); }
  WARPHEAP_FN const slab_runs& runs() const { return tickets_.runs(); }
  WARPHEAP_FN const slab_reclamation& reclamation() const { return tickets_.reclamation(); }
  WARPHEAP_FN const slab_sharing& sharing() const { return tickets_.sharing(); }
  WARPHEAP_FN const slab_probes& probes() const { return tickets_.probes(); }
  WARPHEAP_FN const slab_claims& claims() const { return tickets_.claims(); }
  WARPHEAP_FN const slab_hints& hints() const { return tickets_.hints(); }
  WARPHEAP_FN const slab_store& store() const { return tickets_.store(); }

  /// How many slabs to add, where the caller itself wants `wanted` blocks. `mixed`: lanes that called with it want
  /// other sizes, or have their blocks. Takes all demand of the class, after a wait of some microseconds while that
  /// rises. One lane, the lock's holder.
  WARPHEAP_COLD_FN std::uint32_t slabs_wanted(std::uint32_t c, std::uint32_t wanted, bool mixed) const {
    gather_demand(c);
    const std::int32_t waiting = take_demand(c);
    // A thread that was refused may have taken the caller's.
    const std::uint32_t least =
        waiting < static_cast<std::int32_t>(wanted) ? wanted : static_cast<std::uint32_t>(waiting);
    return (least + store().blocks_of(c) - 1) / store().blocks_of(c) + slabs_in_store(c, least, mixed);
  }

 private:
  // Waits as long as the demand rises by more than an eighth each time: of a class that begins, all threads ask within
  // some microseconds, and one extension for all of them is quicker than one for every few. Where no units are left it
  // does not wait. One lane, the lock's holder.
  WARPHEAP_COLD_FN void gather_demand(std::uint32_t c) const {
    constexpr int pauses = 8;  // two microseconds on a GPU
    const auto waiting = [this, c] {
      return slab_demand{atomic_view{store().of_class(c).demand}.load(memory_order::relaxed, thread_scope::device)}
          .blocks();
    };
    std::int32_t seen = 0;
    for (std::int32_t now = waiting(); now > seen + seen / 8 && has_units(); now = waiting()) {
      seen = now;
      backoff wait;
      for (int i = 0; i < pauses; ++i) wait.pause();
    }
  }
  // Takes the demand: returns how many blocks are waited for, and begins anew from none. One lane, the lock's holder:
  // no other thread changes how often the demand was taken.
  WARPHEAP_COLD_FN std::int32_t take_demand(std::uint32_t c) const {
    using enum memory_order;
    using enum thread_scope;
    const atomic_view view{store().of_class(c).demand};
    const slab_demand seen{view.load(relaxed, device)};
    return slab_demand{view.exchange(seen.taken(), relaxed, device)}.blocks();
  }
  // True if some units seem to be free. One lane.
  WARPHEAP_COLD_FN bool has_units() const {
    std::uint32_t leaf = 0;
    return store().free_units().next_leaf(0, leaf);
  }
  // How many slabs are in store, beyond those for the `wanted` blocks that are waited for. One lane, the lock's
  // holder.
  WARPHEAP_COLD_FN std::uint32_t slabs_in_store(std::uint32_t c, std::uint32_t wanted, bool mixed) const {
    using enum memory_order;
    using enum thread_scope;
    const std::uint32_t places = atomic_view{store().of_class(c).places}.load(relaxed, device);
    note_launch(c, places);
    if (!store().has_room()) {
      // Where hardly any units are left, and several sizes are asked for, others lack what one has in store.
      return mixed && !store().has_units_ahead() ? 0 : places / 16;
    }
    if (slab_contention{store().contention().load(relaxed, device)}.looked_again()) return places / 2;
    const std::uint32_t before = store().of_class(c).places_before_launch;
    // Slabs may have been taken back meanwhile.
    const std::uint32_t added = places > before ? places - before : 0;
    if (has_more_threads_than_run()) return slabs_for_the_rest(c, added + wanted / store().blocks_of(c), mixed);
    return mixed || before != 0 ? slabs_for_variation(c, places, wanted) : places / 64;
  }
  // Notes, once a launch, how many places the class has before the launch first extends it. One lane, the lock's
  // holder.
  WARPHEAP_COLD_FN void note_launch(std::uint32_t c, std::uint32_t places) const {
    const auto now = static_cast<std::uint32_t>(launch_number());
    if (store().of_class(c).launch == now) return;
    store().of_class(c).launch = now;
    store().of_class(c).places_before_launch = places;
  }
  // How many slabs the threads that have not begun will want, and some more, where those that have begun wanted `used`:
  // the blocks of a grid begin in the order of their numbers. No more than fill half of the heap with slabs. One lane,
  // the lock's holder.
  WARPHEAP_COLD_FN std::uint32_t slabs_for_the_rest(std::uint32_t c, std::uint32_t used, bool mixed) const {
    const std::uint64_t all = slab_forecast{threads_begun(), grid_threads()}.slabs(used, store().blocks_of(c));
    const std::uint64_t rest = all > used ? all - used : 0;
    const std::uint64_t in_store = rest + all / (mixed ? 5 : 16) + 1;
    const std::uint64_t room = (store().control().units / 2 - store().control().slab_units) / store().units_of(c);
    return static_cast<std::uint32_t>(in_store < room ? in_store : room);
  }
  // How many threads of the grid have begun at least, as far as the lock's holders of the launch could tell: no fewer
  // than `threads_at_once`. One lane, the lock's holder.
  WARPHEAP_COLD_FN std::uint64_t threads_begun() const {
    const auto now = static_cast<std::uint32_t>(launch_number());
    const slab_front front = slab_front{store().control().front}.with(now, static_cast<std::uint32_t>(block_index()));
    store().control().front = front.value;
    const std::uint64_t threads = std::uint64_t{front.blocks()} * block_threads();
    return threads < threads_at_once ? threads_at_once : threads;
  }
  // Slabs that a later launch may want beyond those of this one, for a class that has `places` slabs in use and of
  // which `wanted` more blocks are asked for. Where sizes are random, the requests for one class vary from launch to
  // launch by the square root of their number, and hardly ever by four times that. So four times the root is kept in
  // store, and at least a 32nd of the blocks in use, since the last free blocks of a class are found slowly. Blocks
  // that the last of the slabs for `wanted` has left over count as store. One lane.
  WARPHEAP_COLD_FN std::uint32_t slabs_for_variation(std::uint32_t c, std::uint32_t places,
                                                     std::uint32_t wanted) const {
    const std::uint32_t each = store().blocks_of(c);
    const std::uint64_t blocks = std::uint64_t{places} * each + wanted;
    // Within a factor of the square root of 2.
    const std::uint64_t root = std::uint64_t{1} << (highest_bit(blocks) + 1) / 2;
    const std::uint64_t more = 4 * root > blocks / 32 ? 4 * root : blocks / 32;
    const std::uint32_t over = each - 1 - (wanted - 1) % each;
    return more <= over ? 0 : static_cast<std::uint32_t>((more - over + each - 1) / each);
  }

  slab_tickets tickets_;
};

}  // namespace warpheap::detail
