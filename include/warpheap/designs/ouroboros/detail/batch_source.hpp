// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocator/device.hpp>
#include <warpheap/designs/ouroboros/detail/reclamation.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>
#include <warpheap/sync.hpp>

namespace warpheap::detail {

/// Where a refiller finds the pages of the next batch: first in the queue of its size, then in the
/// bitmaps of listed chunks, last in free chunks.
///
/// Invariant: only the refiller of a size, or a sweep in its place, takes from the queue, the list
/// and the carry of the size. So the search needs no lock; only spans of chunks, for pages above a
/// chunk, are taken under it.
template <class Layout>
class ouroboros_batch_source {
 public:
  using source = ouroboros_source;

  WARPHEAP_FN explicit ouroboros_batch_source(const arena& from) : reclamation_(from) {}
  WARPHEAP_FN const ouroboros_reclamation<Layout>& reclamation() const { return reclamation_; }
  WARPHEAP_FN const ouroboros_hints<Layout>& hints() const { return reclamation_.hints(); }
  WARPHEAP_FN const ouroboros_deferral<Layout>& deferral() const { return reclamation_.deferral(); }
  WARPHEAP_FN const ouroboros_partial_lists<Layout>& lists() const { return reclamation_.lists(); }
  WARPHEAP_FN const ouroboros_page_bits<Layout>& bits() const { return reclamation_.bits(); }
  WARPHEAP_FN const ouroboros_queues<Layout>& queues() const { return reclamation_.queues(); }
  WARPHEAP_FN const ouroboros_chunks<Layout>& chunks() const { return reclamation_.chunks(); }

  /// A batch of pages of size q, at best `wanted` of them. `units` tells how many, 0 if the search
  /// found none. `locked`: the group holds the heap's lock. Collective over the refiller's group.
  WARPHEAP_COLD_FN source find_pages(std::uint32_t q, lane_mask group, std::uint32_t wanted, bool locked,
                                     std::uint32_t& units) const {
    source found = queued_pages(q, group, units);
    if (units == 0) found = collect(q, group, units);
    if (units == 0) found = take_chunks(q, group, wanted, locked, units);
    return found;
  }

 private:
  /// The oldest segment of size q's queue. Where an entry is a hint, it stands for as many units as
  /// the chunks have free pages on average, up to a warp's: so hints last longer, and a warp finds
  /// its pages together.
  WARPHEAP_COLD_FN source queued_pages(std::uint32_t q, lane_mask group, std::uint32_t& units) const {
    adopted_segment oldest{};
    if (is_leader(group)) oldest = queues().queue(q).adopt();
    units = shuffle(group, oldest.count, leader(group));
    if (units == 0) return {0};
    sync(group);
    const std::uint32_t id = shuffle(group, oldest.segment.id, leader(group));
    std::uint32_t shift = 0;
    if (!Layout::stores_pages(q)) {
      // A sample: one hint for each lane.
      const auto lanes = static_cast<std::uint32_t>(group_size(group));
      const std::uint32_t place = units / lanes * static_cast<std::uint32_t>(group_rank(group));
      const chunk_state state = deferral().state_of(queues().entry(source::make(source::queued, id), place));
      const std::uint32_t average = reduce(group, state.hint() == q + 1 ? state.count() : 0u, plus{}) / lanes;
      while (shift < 5 && (2u << shift) <= average && (units << (shift + 1)) <= batch_ring::largest_batch) ++shift;
    }
    units <<= shift;
    return source::make(source::queued, id, shift);
  }

  /// Pages from the bitmaps of listed chunks of size q, written to a staging segment.
  WARPHEAP_COLD_FN source collect(std::uint32_t q, lane_mask group, std::uint32_t& units) const {
    units = 0;
    if (q >= Layout::chunk_classes) return {0};  // such pages are chunks, and are given back as such
    const std::uint32_t id = queues().next_staging(q, group);
    // Some more than is wanted, since a search costs as much for few pages as for many.
    const std::uint32_t goal = Layout::staging_capacity / 2;
    while (units < goal && collect_some(q, group, id, units)) {
    }
    if (units == 0) return {0};
    sync(group);
    if (is_leader(group)) queues().use_staging(id);
    return source::make(source::staged_pages, id);
  }

  /// Adds the pages of a chunk for each lane to the `units` pages in staging segment `id`; false if
  /// no listed chunk or no room is left. Collective.
  WARPHEAP_COLD_FN bool collect_some(std::uint32_t q, lane_mask group, std::uint32_t id, std::uint32_t& units) const {
    const std::uint64_t chunk = lists().next_candidate(q, group);
    if (!any(group, chunk != no_chunk)) return false;
    if (units == 0) queues().await_staging(group, id);
    // Take what fits, and carry the others over to the next refill.
    const std::uint32_t expected = chunk != no_chunk ? deferral().state_of(chunk).count() : 0;
    const bool fits = units + inclusive_scan(group, expected, plus{}) <= Layout::staging_capacity;
    const lane_mask late = ballot(group, !fits && chunk != no_chunk);
    const std::uint32_t carried = lists().carry(q, late, chunk);
    const std::uint32_t count = fits && chunk != no_chunk ? deferral().collect_chunk(q, chunk) : 0;
    const std::uint32_t taken = count < expected ? count : expected;
    const std::uint32_t begin = units + exclusive_scan(group, taken, 0u, plus{});
    if (taken != 0) bits().take_page_bits(q, chunk, taken, queues().staging(id) + begin);
    // Pages that were counted since `state_of` stay with their chunk.
    if (taken < count) deferral().count_free(q, chunk, count - taken);
    units += reduce(group, taken, plus{});
    sync(group);
    if (is_leader(group)) lists().set_carried(q, carried);
    sync(group);
    return late == 0;
  }

