// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocators/ouroboros/ouroboros.hpp>

namespace warpheap {

template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN void* basic_ouroboros<Items, Kind, Options>::malloc(std::uint64_t bytes) const {
  if (bytes > Options.largest_page) return malloc_run(bytes, Options.chunk_bytes);
  const std::uint32_t q = bytes <= 16 ? 0 : highest_bit(static_cast<std::uint32_t>(bytes) - 1) + 1 - layout::page_shift;
  return take_page(q, same_class(active_group(), q));
}

template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN void* basic_ouroboros<Items, Kind, Options>::aligned_malloc(std::uint64_t alignment,
                                                                        std::uint64_t bytes) const {
  // A page is aligned to its size, as far as the heap's memory is.
  constexpr std::uint64_t page_alignment = 4096;
  if (alignment <= page_alignment) return malloc(bytes < alignment ? alignment : bytes);
  return malloc_run(bytes, alignment);
}

template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN void basic_ouroboros<Items, Kind, Options>::free(void* block) const {
  const auto offset = static_cast<std::uint64_t>(static_cast<std::byte*>(block) - data_);
  const std::uint64_t chunk = offset >> layout::chunk_shift;
  // The pointer came to us after the page was handed out, and its owner was written before that.
  const std::uint32_t owner = atomic_view{record(chunk).owner}.load(memory_order::relaxed, thread_scope::device);
  if (owner > chunk_record::run_base) return free_run(chunk, owner - chunk_record::run_base);
  const std::uint32_t q = owner - 1;
  lane_mask group = same_class(active_group(), q);
  if (layout::stores_pages(q)) {
    // A page whose number does not fit an entry, as above 64 GiB of 16-byte pages, waits in its chunk.
    const std::uint64_t page = offset >> layout::entry_shift(q);
    const lane_mask fit = ballot(group, page <= 0xffffffff);
    if (page <= 0xffffffff) {
      const Kind of = kind();
      const bool queued = segment_queue<Kind>{of_class(q).queue, of}.push(fit, static_cast<std::uint32_t>(page));
      if (queued) return;
    }
    group = same_class(active_group(), q);
  }
  park(group, q, offset);
}

template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN std::uint64_t basic_ouroboros<Items, Kind, Options>::usable_size(const void* block) const {
  const auto offset = static_cast<std::uint64_t>(static_cast<const std::byte*>(block) - data_);
  const std::uint32_t owner =
      atomic_view{record(offset >> layout::chunk_shift).owner}.load(memory_order::relaxed, thread_scope::device);
  if (owner > chunk_record::run_base) {
    return std::uint64_t{owner - chunk_record::run_base} << layout::chunk_shift;
  }
  return layout::page_bytes(owner - 1);
}

// The entries of a staging segment, which have 64 bits each: page numbers of any heap.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN std::uint64_t* basic_ouroboros<Items, Kind, Options>::staging(std::uint32_t id) const {
  return reinterpret_cast<std::uint64_t*>(&flat().entry(id, 0));
}

// Entry `place` of a segment that `from` names.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN std::uint64_t basic_ouroboros<Items, Kind, Options>::entry(source from, std::uint32_t place) const {
  const auto id = static_cast<std::uint32_t>(from.base());
  if (from.what() == source::staged) return staging(id)[place];
  if constexpr (uses_chunks<Kind>) {
    return chunk_segments{data_, layout::chunk_shift}.entry(id, place);
  }
  return flat().entry(id, place);
}

// All entries of a segment were read.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_COLD_FN void basic_ouroboros<Items, Kind, Options>::retire(source from) const {
  const auto id = static_cast<std::uint32_t>(from.base());
  if constexpr (uses_chunks<Kind>) {
    if (from.what() == source::queued) return kind().retire(id);
  }
  static_ring{flat()}.retire(id);
}

// A page of size q for each lane of `group`, or null. Collective; lanes leave as they are served.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN void* basic_ouroboros<Items, Kind, Options>::take_page(std::uint32_t q, lane_mask group) const {
  batch_ring& stock = of_class(q).stock;
  std::uint32_t ticket = 0;
  if (is_leader(group)) ticket = stock.draw(static_cast<std::uint32_t>(group_size(group)));
  ticket = shuffle(group, ticket, leader(group));
  const batch_ring::place mine =
      stock.resolve(group, ticket, [&](lane_mask renewers, batch_ring::batch newest) { renew(q, renewers, newest); });
  return page_of(q, group, mine);
}

// The page that is the caller's unit. Collective over the lanes with units of the same batch.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN void* basic_ouroboros<Items, Kind, Options>::page_of(std::uint32_t q, lane_mask group,
                                                                 batch_ring::place at) const {
  batch_ring& stock = of_class(q).stock;
  const source from{stock.what(at.in)};
  const bool is_run = from.what() == source::run;
  std::uint64_t page = 0;
  if (!is_run && from.what() != source::none) page = entry(from, at.index);
  sync(group);
  if (is_leader(group) && stock.finish(at.in, static_cast<std::uint32_t>(group_size(group)))) {
    if (!is_run && from.what() != source::none) retire(from);
  }
  if (from.what() == source::none) return nullptr;
  if (!is_run) return data_ + (page << layout::entry_shift(q));
  const std::uint64_t offset =
      (from.base() << layout::chunk_shift) + (std::uint64_t{at.index} << (layout::page_shift + q));
  // Each page of the chunk writes the same. Nobody asks before a pointer to one of them was handed out.
  atomic_view{record(offset >> layout::chunk_shift).owner}.store(q + 1, memory_order::relaxed, thread_scope::device);
  return data_ + offset;
}

}  // namespace warpheap
