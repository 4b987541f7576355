// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocator/device.hpp>
#include <warpheap/designs/ouroboros/detail/hints.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>
#include <warpheap/sync.hpp>

namespace warpheap::detail {

/// Reclamation: a sweep returns what page sizes hold and no malloc has claimed.
///
/// Batches that are not claimed, queues and lists of a size may hold the pages of whole chunks. A
/// sweep takes all of these apart: free pages return to the bitmaps of their chunks, and chunks
/// whose pages are all free become free. The holder of the heap's lock sweeps one size at a time.
///
/// Invariant: a size is swept by its refiller. The sweeper becomes that by drawing more tickets
/// than any batch has, if no ticket waits; or it stands in for a refiller that waits for the lock.
/// It publishes the rest of its draw as units of no thread, so that the next malloc is the
/// refiller.
template <class Layout>
class ouroboros_reclamation {
 public:
  using page_class = typename Layout::page_class;
  using source = ouroboros_source;
  using pending_action = ouroboros_pending_action;

  WARPHEAP_FN explicit ouroboros_reclamation(const arena& from) : hints_(from) {}
  WARPHEAP_FN const ouroboros_hints<Layout>& hints() const { return hints_; }
  WARPHEAP_FN const ouroboros_deferral<Layout>& deferral() const { return hints_.deferral(); }
  WARPHEAP_FN const ouroboros_partial_lists<Layout>& lists() const { return hints_.lists(); }
  WARPHEAP_FN const ouroboros_page_bits<Layout>& bits() const { return hints_.bits(); }
  WARPHEAP_FN const ouroboros_queues<Layout>& queues() const { return hints_.queues(); }
  WARPHEAP_FN const ouroboros_chunks<Layout>& chunks() const { return hints_.chunks(); }

  /// Sweeps all sizes but `except`, and trims the queues; true if there was anything to take.
  /// Collective; the leader holds the lock.
  WARPHEAP_COLD_FN bool sweep(std::uint32_t except, lane_mask group) const {
    bool swept = false;
    for (std::uint32_t q = 0; q < Layout::classes; ++q) {
      if (q == except || !any(group, is_leader(group) && can_sweep(q))) continue;
      sweep_class(q, group);
      swept = true;
    }
    return queues().trim_queues(group) || swept;
  }

  /// True if size q holds something that a sweep may return. One lane.
  WARPHEAP_COLD_FN bool can_sweep(std::uint32_t q) const {
    using enum memory_order;
    using enum thread_scope;
    page_class& size = chunks().of_class(q);
    // A size whose refiller is at work counts: the refiller may hold an unpublished segment.
    return size.supply.balance() != 0 || queues().queue(q).has_entries() ||
           atomic_view{size.fully_free}.load(relaxed, device) != 0 ||
           atomic_view{size.carried}.load(relaxed, device) != 0;
  }

  /// Sweeps size q, as its refiller. Collective; the leader holds the lock.
  WARPHEAP_COLD_FN void sweep_class(std::uint32_t q, lane_mask group) const {
    using enum memory_order;
    using enum thread_scope;
    page_class& size = chunks().of_class(q);
    // Become the size's refiller, or stand in for one that waits for the group's lock.
    std::uint32_t ticket = 0;
    batch_ring::batch found{0};
    bool drawn = false;
    if (is_leader(group)) {
      for (backoff wait; atomic_view{size.waiting}.load(acquire, device) == 0; wait.pause()) {
        drawn = size.supply.try_draw_all(found, ticket);
        if (drawn) break;
      }
    }
    drawn = any(group, drawn);
    sync(group);
    std::uint32_t rest = 0;
    if (drawn) {
      found.word = shuffle(group, found.word, leader(group));
      ticket = shuffle(group, ticket, leader(group));
      rest = static_cast<std::uint32_t>(batch_ring::distance(ticket, found.end()));
      if (rest != 0) sweep_supply(q, group, found, found.size() - rest);
    }
    lists().list_carried(q, group);
    sweep_queue(q, group);
    sweep_list(q, group);
    // Others need the memory: take little next time.
    if (is_leader(group)) atomic_view{size.fresh}.store(0, relaxed, device);
    sync(group);
    // Units of no thread, so that the next malloc is the refiller.
    if (drawn && is_leader(group)) size.supply.publish(found, 0, batch_ring::all - rest, 0);
  }

 private:
  /// Takes all that is queued.
  WARPHEAP_COLD_FN void sweep_queue(std::uint32_t q, lane_mask group) const {
    for (;;) {
      adopted_segment oldest{};
      if (is_leader(group)) oldest = queues().queue(q).adopt();
      const std::uint32_t count = shuffle(group, oldest.count, leader(group));
      if (count == 0) break;
      sync(group);
      const source from = source::make(source::queued, shuffle(group, oldest.segment.id, leader(group)));
      sweep_entries(q, group, from, 0, count);
      if (is_leader(group)) queues().retire(q, from);
    }
  }

  /// Frees units [first, size) of the batch `from` of size q, which are the group's. Collective.
  WARPHEAP_COLD_FN void sweep_supply(std::uint32_t q, lane_mask group, batch_ring::batch from,
                                     std::uint32_t first) const {
    page_class& size = chunks().of_class(q);
    const source what{size.supply.what(from)};
    const std::uint32_t units = from.size();
    if (what.what() == source::run || what.what() == source::staged_chunks) {
      sweep_chunks(q, group, what, first, units);
    } else if (what.what() != source::none) {
      // The last unit of an entry answers for it, and is among these.
      sweep_entries(q, group, what, first >> what.shift(), units >> what.shift());
    }
    sync(group);
    if (is_leader(group) && size.supply.finish(from, units - first)) {
      if (what.what() != source::none && what.what() != source::run) queues().retire(q, what);
    }
  }