  /// How many pages to take from free chunks: twice as many each time, since mallocs wait for each
  /// refill. Pages that no malloc claims are not lost: a sweep takes them. One lane.
  WARPHEAP_FN std::uint32_t fresh_pages(std::uint32_t q, std::uint32_t wanted) const {
    constexpr std::uint32_t most = batch_ring::largest_batch;
    if (q >= Layout::chunk_classes) return wanted < most ? wanted : most;
    const atomic_view fresh{chunks().of_class(q).fresh};
    const std::uint64_t share = chunks().control().chunks / Layout::fresh_share * Layout::pages(q);
    std::uint64_t pages = fresh.load(memory_order::relaxed, thread_scope::device) * std::uint64_t{2};
    if (pages < Layout::least_fresh) pages = Layout::least_fresh;
    if (pages > share) pages = share;
    if (pages < wanted) pages = wanted;
    if (pages > most) pages = most;
    fresh.store(static_cast<std::uint32_t>(pages), memory_order::relaxed, thread_scope::device);
    return static_cast<std::uint32_t>(pages);
  }

  /// Neighbouring free chunks with as many pages as are wanted or available. `locked`: the group
  /// holds the heap's lock, without which pages above a chunk are not taken.
  WARPHEAP_COLD_FN source take_chunks(std::uint32_t q, lane_mask group, std::uint32_t wanted, bool locked,
                                      std::uint32_t& units) const {
    std::uint32_t needs = 0;
    if (is_leader(group)) needs = fresh_pages(q, wanted);
    needs = shuffle(group, needs, leader(group));
    const std::uint32_t wanted_chunks = (needs + Layout::pages(q) - 1) >> Layout::pages_log2(q);
    index_run run{0, 0};
    if (q < Layout::chunk_classes) {
      run = chunks().free_chunks().take_run(group, wanted_chunks);
    } else if (locked && is_leader(group)) {
      // A page of several chunks is a run that is aligned to its size. So the gap between two of them
      // always has room for whole pages, in whichever order chunks come back.
      const std::uint32_t each = Layout::chunks_of_page(q);
      run = chunks().take_neighbours(each, needs * each, each);
    }
    run = {shuffle(group, run.first, leader(group)), shuffle(group, run.count, leader(group))};
    sync(group);
    if (q < Layout::chunk_classes && run.count != 0 && run.count < Layout::short_run && run.count < wanted_chunks) {
      // Where chunks come and go one by one no long run is left, and a batch of a few pages would not
      // be worth the wait.
      const std::uint32_t id = queues().next_staging(q, group);
      queues().await_staging(group, id);
      for (std::uint64_t i = static_cast<std::uint64_t>(group_rank(group)); i < run.count;
           i += static_cast<std::uint64_t>(group_size(group))) {
        queues().flat().entry(id, static_cast<std::uint32_t>(i)) = static_cast<std::uint32_t>(run.first + i);
      }
      units = gather_chunks(group, id, static_cast<std::uint32_t>(run.count), wanted_chunks) << Layout::pages_log2(q);
      return source::make(source::staged_chunks, id);
    }
    units = static_cast<std::uint32_t>(run.count) / Layout::chunks_of_page(q) * Layout::pages(q);
    return source::make(source::run, run.first);
  }

  /// Adds free chunks, wherever they lie, to the `count` chunks in staging segment `id`, until
  /// `wanted` are there or there is no more room. Marks the segment as used and returns how many
  /// chunks it has. Collective.
  WARPHEAP_COLD_FN std::uint32_t gather_chunks(lane_mask group, std::uint32_t id, std::uint32_t count,
                                               std::uint32_t wanted) const {
    constexpr std::uint32_t most = segment_capacity(Layout::staging_size) - bit_tree::leaf_bits;
    if (wanted > most) wanted = most;
    while (count < wanted) {
      std::uint32_t leaf = 0;
      // Whole leaves, so up to 63 chunks more than wanted: `most` leaves room for them.
      const std::uint32_t leaves = (wanted - count + bit_tree::leaf_bits - 1) / bit_tree::leaf_bits;
      std::uint64_t mask = chunks().free_chunks().take_low(group, leaves, bit_tree::leaf_bits, leaf);
      if (!any(group, mask != 0)) break;
      const auto mine = static_cast<std::uint32_t>(popcount(mask));
      std::uint32_t at = count + exclusive_scan(group, mine, 0u, plus{});
      for (; mask != 0; mask &= mask - 1) {
        queues().flat().entry(id, at++) = leaf * bit_tree::leaf_bits + static_cast<std::uint32_t>(lowest_bit(mask));
      }
      count += reduce(group, mine, plus{});
    }
    sync(group);  // what each lane acquired and wrote, the publisher releases
    if (is_leader(group)) queues().use_staging(id);
    return count;
  }

  ouroboros_reclamation<Layout> reclamation_;
};

}  // namespace warpheap::detail
