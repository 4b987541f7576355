// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/bulk/detail/quiescence.hpp>
#include <warpheap/designs/bulk/detail/reclamation.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/sync.hpp>

namespace warpheap::detail {

/// The slow path of malloc: what a list of the local arena lacks is made, counted off the list of
/// any arena, made of a page of any arena's chunk, or reclaimed; in this order.
///
/// Invariant: null means that a search was proof of exhaustion, that another thread noted such a
/// proof and nothing was freed since, or that a retry limit was reached.
///
/// A search without success is repeated at most `frees` times because other threads free blocks. It
/// is repeated at most `changes` times because they moved or freed memory that passed this one by.
/// While memory is in the hands of other threads and nothing moves, repetitions do not count. A
/// thread that holds memory waits for no search, so that wait ends.
template <class Layout>
class bulk_search {
 public:
  WARPHEAP_FN explicit bulk_search(const arena& from) : reclamation_(from) {}
  WARPHEAP_FN const bulk_reclamation<Layout>& reclamation() const { return reclamation_; }
  WARPHEAP_FN const bulk_bin_source<Layout>& source() const { return reclamation_.source(); }
  WARPHEAP_FN const bulk_bin_lists<Layout>& lists() const { return reclamation_.lists(); }
  WARPHEAP_FN const bulk_bins<Layout>& bins() const { return lists().bins(); }
  WARPHEAP_FN const bulk_pages<Layout>& pages() const { return reclamation_.pages(); }
  WARPHEAP_FN bulk_quiescence<Layout> quiescence() const { return reclamation_.quiescence(); }

  /// Finds up to `wanted` units: counted off a semaphore, which are then `left`, or off a new bin,
  /// which are `taken`. False if memory is refused. One lane.
  WARPHEAP_COLD_FN bool find_units(std::uint32_t c, std::uint32_t wanted, bulk_list_units& left,
                                   bulk_bin_units& taken) const {
    if (wanted > Layout::units(c)) wanted = Layout::units(c);
    retry_limits more{3, 64};
    if (quiescence().is_refused(c, quiescence().freed())) return false;
    for (;;) {
      bulk_snapshot search = quiescence().begin_search();
      if (request_from_local_arena(c, wanted, left, taken, search) || count_off_any_list(c, wanted, left, search) ||
          make_of_any_page(c, wanted, taken, search)) {
        return true;
      }
      if (reclamation().reclaim_all()) search.unsettled = true;
      search.uncertain = buddy_type::notes_refusals && !pages().buddy().refuses(Layout::chunk_order);
      if (!shall_retry(c, search, more)) return false;
      backoff().pause();  // a short one, for the next search is work
    }
  }

  /// Finds a block of 2^`order` pages, and reclaims bins for it; `buddy_type::none` if memory is
  /// refused. One lane.
  WARPHEAP_COLD_FN std::uint32_t find_pages(std::uint32_t order) const {
    constexpr std::uint32_t tries = 2;
    const std::uint32_t what = Layout::classes + order;
    retry_limits more{3, 64};
    if (quiescence().is_refused(what, quiescence().freed())) return buddy_type::none;
    for (;;) {
      bulk_snapshot search = quiescence().begin_search();
      const std::uint32_t page = pages().take(lane_bit(), order, tries);
      if (page != buddy_type::none) return page;
      if (reclamation().reclaim_all()) search.unsettled = true;
      search.uncertain = buddy_type::notes_refusals && !pages().buddy().refuses(order);
      if (!shall_retry(what, search, more)) return buddy_type::none;
      backoff().pause();
    }
  }

 private:
  using buddy_type = typename Layout::buddy_type;

  /// Searches that may yet be repeated.
  struct retry_limits {
    std::uint32_t frees;
    std::uint32_t changes;
  };

  /// True if a search for `what` that found nothing is to be repeated. Notes a refusal if the
  /// search was proof.
  WARPHEAP_COLD_FN bool shall_retry(std::uint32_t what, const bulk_snapshot& before, retry_limits& left) const {
    const bulk_quiescence<Layout> counts = quiescence();
    if (counts.was_quiescent(before)) {
      counts.note_refusal(what, before);
      return false;
    }
    const bulk_snapshot now = counts.begin_search();
    if (counts.is_refused(what, now.freed)) return false;
    const bool held = before.unsettled || !before.changes.quiescent || now.changes.begun != before.changes.begun;
    if (held && now.progress == before.progress && now.freed == before.freed) return true;
    std::uint32_t& more = held ? left.changes : left.frees;
    if (more == 0) return false;
    --more;
    return true;
  }

