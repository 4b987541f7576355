// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocators/ouroboros/ouroboros.hpp>

// What the renewer of a size does: the group that drew the first ticket of its stock without a page, until it publishes
// the next batch; so there is one at a time. It looks, in this order, at what the size has queued, at what it has
// parked, and at the free chunks. If there is nothing it takes the heap's lock, looks again, and then sweeps the other
// sizes.
//
// Forward progress: a renewer waits for threads that hold places in segments, which wait for nobody, for the holder of
// the lock, and, as its holder, for renewers that do not wait for it. So no two wait for each other.

namespace warpheap {

// Publishes the batch of size q behind `newest`, whose first unit is the first of `group`. Collective.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_COLD_FN void basic_ouroboros<Items, Kind, Options>::renew(std::uint32_t q, lane_mask group,
                                                                   batch_ring::batch newest) const {
  using enum memory_order;
  using enum thread_scope;
  page_class& size = of_class(q);
  // Serve all who wait. If there is nothing, this is also how many may be told so: who came after we began to search
  // has a right to a search of its own.
  const std::uint32_t wanted = shuffle(group, size.stock.demand(newest), leader(group));

  std::uint32_t units = 0;
  source from = find_pages(q, group, wanted, false, units);
  if (units == 0) {
    if (is_leader(group)) {
      const atomic_view flag{size.waiting};
      flag.store(1, release, device);  // hands what is ours to the holder of the lock while we wait
      control_->lock.acquire();
      flag.store(0, relaxed, device);
    }
    sync(group);
    for (;;) {  // not a spin: it searches anew, and pauses in between
      // Chunks may pass us by, from a size that we look at later to one that we have looked at: those that we free
      // ourselves in a sweep, too, since renewers that find chunks take them without the lock. So what is refused is
      // only what was not to be had while no chunk came or went.
      bit_tree::watch before{};
      bool settled = false;
      if (is_leader(group)) {
        before = free_chunks().begin_watch();
        settled = nothing_moves();
      }
      from = find_pages(q, group, wanted, true, units);
      if (units == 0 && sweep(q, group)) from = find_pages(q, group, wanted, true, units);
      if (units != 0 || any(group, is_leader(group) && settled && free_chunks().was_quiet(before))) break;
      backoff{}.pause();
    }
    sync(group);
    if (is_leader(group)) control_->lock.release();
  }
  if (units == 0) {
    from = source::make(source::none, 0);
    units = wanted;
  }
  sync(group);
  if (is_leader(group)) {
    ++size.turn;
    size.stock.publish(newest, from.word, units, units);
  }
  sync(group);
}

// A batch of pages of size q; `units` tells how many, 0 for none. Collective over the renewer's group.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN auto basic_ouroboros<Items, Kind, Options>::find_pages(std::uint32_t q, lane_mask group,
                                                                   std::uint32_t wanted, bool locked,
                                                                   std::uint32_t& units) const -> source {
  if (layout::stores_pages(q)) {
    adopted_segment oldest{};
    if (is_leader(group)) {
      const Kind of = kind();
      oldest = segment_queue<Kind>{of_class(q).queue, of}.adopt();
    }
    units = shuffle(group, oldest.count, leader(group));
    if (units != 0) {
      sync(group);
      return source::make(source::queued, shuffle(group, oldest.segment.id, leader(group)));
    }
  }
  const source parked = harvest(q, group, units);
  if (units != 0) return parked;
  return take_chunks(q, group, wanted, locked, units);
}

