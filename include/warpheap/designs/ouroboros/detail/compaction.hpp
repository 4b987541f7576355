// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocator/device.hpp>
#include <warpheap/designs/ouroboros/detail/reclamation.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>
#include <warpheap/sync.hpp>

namespace warpheap::detail {

/// Compaction: a sweep of all sizes by a grid of its own, while no other kernel uses the heap.
///
/// Of each size, every group of the grid first frees its share of the pages in the newest batch and
/// in the queue: into the bitmaps of their chunks, or whole chunks into the set of free ones. Then
/// it arrives at the size, and goes on to the next one. The last group to arrive settles the size
/// alone, when it has arrived at all sizes. It takes the queue and the batch, whose pages are all
/// free by then, and reads the records of all chunks. Chunks whose pages are all counted become
/// free; the others are listed in the order of their addresses. Hints need no share: the counts say
/// which chunks they name. A hint that is out of date names a chunk without a count, perhaps of
/// another size, and is dropped there.
///
/// Invariant: until the last group has arrived no thread changes what the groups find their shares
/// by: the supply, the queue, and the storage of segments. A count may lack a hint meanwhile,
/// since only the last group reads it.
///
/// Forward progress: no thread waits for another. A group arrives with as many threads as it has,
/// so it does not matter how warps split.
template <class Layout>
class ouroboros_compaction {
 public:
  using page_class = typename Layout::page_class;
  using source = ouroboros_source;

  WARPHEAP_FN explicit ouroboros_compaction(const ouroboros_reclamation<Layout>& reclamation)
      : reclamation_(reclamation) {}
  WARPHEAP_FN const ouroboros_deferral<Layout>& deferral() const { return reclamation_.deferral(); }
  WARPHEAP_FN const ouroboros_partial_lists<Layout>& lists() const { return reclamation_.lists(); }
  WARPHEAP_FN const ouroboros_page_bits<Layout>& bits() const { return reclamation_.bits(); }
  WARPHEAP_FN const ouroboros_queues<Layout>& queues() const { return reclamation_.queues(); }
  WARPHEAP_FN const ouroboros_chunks<Layout>& chunks() const { return reclamation_.chunks(); }

  /// Frees the group's share of size q and arrives at the size; true if all groups of the grid have arrived: then
  /// `group` settles the size. Each thread of a grid calls, `group` is those of the caller's warp. Collective.
  WARPHEAP_COLD_FN bool free_share(std::uint32_t q, lane_mask group) const {
    using enum memory_order;
    using enum thread_scope;
    if (!holds_any(q)) return false;
    free_batch(q, group);
    free_queued(q, group);
    sync(group);
    bool last = false;
    if (is_leader(group)) {
      // Releases what the group freed to the last group, which acquires it.
      const auto own = static_cast<std::uint64_t>(group_size(group));
      last = atomic_view{chunks().of_class(q).arrived}.fetch_add(own, acq_rel, device) + own == grid_threads();
    }
    last = any(group, last);
    sync(group);
    return last;
  }

  /// Takes what size q has, whose pages the grid has freed, and lists its chunks anew. Collective;
  /// no other group has a share of the size left.
  WARPHEAP_COLD_FN void settle(std::uint32_t q, lane_mask group) const {
    using enum memory_order;
    using enum thread_scope;
    page_class& size = chunks().of_class(q);
    batch_ring::batch newest{0};
    std::uint32_t rest = 0;
    if (is_leader(group)) {
      // As a refiller: each ticket drawn has a unit, and no other thread draws.
      std::uint32_t ticket = 0;
      const bool drawn = size.supply.try_draw_all(newest, ticket);
      invariant(drawn, "ouroboros: a malloc waits while the heap is coalesced");
      (void)drawn;
      rest = static_cast<std::uint32_t>(batch_ring::distance(ticket, newest.end()));
      const source from{size.supply.what(newest)};
      if (rest != 0 && size.supply.finish(newest, rest) && from.what() != source::none && from.what() != source::run) {
        queues().retire(q, from);
      }
      while (queues().queue(q).has_entries()) {  // not a spin: each turn takes a segment
        queues().retire(q, source::make(source::queued, queues().queue(q).adopt().segment.id));
      }
      queues().trim_queue(q);
      lists().set_carried(q, 0);
      size.chain = 0;
      size.fresh = 0;
      atomic_view{size.fully_free}.store(0, relaxed, device);
      atomic_view{size.arrived}.store(0, relaxed, device);
    }
    sync(group);
    const std::uint32_t first = q < Layout::chunk_classes ? list_chunks(q, group) : 0;
    if (is_leader(group)) {
      atomic_view{size.list_head}.store(first, relaxed, device);
      // Units of no thread, so that the next malloc is the refiller.
      size.supply.publish(newest, 0, batch_ring::all - rest, 0);
    }
    sync(group);
  }