  /// The paper's two stages in the local arena: the semaphore grants units, or has the caller
  /// produce a bin. A bin is delivered, and its change ended, before the caller reconverges with
  /// lanes of its warp that wait for one.
  WARPHEAP_COLD_FN bool request_from_local_arena(std::uint32_t c, std::uint32_t wanted, bulk_list_units& left,
                                                 bulk_bin_units& taken, bulk_snapshot& search) const {
    using standing = bulk_semaphore::standing;
    const std::uint32_t arena = lists().local_arena();
    const std::uint32_t batch = Layout::units(c);
    bulk_semaphore& count = lists().list_at(arena, c).count;
    // A thread that cannot produce must not make waiting threads wait for it.
    if (count.count().available < wanted && !source().can_make(arena, c)) return false;
    bool made = false;
    lane_mask group = active_group();
    bulk_semaphore::request mine = source().request(count, wanted, batch);
    do {
      if (mine.what() == standing::produces) {
        quiescence().begin_change();
        ++search.changes.begun;
        made = source().make(arena, c, wanted, taken);
        if (made) {
          require(count.deliver(mine), "bulk: more blocks than can be counted");
        } else {
          count.give_up(mine, bulk_semaphore::production::passing);
        }
        quiescence().end_change(made);
      }
    } while (count.waits(mine, group));
    if (mine.what() == standing::failed) return false;
    if (!made) left = {arena, wanted};
    return true;
  }

  /// Counts up to `wanted` units off the list of any arena; with 0 `wanted` only returns whether
  /// one has units.
  WARPHEAP_COLD_FN bool count_off_any_list(std::uint32_t c, std::uint32_t wanted, bulk_list_units& left,
                                           bulk_snapshot& search) const {
    constexpr std::uint32_t at_once = 2;  // independent loads hide their latency
    const std::uint32_t first = lists().local_arena();
    const std::uint32_t mask = pages().arena_mask();
    for (std::uint32_t i = 0; i <= mask; i += at_once) {
      bulk_semaphore::counts seen[at_once];
      for (std::uint32_t j = 0; j < at_once; ++j) {
        seen[j] = lists().list_at((first + i + j) & mask, c).count.count();
      }
      for (std::uint32_t j = 0; j < at_once; ++j) {
        const std::uint32_t arena = (first + i + j) & mask;
        if (seen[j].available > 0) {
          if (wanted == 0) return true;
          const std::uint32_t units =
              seen[j].available < wanted ? static_cast<std::uint32_t>(seen[j].available) : wanted;
          if (lists().list_at(arena, c).count.try_wait(units)) {
            left = {arena, units};
            return true;
          }
          search.unsettled = true;
        } else if (seen[j].available + static_cast<std::int64_t>(seen[j].reserved) != 0) {
          search.unsettled = true;  // units are reserved, and may yet be left
        }
      }
    }
    return false;
  }

  /// Makes a bin, for the list of the local arena, of a page of any arena's chunk.
  WARPHEAP_COLD_FN bool make_of_any_page(std::uint32_t c, std::uint32_t wanted, bulk_bin_units& taken,
                                         bulk_snapshot& search) const {
    bulk_list_units page{0, 0};
    if (c >= Layout::paged_sizes || !count_off_any_list(Layout::pages_class, 0, page, search)) return false;
    quiescence().begin_change();
    ++search.changes.begun;
    const bool found = count_off_any_list(Layout::pages_class, 1, page, search);
    if (found) {
      const bulk_bin_units of = lists().count_off_some_bin(page.arena, Layout::pages_class, 1);
      taken = {of.page + static_cast<std::uint32_t>(lowest_bit(bins().claim(of).bits)), wanted, 0};
      const std::uint32_t arena = lists().local_arena();
      source().set_up(arena, c, taken.page, wanted);
      const std::uint32_t rest = Layout::units(c) - wanted;
      if (rest != 0) require(lists().list_at(arena, c).count.signal(rest), "bulk: more blocks than can be counted");
    }
    quiescence().end_change(found);
    return found;
  }

  bulk_reclamation<Layout> reclamation_;
};

}  // namespace warpheap::detail
