// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocator/device.hpp>
#include <warpheap/designs/ouroboros/detail/layout.hpp>
#include <warpheap/designs/ouroboros/detail/refill.hpp>
#include <warpheap/designs/ouroboros/items.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>
#include <warpheap/sync.hpp>
#if WARPHEAP_COMPILES_HOST
#include <warpheap/designs/ouroboros/detail/inspector.hpp>
#endif

namespace warpheap {

/// Ouroboros (Winter et al., ICS 2020): pages of power-of-two sizes, cut from chunks of 8 KiB. Free
/// pages wait in queues; virtualised queues live in chunks of the very heap that they serve.
///
/// Glossary
///   size        a page size; number `q`, with a supply, a queue and a partial list of its own
///   supply      the ticket supply of a size: a malloc draws a ticket, and a batch says which page
///               it is
///   batch       consecutive tickets that are published together; a unit is one of them
///   refiller    the group with the first ticket past all batches; it alone finds the next batch
///   hint        an entry of a queue (C): the number of a chunk that may have deferred pages
///   deferred    free, and in the bitmap of its chunk; a chunk counts its deferred pages
///   list        the partial list of a size: chunks whose hint is in no queue
///   collect     to take the counted pages of listed chunks
///   staging     segments that hold collected pages, or scattered chunks
///   action      what a lane has yet to do after it counted pages: queue, list or give back
///   move        a page on its way from a count to where a search finds it
///   sweep       reclamation of what other sizes hold
///   compaction  a sweep of all sizes by a whole grid, while no other kernel uses the heap
///   run         a span of neighbouring chunks
///
/// Call tree, downwards only; the file of a part has its name
///   malloc                                                          malloc.hpp
///   |- take_page         up to 64 KiB, lanes of a size together, which have turns
///   |  '- supply: take   a unit of a batch; the first ticket without one refills
///   |     |- refill: refill_supply
///   |     |  |- batch_source: find_pages   queued_pages (queues) -> collect (partial_lists,
///   |     |  |                             deferral, page_bits) -> take_chunks (chunks)
///   |     |  |- refill_under_lock          lock; search -> reclamation: sweep -> search
///   |     |  '- publish_batch
///   |     |- page_or_null   the unit is a page, or a page of free chunks
///   |     '- hinted_page    the unit is a hint: deferral: take_counted -> page_bits: take_page_bit
///   '- malloc_run        a span of chunks: lock; search -> reclamation: sweep -> search
///   free                                                            free.hpp
///   |- push_page         queues: the page's number (P)
///   |- defer             C, and P without room
///   |  |- deferral: count_pages   page_bits: set_bits -> add_to_count
///   |  |- hints: push_hint       queues -> deferral: list_instead -> partial_lists
///   |  '- deferral: finish_pending_action   partial_lists, or chunks
///   '- free_run          chunks: the set of free ones
///   coalesce             trim.hpp; no other kernel uses the heap
///   '- compaction: free_share -> last group: settle
///   withdraw, restore    trim.hpp: the set of free chunks
///   statistics           inspector, on the host
///
/// `Items` says which page sizes queue single pages (P) and which queue chunks that have free pages
/// (C); `Kind` how the queues are stored: `static_ring` (S), `virtual_array` (VA) or `virtual_list`
/// (VL). Any mix works.
///
/// Requests up to 64 KiB are rounded up to a power of two, at least 16 bytes; larger ones to whole
/// chunks, up to the whole heap. A block of 2^k bytes is aligned to 2^k bytes, up to 4 KiB.
///
/// A request is refused only when no page of its size is free and no chunk, or no span of as many
/// neighbouring chunks as it needs, even after a sweep of the other sizes. What differs from the paper, and why:
/// docs/design/ouroboros.md.
template <class Items, class Kind, ouroboros_options Options = ouroboros_options{}>
class basic_ouroboros {
  using layout = ouroboros_layout<Items, Kind, Options>;
  using page_class = typename layout::page_class;
  using source = ouroboros_source;
  using pending_action = detail::ouroboros_pending_action;

 public:
  static constexpr const char* name = ouroboros_name<Items, Kind>;
  static constexpr bool coalesces_in_parallel = true;
  static constexpr allocator_capabilities capabilities{.individual_free = true,
                                                       .knows_size = true,
                                                       .reset = true,
                                                       .grow = true,
                                                       .relocate = true,
                                                       .host_copy = true,
                                                       .counts_live = true,
                                                       .uses_arena = true,
                                                       .state_in_arena = uses_chunks<Kind>,
                                                       .trim_bytes = Options.chunk_bytes,
                                                       .stack_bytes = 4224};

  WARPHEAP_FN static constexpr std::uint64_t metadata_bytes(std::uint64_t bytes) {
    return layout::metadata_bytes(bytes);
  }

