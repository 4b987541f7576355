// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/ouroboros/ouroboros.hpp>

// malloc. Lanes that want one size of one heap draw tickets together, and each finds its unit in a
// batch. The group with the first ticket without a unit refills the supply. Groups that came
// together have turns, so that no lane has a unit or a ticket while it stands at a reconvergence
// barrier.
// Where entries are hints (C) allocation has two stages: a unit names a chunk, then its holder
// takes a page from the chunk's count, then a bit. A block above the largest page is a span of
// chunks, found under the heap's lock.

namespace warpheap {

template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN void* basic_ouroboros<Items, Kind, Options>::malloc(std::uint64_t bytes) const {
  if (bytes > Options.largest_page) return cold_call([*this, bytes] { return malloc_run(bytes, Options.chunk_bytes); });
  const std::uint32_t q = bytes <= 16 ? 0 : highest_bit(static_cast<std::uint32_t>(bytes) - 1) + 1 - layout::page_shift;
  void* page = nullptr;
  chunks().in_turns(q, [&](lane_mask lanes) { return take_page(q, lanes, page); });
  return page;
}

template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN void* basic_ouroboros<Items, Kind, Options>::aligned_malloc(std::uint64_t alignment,
                                                                        std::uint64_t bytes) const {
  // A page is aligned to its size, as far as the heap's memory is.
  constexpr std::uint64_t page_alignment = 4096;
  if (alignment <= page_alignment) return malloc(bytes < alignment ? alignment : bytes);
  return cold_call([*this, bytes, alignment] { return malloc_run(bytes, alignment); });
}

/// A page of size q for each lane of `group`, or null. Returns false to a lane whose unit was a hint to a chunk that
/// has no page left: it draws once more. Collective; of the groups of a warp one at a time.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN bool basic_ouroboros<Items, Kind, Options>::take_page(std::uint32_t q, lane_mask group, void*& page) const {
  return chunks().of_class(q).supply.take(
      group,
      [&](lane_mask refillers, batch_ring::batch newest) {
        cold_call([*this, q, refillers, newest] { refill().refill_supply(q, refillers, newest); });
      },
      [&](lane_mask served, batch_ring::place at) {
        const bool is_hint = !layout::stores_pages(q) && source{at.what}.what() == source::queued;
        page = is_hint ? cold_call([*this, q, served, at] { return hinted_page(q, served, at); })
                       : page_or_null(q, served, at);
        return page != nullptr || !is_hint;
      });
}

/// The page that is the caller's unit, or null if the batch is a refusal. Collective
/// over the lanes with units of the same batch.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN void* basic_ouroboros<Items, Kind, Options>::page_or_null(std::uint32_t q, lane_mask group,
                                                                      batch_ring::place at) const {
  batch_ring& supply = chunks().of_class(q).supply;
  const source from{at.what};
  const auto units = static_cast<std::uint32_t>(group_size(group));
  if (from.what() == source::queued || from.what() == source::staged_pages) {
    const std::uint64_t page = queues().entry(from, at.index);
    sync(group);
    if (is_leader(group) && supply.finish(at.in, units)) queues().retire(q, from);
    return chunks().data() + (page << layout::entry_shift(q));
  }
  if (from.what() == source::staged_chunks) {
    const std::uint64_t chunk = queues().entry(from, at.index >> layout::pages_log2(q));
    sync(group);
    if (is_leader(group) && supply.finish(at.in, units)) queues().retire(q, from);
    return fresh_page(q, chunk, at.index & (layout::pages(q) - 1));
  }
  sync(group);
  if (is_leader(group)) supply.leave(at.in, units);
  return from.what() == source::none ? nullptr : fresh_page(q, from.base(), at.index);
}

/// The page with the number `page`, counted from the begin of `chunk` and perhaps in a later chunk.
/// It is handed out for the first time since the chunk was free.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN void* basic_ouroboros<Items, Kind, Options>::fresh_page(std::uint32_t q, std::uint64_t chunk,
                                                                    std::uint32_t page) const {
  const std::uint64_t offset = (chunk << layout::chunk_shift) + (std::uint64_t{page} << (layout::page_shift + q));
  chunks().set_owner(offset >> layout::chunk_shift, q + 1);
  return chunks().data() + offset;
}

/// A page of the chunk that each lane's unit hints at, or null if the chunk has no page left.
/// Collective over the lanes with units of the same batch.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN void* basic_ouroboros<Items, Kind, Options>::hinted_page(std::uint32_t q, lane_mask group,
                                                                     batch_ring::place at) const {
  page_class& size = chunks().of_class(q);
  const source from{at.what};
  const std::uint32_t last_of_entry = (1u << from.shift()) - 1;
  const std::uint32_t place = at.index >> from.shift();
  const std::uint64_t chunk = queues().entry(from, place);
  const warp_request peers{match(group, place)};
  const bool last = any(peers.lanes, (at.index & last_of_entry) == last_of_entry);
  std::uint32_t taken = 0;
  bool more = false;
  if (peers.leads()) taken = deferral().take_counted(q, chunk, peers.size(), last, more);
  taken = peers.from_leader(taken);
  const lane_mask returners = ballot(group, more);
  if (more) hints().push_hint(q, returners, chunk);
  sync(group);
  if (is_leader(group) && size.supply.finish(at.in, static_cast<std::uint32_t>(group_size(group)))) {
    queues().retire(q, from);
  }
  const std::uint32_t rank = peers.rank();
  if (rank >= taken) return nullptr;
  return chunks().data() + (bits().take_page_bit(q, chunk, rank) << (layout::page_shift + q));
}

/// A span of chunks for `bytes` bytes, or null. The search holds the heap's lock, so that two
/// searches do not spoil each other by what they take and put back. One lane.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_COLD_FN void* basic_ouroboros<Items, Kind, Options>::malloc_run(std::uint64_t bytes,
                                                                         std::uint64_t alignment) const {
  const std::uint64_t heap_bytes = chunks().control().chunks << layout::chunk_shift;
  if (bytes > heap_bytes || alignment > (std::uint64_t{1} << 40)) return nullptr;
  const auto count = static_cast<std::uint32_t>(divide_up(bytes, Options.chunk_bytes));
  const auto chunk_alignment = static_cast<std::uint32_t>(divide_up(alignment, Options.chunk_bytes));
  index_run run{0, 0};
  chunks().control().lock.hold([&] {
    run = chunks().take_neighbours(count, count, chunk_alignment);
    if (run.count == 0 && reclamation().sweep(layout::classes, lane_bit())) {
      run = chunks().take_neighbours(count, count, chunk_alignment);
    }
  });
  if (run.count == 0) return nullptr;
  chunks().set_owner(run.first, chunk_record::run_base + count);
  return chunks().data() + (run.first << layout::chunk_shift);
}

}  // namespace warpheap