  /// Frees pages [first, units) of the chunks that `from` names. Collective.
  WARPHEAP_COLD_FN void sweep_chunks(std::uint32_t q, lane_mask group, source from, std::uint32_t first,
                                     std::uint32_t units) const {
    const bool is_run = from.what() == source::run;
    const std::uint32_t shift = Layout::pages_log2(q);
    const std::uint32_t begin = first & (Layout::pages(q) - 1);
    const std::uint32_t partly = first >> shift;
    if (begin != 0) sweep_rest(q, group, is_run ? from.base() + partly : queues().entry(from, partly), begin);
    const std::uint32_t whole = begin != 0 ? partly + 1 : partly;
    const std::uint32_t end = units >> shift;
    if (is_run) {
      const std::uint64_t each = Layout::chunks_of_page(q);
      if (is_leader(group) && end > whole) {
        chunks().free_chunks().add({from.base() + whole * each, (end - whole) * each});
      }
      return;
    }
    for (std::uint32_t i = whole + static_cast<std::uint32_t>(group_rank(group)); i < end;
         i += static_cast<std::uint32_t>(group_size(group))) {
      chunks().free_chunks().add({queues().entry(from, i), 1});
    }
  }

  /// Frees the pages of `chunk` from number `begin` on; other threads have those before.
  /// Collective.
  WARPHEAP_FN void sweep_rest(std::uint32_t q, lane_mask group, std::uint64_t chunk, std::uint32_t begin) const {
    const std::uint32_t pages = Layout::pages(q);
    for (std::uint32_t at = begin; at < pages; at += static_cast<std::uint32_t>(group_size(group))) {
      const std::uint32_t page = at + static_cast<std::uint32_t>(group_rank(group));
      const lane_mask some = ballot(group, page < pages);
      if (page >= pages) continue;
      chunks().set_owner(chunk, q + 1);
      sweep_page(q, some, (chunk << Layout::chunk_shift) + (std::uint64_t{page} << (Layout::page_shift + q)));
    }
  }

  /// Frees the page at `offset` of each lane of `group`, all of size q, as `defer` does. Hints go
  /// to the list, because the queue would take the chunks that a sweep needs. Collective.
  WARPHEAP_COLD_FN void sweep_page(std::uint32_t q, lane_mask group, std::uint64_t offset) const {
    const std::uint64_t chunk = offset >> Layout::chunk_shift;
    if (q >= Layout::chunk_classes) return chunks().free_chunks().add({chunk, Layout::chunks_of_page(q)});
    bool gives_back = false;
    const pending_action action = deferral().count_pages(group, q, offset, gives_back);
    if (action == pending_action::queue) deferral().list_instead(q, chunk);
    deferral().finish_pending_action(q, group, chunk, action, gives_back);
  }

  /// Frees the pages, or lists the chunks, that entries [begin, end) of `from` name. Collective.
  WARPHEAP_COLD_FN void sweep_entries(std::uint32_t q, lane_mask group, source from, std::uint32_t begin,
                                      std::uint32_t end) const {
    const bool pages = Layout::stores_pages(q) || from.what() == source::staged_pages;
    for (std::uint32_t at = begin; at < end; at += static_cast<std::uint32_t>(group_size(group))) {
      const std::uint32_t mine = at + static_cast<std::uint32_t>(group_rank(group));
      const lane_mask some = ballot(group, mine < end);
      if (mine >= end) continue;
      const std::uint64_t value = queues().entry(from, mine);
      if (pages) {
        sweep_page(q, some, value << Layout::entry_shift(q));
      } else {
        deferral().list_instead(q, value);
      }
    }
    sync(group);
  }

  /// Gives back the chunks of the list whose pages are all free; the others go on the list again.
  /// Collective.
  WARPHEAP_COLD_FN void sweep_list(std::uint32_t q, lane_mask group) const {
    using enum memory_order;
    using enum thread_scope;
    page_class& size = chunks().of_class(q);
    if (!any(group, is_leader(group) && atomic_view{size.fully_free}.load(relaxed, device) != 0)) return;
    // What was taken off the list before, then what is on it now; not what the sweep puts there.
    std::uint32_t rests[2] = {0, 0};
    if (is_leader(group)) {
      rests[0] = size.chain;
      rests[1] = atomic_view{size.list_head}.exchange(0, memory_order::acquire, device);
      size.chain = 0;
    }
    for (std::uint32_t rest : rests) {
      rest = shuffle(group, rest, leader(group));
      sync(group);
      while (rest != 0) {
        std::uint64_t mine = no_chunk;
        for (int i = 0; i < group_size(group) && rest != 0; ++i) {
          if (group_rank(group) == i) mine = rest - 1;
          rest = lists().following(rest - 1);
        }
        sync(group);  // all links are read before one is written again
        if (mine == no_chunk) continue;
        if (deferral().take_fully_free(q, mine)) {
          atomic_view{size.fully_free}.fetch_sub(1, relaxed, device);
          deferral().give_back(mine);
        } else {
          lists().list(q, mine);
        }
      }
    }
  }

  ouroboros_hints<Layout> hints_;
};

}  // namespace warpheap::detail