// Neighbouring free chunks, as many as are wanted or as there are. `locked` tells whether we hold the heap's lock.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_COLD_FN auto basic_ouroboros<Items, Kind, Options>::take_chunks(std::uint32_t q, lane_mask group,
                                                                         std::uint32_t wanted, bool locked,
                                                                         std::uint32_t& units) const -> source {
  constexpr std::uint32_t most = batch_ring::largest_batch;
  const std::uint32_t needs = wanted < most ? wanted : most;
  index_run run{0, 0};
  if (q < layout::chunk_classes) {
    run = free_chunks().take_run(group, divide_up(needs, layout::pages(q)));
  } else if (locked && is_leader(group)) {
    // A page of several chunks is a run that is aligned to its size: so what is left between two of them is always room
    // for whole ones, in whichever order chunks come back.
    const std::uint64_t chunks = layout::chunks_of_page(q);
    run = take_neighbours(chunks, needs * chunks, chunks);
  }
  run = {shuffle(group, run.first, leader(group)), shuffle(group, run.count, leader(group))};
  sync(group);
  units = static_cast<std::uint32_t>(run.count / layout::chunks_of_page(q)) * layout::pages(q);
  return source::make(source::run, run.first);
}

// Pages that wait in the bitmaps of chunks, written out into a staging segment.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_COLD_FN auto basic_ouroboros<Items, Kind, Options>::harvest(std::uint32_t q, lane_mask group,
                                                                     std::uint32_t& units) const -> source {
  using enum memory_order;
  using enum thread_scope;
  units = 0;
  if (q >= layout::chunk_classes) return {0};  // such pages are chunks, and are given back as such
  page_class& size = of_class(q);
  std::uint32_t id = 0;
  if (is_leader(group)) id = static_cast<std::uint32_t>((2 * q + (size.turn & 1)) * layout::staging_segment);
  id = shuffle(group, id, leader(group));
  segment_header& header = flat().header(id);
  // Some more than is wanted, since a search costs as much for few pages as for many.
  const std::uint32_t goal = layout::staging_capacity / 2;
  bool ready = false;
  while (units < goal) {
    bool listed = false;
    const std::uint64_t chunk = next_candidate(q, group, listed);
    if (!any(group, chunk != no_chunk)) break;
    if (!ready) {
      // Acquires the reads of those who took pages from it two turns ago; they run.
      if (is_leader(group)) {
        for (backoff wait; atomic_view{header.in_use}.load(acquire, device) != 0;) wait.pause();
      }
      sync(group);
      ready = true;
    }
    // Take what fits, and carry the others over to the next renewal.
    const std::uint32_t kept = size.carried;
    const std::uint32_t expected =
        chunk != no_chunk ? chunk_state{atomic_view{record(chunk).state}.load(relaxed, device)}.count() : 0;
    const bool fits = units + inclusive_scan(group, expected, plus{}) <= layout::staging_capacity;
    const lane_mask late = ballot(group, !fits && chunk != no_chunk);
    if (!fits && chunk != no_chunk) {
      size.carry[kept + static_cast<std::uint32_t>(popcount(lanes_below(late)))] =
          static_cast<std::uint32_t>(chunk) * 2 + (listed ? 1 : 0);
    }
    const std::uint32_t count = fits && chunk != no_chunk ? harvest_chunk(q, chunk, listed) : 0;
    const std::uint32_t taken = count < expected ? count : expected;
    const std::uint32_t begin = units + exclusive_scan(group, taken, 0u, plus{});
    if (taken != 0) unpark(q, chunk, taken, staging(id) + begin);
    // What came since we looked stays with its chunk.
    if (taken < count) count_free(q, chunk, count - taken);
    units += reduce(group, taken, plus{});
    sync(group);
    if (is_leader(group)) {
      atomic_view{size.carried}.store(kept + static_cast<std::uint32_t>(popcount(late)), relaxed, device);
    }
    sync(group);
    if (late != 0) break;
  }
  if (units == 0) return {0};
  sync(group);
  if (is_leader(group)) atomic_view{header.in_use}.store(1, relaxed, device);
  return source::make(source::staged, id);
}

