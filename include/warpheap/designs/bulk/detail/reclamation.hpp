// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/bulk/detail/bin_source.hpp>
#include <warpheap/designs/bulk/detail/quiescence.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/sync.hpp>

namespace warpheap::detail {

/// Returns fully free bins to their chunks, and fully free chunks to TBuddy, when a search has
/// found nothing. Earlier would cost: a bin that is exhausted and filled again by turns would be
/// made and returned each time.
///
/// A thread that reclaims a bin list detaches each stack, withdraws its fully free bins, lists the
/// others again, and retires the withdrawn ones. SRCU calls for their return when no reader can
/// reach their headers any more. If another thread is about to wait for the readers of the arena,
/// that thread returns them (`srcu::retire`, the paper's delegation).
///
/// Invariant: a bin is withdrawn only by the thread that detached it, with all its units counted
/// off the semaphore, then all off the bin by one swap. The swap succeeds only if all units are
/// free and no thread has a pin. So no thread has a unit, a bit or a pin of a withdrawn bin, and
/// readers of the arena are the only ones that may still read its header.
template <class Layout>
class bulk_reclamation {
 public:
  WARPHEAP_FN explicit bulk_reclamation(const arena& from) : source_(from) {}
  WARPHEAP_FN const bulk_bin_source<Layout>& source() const { return source_; }
  WARPHEAP_FN const bulk_bin_lists<Layout>& lists() const { return source_.lists(); }
  WARPHEAP_FN const bulk_pages<Layout>& pages() const { return source_.pages(); }
  WARPHEAP_FN bulk_quiescence<Layout> quiescence() const { return bulk_quiescence<Layout>{pages().control()}; }

  /// Reclaims the fully free bins of all lists; true if some were withdrawn. One lane.
  WARPHEAP_COLD_FN bool reclaim_all() const {
    using enum memory_order;
    using enum thread_scope;
    constexpr std::uint32_t at_once = 4;  // independent loads hide their latency
    const std::uint32_t first = lists().local_arena();
    bool some = false;
    for (std::uint32_t i = 0; i <= pages().arena_mask(); i += at_once) {
      std::int32_t fully_free[at_once];
      for (std::uint32_t j = 0; j < at_once; ++j) {
        // Relaxed: a hint, as the count of each list below.
        fully_free[j] = static_cast<std::int32_t>(
            atomic_view{pages().control().arenas[(first + i + j) & pages().arena_mask()].fully_free}.load(relaxed,
                                                                                                          device));
      }
      for (std::uint32_t j = 0; j < at_once; ++j) {
        if (fully_free[j] <= 0) continue;
        const std::uint32_t arena = (first + i + j) & pages().arena_mask();
        for (std::uint32_t c = 0; c < Layout::classes; ++c) {
          const std::uint32_t here = atomic_view{lists().list_at(arena, c).fully_free}.load(relaxed, device);
          if (static_cast<std::int32_t>(here) > 0 && reclaim_list(arena, c)) some = true;
        }
      }
    }
    return some;
  }

  /// Reclaims the fully free bins of one list; true if some were withdrawn. One lane.
  WARPHEAP_COLD_FN bool reclaim_list(std::uint32_t arena, std::uint32_t c) const {
    using enum memory_order;
    using enum thread_scope;
    quiescence().begin_change();
    std::uint32_t withdrawn = 0;  // linked as on a stack
    for (std::uint64_t& each : lists().list_at(arena, c).top) {
      const atomic_view top{each};
      // Acquire: the headers of the stack were written before they were listed.
      std::uint64_t seen = top.load(acquire, device);
      do {  // not a spin: each turn means that another thread's change came in between
        if (static_cast<std::uint32_t>(seen) == 0) break;
      } while (!top.compare_exchange(seen, ((seen >> 32) + 1) << 32, acq_rel, device));
      for (auto at = static_cast<std::uint32_t>(seen); at != 0;) {  // not a spin: along a list that nobody else has
        const std::uint32_t page = at - 1;
        // Relaxed: only the thread that detached the stack changes these links.
        const atomic_view next{pages().header_at(page).next};
        at = next.load(relaxed, device);
        if (withdraw(arena, c, page)) {
          next.store(withdrawn, relaxed, device);
          withdrawn = page + 1;
        } else {
          lists().push(arena, c, page);
        }
      }
    }
    if (withdrawn == 0) {
      quiescence().end_change(false);
      return false;
    }
    // The change ends in return_memory, perhaps on another thread.
    lists().readers_of(arena).retire(pages().header_at(withdrawn - 1).retired, after_readers{*this});
    return true;
  }

 private:
  struct after_readers;

  /// Counts all units off the semaphore and off a detached bin; false, with nothing changed, if not
  /// all are free.
  WARPHEAP_COLD_FN bool withdraw(std::uint32_t arena, std::uint32_t c, std::uint32_t page) const {
    using enum memory_order;
    using enum thread_scope;
    const std::uint32_t all = Layout::units(c);
    const atomic_view state{pages().header_at(page).state};
    std::uint64_t fully_free = bin_state::units_of(all) | bin_state::listed_bit;
    // Relaxed: spares the semaphore; the swap decides.
    if (state.load(relaxed, device) != fully_free) return false;
    bulk_semaphore& count = lists().list_at(arena, c).count;
    if (!count.try_wait(all)) return false;
    // Acquire: the freeing threads' accesses come before the next use of the memory;
    // SRCU and TBuddy pass them on.
    if (state.compare_exchange(fully_free, bin_state::listed_bit, acquire, device)) {
      lists().count_fully_free(arena, c, ~0u);
      return true;
    }
    require(count.signal(all), "bulk: more blocks than can be counted");
    return false;
  }

  /// Returns bins and chunks that no reader can reach: the first, and those linked to it. Ends
  /// their change.
  WARPHEAP_COLD_FN void return_memory(std::uint32_t first) const {
    using enum memory_order;
    using enum thread_scope;
    for (std::uint32_t at = first + 1; at != 0;) {  // not a spin: each turn goes on along a list that nobody else has
      const std::uint32_t page = at - 1;
      const auto& head = pages().header_at(page);
      const std::uint32_t c = head.of_class;
      // Relaxed: SRCU ordered the links before this call.
      at = atomic_view{const_cast<std::uint32_t&>(head.next)}.load(relaxed, device);
      atomic_view{lists().list_at(head.arena, c).bins}.fetch_sub(1, relaxed, device);
      if (c < Layout::paged_sizes) {
        const std::uint32_t index = page % Layout::chunk_pages;
        lists().free_units(page - index, Layout::pages_class, 0, std::uint64_t{1} << index);
      } else {
        pages().buddy().give(page, Layout::chunk_order);
      }
    }
    quiescence().end_change(true);
  }

  bulk_bin_source<Layout> source_;
};

/// What SRCU calls for bins that were retired together.
template <class Layout>
struct bulk_reclamation<Layout>::after_readers {
  bulk_reclamation of;
  WARPHEAP_FN void operator()(srcu_node& node) const {
    of.return_memory(of.pages().page_of(reinterpret_cast<std::uint64_t>(&node)));
  }
};

}  // namespace warpheap::detail
