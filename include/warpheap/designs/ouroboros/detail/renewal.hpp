// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/ouroboros/ouroboros.hpp>

// What the renewer of a size does: the group that drew the first ticket of its stock without a page, until it publishes
// the next batch; so there is one at a time. It looks, in this order, at what the size has queued, at what it has
// parked, and at the free chunks. If there is nothing it takes the heap's lock, looks again, and then sweeps the other
// sizes.
//
// Forward progress: a renewer waits for threads that hold places in segments, which wait for nobody, for the holder of
// the lock, and, as its holder, for renewers that do not wait for it. So no two wait for each other.

namespace warpheap {

// Publishes the batch of size q that follows `newest`, whose first unit is the first of `group`. Collective.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_COLD_FN void basic_ouroboros<Items, Kind, Options>::renew(std::uint32_t q, lane_mask group,
                                                                   batch_ring::batch newest) const {
  // Serve all lanes that wait. If there is nothing, this is also how many may be told so: a lane that came after the
  // search began has a right to a search of its own.
  const std::uint32_t wanted = shuffle(group, of_class(q).stock.demand(newest), leader(group));
  std::uint32_t units = 0;
  const source from = find_pages(q, group, wanted, false, units);
  if (units == 0) return renew_at_last(q, group, newest, wanted);
  publish_batch(q, group, newest, from, units);
}

// Publishes `units` units that come from `from`. Collective over the renewer's group.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN void basic_ouroboros<Items, Kind, Options>::publish_batch(std::uint32_t q, lane_mask group,
                                                                      batch_ring::batch newest, source from,
                                                                      std::uint32_t units) const {
  page_class& size = of_class(q);
  sync(group);
  if (is_leader(group)) {
    ++size.turn;
    size.stock.publish(newest, from.word, units, units);
  }
  sync(group);
}

// Searches with the heap's lock, takes apart what other sizes have, and publishes what that gave, or that there is
// nothing. Collective.
//
// It publishes before it gives up the lock, and so before other groups of its warp can wait for the lock by a spin: a
// renewal ends without any of them. A holder of units of size q waits for no lock until its units are finished.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_COLD_FN void basic_ouroboros<Items, Kind, Options>::renew_at_last(std::uint32_t q, lane_mask group,
                                                                           batch_ring::batch newest,
                                                                           std::uint32_t wanted) const {
  using enum memory_order;
  using enum thread_scope;
  const atomic_view waits{of_class(q).waiting};
  // Hands what is ours to the holder of the lock while we wait.
  if (is_leader(group)) waits.store(1, release, device);
  sync(group);
  control_->lock.hold(group, [&] {
    if (is_leader(group)) waits.store(0, relaxed, device);
    sync(group);
    std::uint32_t units = 0;
    source from = find_at_last(q, group, wanted, units);
    if (units == 0) {
      from = source::make(source::none, 0);
      units = wanted;
    }
    publish_batch(q, group, newest, from, units);
  });
}

// Searches until something was found, or nothing although no chunk came or went. Collective; the leader holds the lock.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_COLD_FN auto basic_ouroboros<Items, Kind, Options>::find_at_last(std::uint32_t q, lane_mask group,
                                                                          std::uint32_t wanted,
                                                                          std::uint32_t& units) const -> source {
  source from{0};
  for (;;) {  // not a spin: it searches anew, and pauses in between
    await_holders(q, group);
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
    if (units == 0 && trim_queues(group)) continue;  // what this search itself put there
    if (units != 0 || any(group, is_leader(group) && settled && free_chunks().was_quiet(before))) return from;
    backoff{}.pause();
  }
}

// Waits until nobody holds a unit of size q: who has a hint to a chunk may be about to put it back for its other pages.
// All of them run.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_COLD_FN void basic_ouroboros<Items, Kind, Options>::await_holders(std::uint32_t q, lane_mask group) const {
  if (!layout::stores_pages(q) && is_leader(group)) of_class(q).stock.await_all_finished();
  sync(group);
}

// A batch of pages of size q; `units` tells how many, 0 for none. Collective over the renewer's group.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_COLD_FN auto basic_ouroboros<Items, Kind, Options>::find_pages(std::uint32_t q, lane_mask group,
                                                                        std::uint32_t wanted, bool locked,
                                                                        std::uint32_t& units) const -> source {
  source found = queued_pages(q, group, units);
  if (units == 0) found = harvest(q, group, units);
  if (units == 0) found = take_chunks(q, group, wanted, locked, units);
  return found;
}