// A chunk for each lane, as far as there are some, of which hints say that it has parked pages; no_chunk for the
// others.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN std::uint64_t basic_ouroboros<Items, Kind, Options>::next_candidate(std::uint32_t q, lane_mask group,
                                                                                bool& listed) const {
  page_class& size = of_class(q);
  const auto rank = static_cast<std::uint32_t>(group_rank(group));
  if (const std::uint32_t carried = size.carried; carried != 0) {
    const auto lanes = static_cast<std::uint32_t>(group_size(group));
    // From the end, so that those which a smaller group leaves stay where they are.
    const std::uint32_t rest = carried < lanes ? 0 : carried - lanes;
    const std::uint32_t mine = rest + rank < carried ? size.carry[rest + rank] : 0;
    sync(group);
    if (is_leader(group)) atomic_view{size.carried}.store(rest, memory_order::relaxed, thread_scope::device);
    sync(group);
    listed = (mine & 1) != 0;
    return rest + rank < carried ? mine / 2 : no_chunk;
  }
  const std::uint64_t hinted = next_hint(q, group);
  if (any(group, hinted != no_chunk)) return hinted;
  listed = true;
  return next_parked(q, group);
}

// The next hint of the queue that may be up to date for each lane, as far as there are some; no_chunk for the others.
// Looks at several rows of hints at a time, since many are out of date where whole chunks were freed by several warps.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_COLD_FN std::uint64_t basic_ouroboros<Items, Kind, Options>::next_hint(std::uint32_t q,
                                                                                lane_mask group) const {
  using enum memory_order;
  using enum thread_scope;
  if (layout::stores_pages(q) || q >= layout::chunk_classes) return no_chunk;
  constexpr std::uint32_t rows = 8;
  page_class& size = of_class(q);
  const auto lanes = static_cast<std::uint32_t>(group_size(group));
  const auto rank = static_cast<std::uint32_t>(group_rank(group));
  for (;;) {
    if (is_leader(group) && size.hints_next == size.hints_count) {
      const Kind of = kind();
      const adopted_segment oldest = segment_queue<Kind>{size.queue, of}.adopt();
      size.hints_id = oldest.segment.id;
      // Atomic for sweepers, who look whether there is anything.
      atomic_view{size.hints_count}.store(oldest.count, relaxed, device);
      atomic_view{size.hints_next}.store(0, relaxed, device);
    }
    sync(group);
    const std::uint32_t begin = size.hints_next;
    const std::uint32_t count = size.hints_count;
    if (begin == count) {
      sync(group);
      return no_chunk;
    }
    const source from = source::make(source::queued, size.hints_id);
    std::uint64_t chunk[rows];
    chunk_state state[rows];
    for (std::uint32_t row = 0; row < rows; ++row) {
      const std::uint32_t place = begin + row * lanes + rank;
      chunk[row] = place < count ? entry(from, place) : no_chunk;
      state[row] = {chunk[row] != no_chunk ? atomic_view{record(chunk[row]).state}.load(relaxed, device) : 0};
    }
    std::uint64_t mine = no_chunk;
    std::uint32_t next = begin;
    for (std::uint32_t row = 0; row < rows && next < count; ++row) {
      next = next + lanes < count ? next + lanes : count;
      bool live = state[row].hint() == q + 1;
      if (live && state[row].count() == 0) {
        // Given back since, or taken: the hint goes, unless pages were freed just now.
        std::uint64_t expected = state[row].word;
        live = !atomic_view{record(chunk[row]).state}.compare_exchange(
            expected, state[row].with_hint(chunk_state::no_hint).word, acq_rel, device);
      }
      if (any(group, live)) {
        mine = live ? chunk[row] : no_chunk;
        break;
      }
    }
    const bool found = any(group, mine != no_chunk);
    sync(group);  // all have read
    if (is_leader(group)) {
      atomic_view{size.hints_next}.store(next, relaxed, device);
      if (next == count) retire(from);
    }
    sync(group);
    if (found) return mine;
  }
}

}  // namespace warpheap
