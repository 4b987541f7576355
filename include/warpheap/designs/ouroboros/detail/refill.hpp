// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocator/device.hpp>
#include <warpheap/designs/ouroboros/detail/batch_source.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>
#include <warpheap/sync.hpp>

namespace warpheap::detail {

/// Refill: the slow path of malloc. The *refiller* of a size is the group that drew the first
/// ticket without a unit, until it publishes the next batch.
///
/// Invariant: a size has one refiller at a time. A refusal, a batch without pages for lanes that
/// wait, is published only after a search under the heap's lock that found nothing, with a sweep of
/// the other sizes. No chunk came or went during that search, and no free page was on its way when
/// it began. (A sweep publishes units of no thread, too; they refuse no lane.)
///
/// Forward progress: a refiller waits for threads that hold places in segments, which wait for no
/// thread; for the holder of the lock; and, as its holder, for refillers that do not wait for it.
/// So no two refillers wait for each other.
template <class Layout>
class ouroboros_refill {
 public:
  using page_class = typename Layout::page_class;
  using source = ouroboros_source;

  WARPHEAP_FN explicit ouroboros_refill(const arena& from) : batches_(from) {}
  WARPHEAP_FN const ouroboros_batch_source<Layout>& batches() const { return batches_; }
  WARPHEAP_FN const ouroboros_reclamation<Layout>& reclamation() const { return batches_.reclamation(); }
  WARPHEAP_FN const ouroboros_hints<Layout>& hints() const { return batches_.hints(); }
  WARPHEAP_FN const ouroboros_deferral<Layout>& deferral() const { return batches_.deferral(); }
  WARPHEAP_FN const ouroboros_partial_lists<Layout>& lists() const { return batches_.lists(); }
  WARPHEAP_FN const ouroboros_page_bits<Layout>& bits() const { return batches_.bits(); }
  WARPHEAP_FN const ouroboros_queues<Layout>& queues() const { return batches_.queues(); }
  WARPHEAP_FN const ouroboros_chunks<Layout>& chunks() const { return batches_.chunks(); }

  /// Publishes the batch of size q that follows `newest`; its first unit belongs to the first lane
  /// of `group`. Collective.
  WARPHEAP_COLD_FN void refill_supply(std::uint32_t q, lane_mask group, batch_ring::batch newest) const {
    // Serves all lanes that wait. A refusal covers only these, too: a lane that draws after the
    // search began has a right to a search of its own.
    const std::uint32_t wanted = shuffle(group, chunks().of_class(q).supply.demand(newest), leader(group));
    std::uint32_t units = 0;
    const source from = batches().find_pages(q, group, wanted, false, units);
    if (units == 0) return refill_under_lock(q, group, newest, wanted);
    publish_batch(q, group, newest, from, units);
  }

 private:
  /// Searches with the heap's lock, sweeps the other sizes, and publishes the pages that were
  /// found, or a refusal. Collective. The group publishes before it gives up the lock, and so
  /// before other groups of its warp can wait for the lock by a spin: a refill ends without any of
  /// them. A holder of units of size q waits for no lock until its units are finished.
  WARPHEAP_COLD_FN void refill_under_lock(std::uint32_t q, lane_mask group, batch_ring::batch newest,
                                          std::uint32_t wanted) const {
    using enum memory_order;
    using enum thread_scope;
    const atomic_view waits{chunks().of_class(q).waiting};
    // Hands the refiller's fields to the holder of the lock meanwhile.
    if (is_leader(group)) waits.store(1, release, device);
    sync(group);
    chunks().control().lock.hold(group, [&] {
      if (is_leader(group)) waits.store(0, relaxed, device);
      sync(group);
      std::uint32_t units = 0;
      source from = find_under_lock(q, group, wanted, units);
      if (units == 0) {
        from = source::make(source::none, 0);
        units = wanted;
      }
      publish_batch(q, group, newest, from, units);
    });
  }

  /// Searches until the group found pages, or found none while no chunk came or went. Collective;
  /// the leader holds the lock.
  WARPHEAP_COLD_FN source find_under_lock(std::uint32_t q, lane_mask group, std::uint32_t wanted,
                                          std::uint32_t& units) const {
    source from{0};
    for (;;) {  // not a spin: it searches anew, and pauses in between
      await_holders(q, group);
      // The search may miss chunks that go from a size it visits later to one that it has visited.
      // It may also miss chunks that its sweep frees, since refillers take free chunks without the
      // lock. So a request is refused only if no chunk came or went during the search.
      bit_tree::quiescence_snapshot before{};
      bool settled = false;
      if (is_leader(group)) {
        before = chunks().free_chunks().begin_snapshot();
        settled = deferral().nothing_moves();
      }
      from = batches().find_pages(q, group, wanted, true, units);
      if (units == 0 && reclamation().sweep(q, group)) from = batches().find_pages(q, group, wanted, true, units);
      if (units == 0 && queues().trim_queues(group)) continue;  // what this search itself put there
      if (units != 0 || any(group, is_leader(group) && settled && chunks().free_chunks().was_quiescent(before))) {
        return from;
      }
      backoff{}.pause();
    }
  }

  /// Waits until no thread holds a unit of size q: the holder of a hint may be about to put it back
  /// for the chunk's other pages. All holders run.
  WARPHEAP_COLD_FN void await_holders(std::uint32_t q, lane_mask group) const {
    if (!Layout::stores_pages(q) && is_leader(group)) chunks().of_class(q).supply.await_all_finished();
    sync(group);
  }

  /// Publishes `units` units that come from `from`. Collective over the refiller's group.
  WARPHEAP_FN void publish_batch(std::uint32_t q, lane_mask group, batch_ring::batch newest, source from,
                                 std::uint32_t units) const {
    page_class& size = chunks().of_class(q);
    sync(group);
    if (is_leader(group)) {
      ++size.turn;
      size.supply.publish(newest, from.word, units, units);
    }
    sync(group);
  }

  ouroboros_batch_source<Layout> batches_;
};

}  // namespace warpheap::detail