// What the size has queued. Where an entry is a hint, it stands for as many units as the chunks have free pages on
// average, up to a warp's: so hints last longer, and a warp finds its pages together.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_COLD_FN auto basic_ouroboros<Items, Kind, Options>::queued_pages(std::uint32_t q, lane_mask group,
                                                                          std::uint32_t& units) const -> source {
  adopted_segment oldest{};
  if (is_leader(group)) oldest = queue(q).adopt();
  units = shuffle(group, oldest.count, leader(group));
  if (units == 0) return {0};
  sync(group);
  const std::uint32_t id = shuffle(group, oldest.segment.id, leader(group));
  std::uint32_t shift = 0;
  if (!layout::stores_pages(q)) {
    // A sample: one hint for each lane.
    const auto lanes = static_cast<std::uint32_t>(group_size(group));
    const std::uint32_t place = units / lanes * static_cast<std::uint32_t>(group_rank(group));
    const chunk_state state{atomic_view{record(entry(source::make(source::queued, id), place)).state}.load(
        memory_order::relaxed, thread_scope::device)};
    const std::uint32_t average = reduce(group, state.hint() == q + 1 ? state.count() : 0u, plus{}) / lanes;
    while (shift < 5 && (2u << shift) <= average && (units << (shift + 1)) <= batch_ring::largest_batch) ++shift;
  }
  units <<= shift;
  return source::make(source::queued, id, shift);
}

// How many pages to take from free chunks: more than are wanted, twice as many each time, since each renewal makes
// those wait who want pages. What nobody claims others can have: a sweep takes it. One lane.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN std::uint32_t basic_ouroboros<Items, Kind, Options>::fresh_pages(std::uint32_t q,
                                                                             std::uint32_t wanted) const {
  constexpr std::uint32_t most = batch_ring::largest_batch;
  if (q >= layout::chunk_classes) return wanted < most ? wanted : most;
  const atomic_view fresh{of_class(q).fresh};
  const std::uint64_t share = control_->chunks / layout::fresh_share * layout::pages(q);
  std::uint64_t pages = fresh.load(memory_order::relaxed, thread_scope::device) * std::uint64_t{2};
  if (pages < layout::least_fresh) pages = layout::least_fresh;
  if (pages > share) pages = share;
  if (pages < wanted) pages = wanted;
  if (pages > most) pages = most;
  fresh.store(static_cast<std::uint32_t>(pages), memory_order::relaxed, thread_scope::device);
  return static_cast<std::uint32_t>(pages);
}

// Neighbouring free chunks, as many as are wanted or as there are. `locked` tells whether we hold the heap's lock.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_COLD_FN auto basic_ouroboros<Items, Kind, Options>::take_chunks(std::uint32_t q, lane_mask group,
                                                                         std::uint32_t wanted, bool locked,
                                                                         std::uint32_t& units) const -> source {
  std::uint32_t needs = 0;
  if (is_leader(group)) needs = fresh_pages(q, wanted);
  needs = shuffle(group, needs, leader(group));
  const std::uint32_t chunks = (needs + layout::pages(q) - 1) >> layout::pages_log2(q);
  index_run run{0, 0};
  if (q < layout::chunk_classes) {
    run = free_chunks().take_run(group, chunks);
  } else if (locked && is_leader(group)) {
    // A page of several chunks is a run that is aligned to its size: so what is left between two of them is always room
    // for whole ones, in whichever order chunks come back.
    const std::uint32_t each = layout::chunks_of_page(q);
    run = take_neighbours(each, needs * each, each);
  }
  run = {shuffle(group, run.first, leader(group)), shuffle(group, run.count, leader(group))};
  sync(group);
  if (q < layout::chunk_classes && run.count != 0 && run.count < layout::short_run && run.count < chunks) {
    // Where chunks come and go one by one no long run is left, and a batch of a few pages would not be worth the wait.
    const std::uint32_t id = next_staging(q, group);
    await_staging(group, id);
    for (std::uint64_t i = static_cast<std::uint64_t>(group_rank(group)); i < run.count;
         i += static_cast<std::uint64_t>(group_size(group))) {
      flat().entry(id, static_cast<std::uint32_t>(i)) = static_cast<std::uint32_t>(run.first + i);
    }
    units = gather_chunks(group, id, static_cast<std::uint32_t>(run.count), chunks) << layout::pages_log2(q);
    return source::make(source::listed, id);
  }
  units = static_cast<std::uint32_t>(run.count) / layout::chunks_of_page(q) * layout::pages(q);
  return source::make(source::run, run.first);
}

// Adds free chunks, wherever they lie, to the `count` in staging segment `id`, until there are as many as `wanted` or
// as have room. Returns how many there are, and marks the segment as used. Collective.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_COLD_FN std::uint32_t basic_ouroboros<Items, Kind, Options>::gather_chunks(lane_mask group, std::uint32_t id,
                                                                                    std::uint32_t count,
                                                                                    std::uint32_t wanted) const {
  constexpr std::uint32_t most = segment_capacity(layout::staging_size) - bit_tree::leaf_bits;
  if (wanted > most) wanted = most;
  while (count < wanted) {
    std::uint32_t leaf = 0;
    // Whole leaves, so there is room for one more.
    const std::uint32_t leaves = (wanted - count + bit_tree::leaf_bits - 1) / bit_tree::leaf_bits;
    std::uint64_t mask = free_chunks().take_low(group, leaves, bit_tree::leaf_bits, leaf);
    if (!any(group, mask != 0)) break;
    const auto mine = static_cast<std::uint32_t>(popcount(mask));
    std::uint32_t at = count + exclusive_scan(group, mine, 0u, plus{});
    for (; mask != 0; mask &= mask - 1) {
      flat().entry(id, at++) = leaf * bit_tree::leaf_bits + static_cast<std::uint32_t>(lowest_bit(mask));
    }
    count += reduce(group, mine, plus{});
  }
  sync(group);  // what each lane acquired and wrote, the publisher releases
  if (is_leader(group)) atomic_view{flat().header(id).in_use}.store(1, memory_order::relaxed, thread_scope::device);
  return count;
}