 private:
  /// True if size q has anything but pages in use. All threads of the grid find the same.
  WARPHEAP_FN bool holds_any(std::uint32_t q) const {
    using enum memory_order;
    using enum thread_scope;
    page_class& size = chunks().of_class(q);
    if constexpr (Layout::queues_use_chunks) {
      for (std::uint32_t& kept : size.queue.reserve) {
        if (atomic_view{kept}.load(relaxed, device) != 0) return true;
      }
    }
    return reclamation_.can_sweep(q) || atomic_view{size.list_head}.load(relaxed, device) != 0 || size.chain != 0;
  }

  /// Frees the caller's share of the pages in size q's newest batch that no malloc has drawn.
  WARPHEAP_COLD_FN void free_batch(std::uint32_t q, lane_mask group) const {
    const page_class& size = chunks().of_class(q);
    const batch_ring::batch newest = size.supply.newest();
    const source from{size.supply.what(newest)};
    const std::int32_t balance = size.supply.balance();
    if (balance <= 0 || from.what() == source::none) return;
    const std::uint32_t units = newest.size();
    const std::uint32_t first = units - static_cast<std::uint32_t>(balance);
    if (from.what() == source::queued || from.what() == source::staged_pages) {
      // Hints are found again by the counts of their chunks.
      const bool pages = Layout::stores_pages(q) || from.what() == source::staged_pages;
      if (pages) free_entries(q, group, from, first >> from.shift(), units >> from.shift());
      return;
    }
    // Whole chunks, after the rest of a chunk of which mallocs have drawn pages.
    const std::uint32_t log2 = Layout::pages_log2(q);
    const std::uint64_t partly = first >> log2;
    const std::uint32_t begin = first & (Layout::pages(q) - 1);
    const std::uint64_t whole = begin != 0 ? partly + 1 : partly;
    const std::uint64_t end = units >> log2;
    const bool is_run = from.what() == source::run;
    if (begin != 0) {
      const std::uint64_t chunk =
          is_run ? from.base() + partly : queues().entry(from, static_cast<std::uint32_t>(partly));
      free_pages(q, group, begin, Layout::pages(q), [=](std::uint32_t page) { return (chunk << log2) + page; });
    }
    if (is_run) {
      const std::uint64_t each = Layout::chunks_of_page(q);
      chunks().heap().add(from.base() + whole * each, from.base() + end * each, grid_thread_index(), grid_threads());
      return;
    }
    for (std::uint64_t i = whole + grid_thread_index(); i < end; i += grid_threads()) {
      chunks().free_chunks().add({queues().entry(from, static_cast<std::uint32_t>(i)), 1});
    }
  }

  /// Frees the caller's share of the pages in size q's queue.
  WARPHEAP_COLD_FN void free_queued(std::uint32_t q, lane_mask group) const {
    if (!Layout::stores_pages(q)) return;
    auto& queue = chunks().of_class(q).queue;
    const auto kind = queues().kind(q, chunks().control().chunks);
    const std::uint32_t unread = queue.opened - queue.adopted;
    segment_name segment{};
    for (std::uint32_t i = 0; i < unread; ++i) {
      segment = kind.following(queue, i, segment);
      std::uint32_t count = kind.segments().header(segment.id).count;
      // The newest batch of places is those of the last segment, if it is open; then some may be undrawn.
      if (i + 1 == unread && queue.places.what(queue.places.newest()) != 0) {
        const std::int32_t undrawn = queue.places.balance();
        if (undrawn > 0) count -= static_cast<std::uint32_t>(undrawn);
      }
      free_entries(q, group, source::make(source::queued, segment.id), 0, count);
    }
  }

