// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/ouroboros/ouroboros.hpp>

namespace warpheap {

template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN void* basic_ouroboros<Items, Kind, Options>::malloc(std::uint64_t bytes) const {
  if (bytes > Options.largest_page) return cold_call([*this, bytes] { return malloc_run(bytes, Options.chunk_bytes); });
  const std::uint32_t q = bytes <= 16 ? 0 : highest_bit(static_cast<std::uint32_t>(bytes) - 1) + 1 - layout::page_shift;
  return take_page(q, same_class(active_group(), q));
}

template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN void* basic_ouroboros<Items, Kind, Options>::aligned_malloc(std::uint64_t alignment,
                                                                        std::uint64_t bytes) const {
  // A page is aligned to its size, as far as the heap's memory is.
  constexpr std::uint64_t page_alignment = 4096;
  if (alignment <= page_alignment) return malloc(bytes < alignment ? alignment : bytes);
  return cold_call([*this, bytes, alignment] { return malloc_run(bytes, alignment); });
}

template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN void basic_ouroboros<Items, Kind, Options>::free(void* block) const {
  const auto offset = static_cast<std::uint64_t>(static_cast<std::byte*>(block) - data_);
  // The pointer came to us after the page was handed out, and its owner was written before that.
  const std::uint32_t owner =
      atomic_view{record(offset >> layout::chunk_shift).owner}.load(memory_order::relaxed, thread_scope::device);
  const std::uint32_t q = owner - 1;
  if (owner <= chunk_record::run_base) {
    if (!layout::stores_pages(q)) return park(same_class(active_group(), q), q, offset);
    // A number that does not fit an entry, as above 64 GiB of 16-byte pages, is not queued.
    const std::uint64_t page = offset >> layout::entry_shift(q);
    if (page >> 32 == 0 && push_page(q, same_class(active_group(), q), static_cast<std::uint32_t>(page))) return;
  }
  cold_call([*this, block] { free_otherwise(block); });
}

// Puts the page with the number `page` of each lane of `group` in the queue of its size; false if there is no room.
// Collective.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN bool basic_ouroboros<Items, Kind, Options>::push_page(std::uint32_t q, lane_mask group,
                                                                  std::uint32_t page) const {
  return queue(q).push(group, page, [&](lane_mask openers, batch_ring::batch newest) {
    cold_call([*this, q, openers, newest] { queue(q).open(openers, newest); });
  });
}

// Frees a run of chunks, or a page that its queue did not take, which waits in its chunk then.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN void basic_ouroboros<Items, Kind, Options>::free_otherwise(void* block) const {
  const auto offset = static_cast<std::uint64_t>(static_cast<std::byte*>(block) - data_);
  const std::uint64_t chunk = offset >> layout::chunk_shift;
  const std::uint32_t owner = atomic_view{record(chunk).owner}.load(memory_order::relaxed, thread_scope::device);
  if (owner > chunk_record::run_base) return free_run(chunk, owner - chunk_record::run_base);
  park(same_class(active_group(), owner - 1), owner - 1, offset);
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
  if (from.what() == source::listed) return flat().entry(id, place);
  if constexpr (uses_chunks<Kind>) {
    return chunk_segments{data_, layout::chunk_shift}.entry(id, place);
  }
  return flat().entry(id, place);
}

// All entries of a segment of size q were read.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_COLD_FN void basic_ouroboros<Items, Kind, Options>::retire(std::uint32_t q, source from) const {
  const auto id = static_cast<std::uint32_t>(from.base());
  if constexpr (uses_chunks<Kind>) {
    if (from.what() == source::queued) return kind(q, control_->chunks).retire(of_class(q).queue, id);
  }
  flat().retire(id);
}

// A page of size q for each lane of `group`, or null. Collective; lanes leave as they are served.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN void* basic_ouroboros<Items, Kind, Options>::take_page(std::uint32_t q, lane_mask group) const {
  for (;;) {  // not a spin: each turn uses up a unit of its own
    lane_mask served = group;
    const batch_ring::place mine = of_class(q).stock.take(served, [&](lane_mask renewers, batch_ring::batch newest) {
      cold_call([*this, q, renewers, newest] { renew(q, renewers, newest); });
    });
    if (layout::stores_pages(q) || source{mine.what}.what() != source::queued) return page_of(q, served, mine);
    // A hint; those who find nothing there ask again.
    void* const page = cold_call([*this, q, served, mine] { return hinted_page(q, served, mine); });
    group = ballot(served, page == nullptr);
    if (page != nullptr) return page;
  }
}

// The page that is the caller's unit. Collective over the lanes with units of the same batch.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN void* basic_ouroboros<Items, Kind, Options>::page_of(std::uint32_t q, lane_mask group,
                                                                 batch_ring::place at) const {
  batch_ring& stock = of_class(q).stock;
  const source from{at.what};
  const auto units = static_cast<std::uint32_t>(group_size(group));
  if (from.what() == source::queued || from.what() == source::staged) {
    const std::uint64_t page = entry(from, at.index);
    sync(group);
    if (is_leader(group) && stock.finish(at.in, units)) retire(q, from);
    return data_ + (page << layout::entry_shift(q));
  }
  if (from.what() == source::listed) {
    const std::uint64_t chunk = entry(from, at.index >> layout::pages_log2(q));
    sync(group);
    if (is_leader(group) && stock.finish(at.in, units)) retire(q, from);
    return fresh_page(q, chunk, at.index & (layout::pages(q) - 1));
  }
  sync(group);
  if (is_leader(group)) stock.leave(at.in, units);
  return from.what() == source::none ? nullptr : fresh_page(q, from.base(), at.index);
}

// The page with the number `page`, counted from the beginning of `chunk` and maybe in a later one, which nobody had
// since the chunk was free.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN void* basic_ouroboros<Items, Kind, Options>::fresh_page(std::uint32_t q, std::uint64_t chunk,
                                                                    std::uint32_t page) const {
  const std::uint64_t offset = (chunk << layout::chunk_shift) + (std::uint64_t{page} << (layout::page_shift + q));
  // Each page of the chunk writes the same. Nobody asks before a pointer to one of them was handed out.
  atomic_view{record(offset >> layout::chunk_shift).owner}.store(q + 1, memory_order::relaxed, thread_scope::device);
  return data_ + offset;
}

}  // namespace warpheap