// The staging segment for the next batch of size q. Collective over the renewer's group.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN std::uint32_t basic_ouroboros<Items, Kind, Options>::next_staging(std::uint32_t q, lane_mask group) const {
  std::uint32_t id = 0;
  if (is_leader(group)) id = static_cast<std::uint32_t>((2 * q + (of_class(q).turn & 1)) * layout::staging_segment);
  return shuffle(group, id, leader(group));
}

// Waits until the batch of two turns ago is read, and acquires that; its holders run.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN void basic_ouroboros<Items, Kind, Options>::await_staging(lane_mask group, std::uint32_t id) const {
  if (is_leader(group)) {
    const atomic_view in_use{flat().header(id).in_use};
    for (backoff wait; in_use.load(memory_order::acquire, thread_scope::device) != 0;) wait.pause();
  }
  sync(group);
}

// Pages that wait in the bitmaps of chunks of the list, written out into a staging segment.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_COLD_FN auto basic_ouroboros<Items, Kind, Options>::harvest(std::uint32_t q, lane_mask group,
                                                                     std::uint32_t& units) const -> source {
  using enum memory_order;
  using enum thread_scope;
  units = 0;
  if (q >= layout::chunk_classes) return {0};  // such pages are chunks, and are given back as such
  const std::uint32_t id = next_staging(q, group);
  // Some more than is wanted, since a search costs as much for few pages as for many.
  const std::uint32_t goal = layout::staging_capacity / 2;
  while (units < goal && harvest_some(q, group, id, units)) {
  }
  if (units == 0) return {0};
  sync(group);
  if (is_leader(group)) atomic_view{flat().header(id).in_use}.store(1, relaxed, device);
  return source::make(source::staged, id);
}

// Adds pages of a chunk for each lane to the `units` that staging segment `id` has; false if no chunk has pages, or if
// no room is left. Collective.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_COLD_FN bool basic_ouroboros<Items, Kind, Options>::harvest_some(std::uint32_t q, lane_mask group,
                                                                          std::uint32_t id,
                                                                          std::uint32_t& units) const {
  using enum memory_order;
  using enum thread_scope;
  page_class& size = of_class(q);
  const std::uint64_t chunk = next_candidate(q, group);
  if (!any(group, chunk != no_chunk)) return false;
  if (units == 0) await_staging(group, id);
  // Take what fits, and carry the others over to the next renewal.
  const std::uint32_t expected =
      chunk != no_chunk ? chunk_state{atomic_view{record(chunk).state}.load(relaxed, device)}.count() : 0;
  const bool fits = units + inclusive_scan(group, expected, plus{}) <= layout::staging_capacity;
  const lane_mask late = ballot(group, !fits && chunk != no_chunk);
  const std::uint32_t carried = size.carried + static_cast<std::uint32_t>(popcount(late));
  if (!fits && chunk != no_chunk) {
    size.carry[size.carried + static_cast<std::uint32_t>(popcount(lanes_below(late)))] =
        static_cast<std::uint32_t>(chunk);
  }
  const std::uint32_t count = fits && chunk != no_chunk ? harvest_chunk(q, chunk) : 0;
  const std::uint32_t taken = count < expected ? count : expected;
  const std::uint32_t begin = units + exclusive_scan(group, taken, 0u, plus{});
  if (taken != 0) unpark(q, chunk, taken, staging(id) + begin);
  // What came since we looked stays with its chunk.
  if (taken < count) count_free(q, chunk, count - taken);
  units += reduce(group, taken, plus{});
  sync(group);
  if (is_leader(group)) atomic_view{size.carried}.store(carried, relaxed, device);
  sync(group);
  return late == 0;
}

// A chunk of the list for each lane, as far as there are some; no_chunk for the others.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN std::uint64_t basic_ouroboros<Items, Kind, Options>::next_candidate(std::uint32_t q,
                                                                                lane_mask group) const {
  page_class& size = of_class(q);
  const std::uint32_t carried = size.carried;
  if (carried == 0) return next_parked(q, group);
  const auto rank = static_cast<std::uint32_t>(group_rank(group));
  const auto lanes = static_cast<std::uint32_t>(group_size(group));
  // From the end, so that those which a smaller group leaves stay where they are.
  const std::uint32_t rest = carried < lanes ? 0 : carried - lanes;
  const std::uint64_t mine = rest + rank < carried ? size.carry[rest + rank] : no_chunk;
  sync(group);
  if (is_leader(group)) atomic_view{size.carried}.store(rest, memory_order::relaxed, thread_scope::device);
  sync(group);
  return mine;
}

}  // namespace warpheap