  /// Frees the caller's share of the pages that entries [begin, end) of `from` name.
  WARPHEAP_COLD_FN void free_entries(std::uint32_t q, lane_mask group, source from, std::uint32_t begin,
                                     std::uint32_t end) const {
    free_pages(q, group, begin, end, [&](std::uint32_t i) { return queues().entry(from, i); });
  }

  /// Frees the caller's share of the pages with the numbers `number(begin)` to `number(end - 1)`.
  template <class Number>
  WARPHEAP_FN void free_pages(std::uint32_t q, lane_mask group, std::uint32_t begin, std::uint32_t end,
                              Number number) const {
    for (std::uint64_t at = begin; at < end; at += grid_threads()) {
      const std::uint64_t mine = at + grid_thread_index();
      const lane_mask some = ballot(group, mine < end);
      if (mine < end) free_page(q, some, number(static_cast<std::uint32_t>(mine)) << Layout::entry_shift(q));
    }
  }

  /// Sets the bits of the pages at `offset` of the lanes of `group` and counts them; or frees the
  /// chunks that such a page consists of. Collective.
  WARPHEAP_FN void free_page(std::uint32_t q, lane_mask group, std::uint64_t offset) const {
    const std::uint64_t chunk = offset >> Layout::chunk_shift;
    if (q >= Layout::chunk_classes) return chunks().free_chunks().add({chunk, Layout::chunks_of_page(q)});
    const warp_request mine{match(group, chunk)};
    bits().set_bits(mine.lanes, q, offset);
    if (mine.leads()) deferral().count_unhinted(chunk, mine.size());
  }

  /// Frees the chunks of size q whose pages are all counted, and links the others that have counted
  /// pages; returns the first of those, plus 1, or 0. Collective.
  WARPHEAP_COLD_FN std::uint32_t list_chunks(std::uint32_t q, lane_mask group) const {
    using enum memory_order;
    using enum thread_scope;
    const auto lanes = static_cast<std::uint64_t>(group_size(group));
    const auto rank = static_cast<std::uint64_t>(group_rank(group));
    std::uint32_t first = 0;
    // From the last chunk down, so that each knows the one after it.
    for (std::uint64_t top = align_up_to(chunks().control().chunks, lanes); top != 0; top -= lanes) {
      const std::uint64_t chunk = top - lanes + rank;
      const bool exists = chunk < chunks().control().chunks;
      const chunk_state state = exists ? deferral().state_of(chunk) : chunk_state{0};
      // A chunk with counted pages has its owner's number.
      const std::uint32_t count = state.count() != 0 && chunks().owner_of(chunk) == q + 1 ? state.count() : 0;
      const bool fully_free = count == Layout::pages(q);
      const bool some = count != 0 && !fully_free;
      if (count != 0) {
        deferral().settle_hint(chunk, fully_free);
      } else if (state.hint() == q + 1) {
        deferral().drop_hint(q, chunk);
      }
      if (fully_free) bits().clear_bits(chunk);
      const lane_mask givers = ballot(group, fully_free);
      if (fully_free) chunks().give_back_together(givers, chunk);
      const lane_mask listed = ballot(group, some);
      // The next listed lane above, in the order of ranks.
      const lane_mask above = listed & ~(lanes_below(listed) | lane_bit());
      const auto chunk_of = [&](lane_mask of) {
        return static_cast<std::uint32_t>(top - lanes + rank_of(group, lowest_bit(of)));
      };
      if (some) {
        atomic_view{chunks().record(chunk).link}.store(above != 0 ? chunk_of(above) + 1 : first, relaxed, device);
      }
      if (listed != 0) first = chunk_of(listed) + 1;
    }
    return first;
  }

  WARPHEAP_FN static std::uint64_t align_up_to(std::uint64_t value, std::uint64_t step) {
    return (value + step - 1) / step * step;
  }
  /// Rank of lane `lane` in `group`.
  WARPHEAP_FN static std::uint64_t rank_of(lane_mask group, int lane) {
    return static_cast<std::uint64_t>(popcount(group & ((lane_mask{1} << lane) - 1)));
  }

  ouroboros_reclamation<Layout> reclamation_;
};

}  // namespace warpheap::detail