  WARPHEAP_FN explicit basic_ouroboros(const arena& from) : refill_(from) {}

  /// Bytes that an arena at this address needs for one block: up to the end of its first whole
  /// chunk.
  WARPHEAP_FN std::uint64_t least_bytes() const { return chunks().lead() + std::uint64_t{Options.chunk_bytes}; }
  WARPHEAP_FN std::uint64_t trim_begin() const { return chunks().lead(); }
  WARPHEAP_FN void initialise() const;
  WARPHEAP_FN void grow(std::uint64_t bytes) const;
#if WARPHEAP_COMPILES_HOST
  void relocate(const arena& from, const arena& to) const;
#endif
  WARPHEAP_FN void* malloc(std::uint64_t bytes) const;
  WARPHEAP_FN void* aligned_malloc(std::uint64_t alignment, std::uint64_t bytes) const;
  WARPHEAP_FN void free(void* block) const;
  WARPHEAP_FN std::uint64_t usable_size(const void* block) const;
  WARPHEAP_FN void count(allocator_counts& counts) const;
  WARPHEAP_FN void coalesce() const;
  WARPHEAP_FN void withdraw(std::uint64_t* units) const;
  WARPHEAP_FN void restore(const std::uint64_t* units) const;
#if WARPHEAP_COMPILES_HOST
  /// Where the heap's chunks and pages are, by page size. The host copies the records of all chunks
  /// for it: 10 MB for each GiB.
  ouroboros_statistics statistics() const { return detail::ouroboros_inspector<layout>{queues()}.statistics(); }
#endif

 private:
  // The parts. The lower ones are members of the upper ones.
  WARPHEAP_FN const detail::ouroboros_refill<layout>& refill() const { return refill_; }
  WARPHEAP_FN const detail::ouroboros_reclamation<layout>& reclamation() const { return refill_.reclamation(); }
  WARPHEAP_FN const detail::ouroboros_hints<layout>& hints() const { return refill_.hints(); }
  WARPHEAP_FN const detail::ouroboros_deferral<layout>& deferral() const { return refill_.deferral(); }
  WARPHEAP_FN const detail::ouroboros_page_bits<layout>& bits() const { return refill_.bits(); }
  WARPHEAP_FN const detail::ouroboros_queues<layout>& queues() const { return refill_.queues(); }
  WARPHEAP_FN const detail::ouroboros_chunks<layout>& chunks() const { return refill_.chunks(); }

  // malloc.hpp
  WARPHEAP_FN bool take_page(std::uint32_t q, lane_mask group, void*& page) const;
  WARPHEAP_FN void* page_or_null(std::uint32_t q, lane_mask group, batch_ring::place at) const;
  WARPHEAP_FN void* fresh_page(std::uint32_t q, std::uint64_t chunk, std::uint32_t page) const;
  WARPHEAP_FN void* hinted_page(std::uint32_t q, lane_mask group, batch_ring::place at) const;
  WARPHEAP_COLD_FN void* malloc_run(std::uint64_t bytes, std::uint64_t alignment) const;

  // free.hpp
  WARPHEAP_FN bool push_page(std::uint32_t q, lane_mask group, std::uint32_t page) const;
  WARPHEAP_FN void defer(lane_mask group, std::uint32_t q, std::uint64_t offset) const;
  WARPHEAP_FN void free_otherwise(void* block) const;
  WARPHEAP_COLD_FN void free_run(std::uint64_t chunk, std::uint64_t count) const;

  detail::ouroboros_refill<layout> refill_;
};

/// The six of the paper.
using ouroboros_s_p = basic_ouroboros<page_items, static_ring>;
using ouroboros_va_p = basic_ouroboros<page_items, virtual_array>;   ///< pages in virtualised array queues
using ouroboros_vl_p = basic_ouroboros<page_items, virtual_list>;    ///< pages in virtualised linked queues
using ouroboros_s_c = basic_ouroboros<chunk_items, static_ring>;     ///< chunks in static queues
using ouroboros_va_c = basic_ouroboros<chunk_items, virtual_array>;  ///< chunks in virtualised array queues
using ouroboros_vl_c = basic_ouroboros<chunk_items, virtual_list>;   ///< chunks in virtualised linked queues

static_assert(device_allocator<ouroboros_s_p> && device_allocator<ouroboros_vl_c>);

}  // namespace warpheap

#include <warpheap/designs/ouroboros/detail/free.hpp>
#include <warpheap/designs/ouroboros/detail/handle.hpp>
#include <warpheap/designs/ouroboros/detail/malloc.hpp>
#if WARPHEAP_COMPILES_HOST
#include <warpheap/designs/ouroboros/detail/relocation.hpp>
#endif
#include <warpheap/designs/ouroboros/detail/trim.hpp>
