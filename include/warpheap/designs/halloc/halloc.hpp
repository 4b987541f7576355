// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocator/device.hpp>
#include <warpheap/designs/halloc/detail/layout.hpp>
#include <warpheap/designs/halloc/detail/search.hpp>
#include <warpheap/designs/halloc/options.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>

namespace warpheap {

struct halloc_statistics;  // statistics.hpp, with the host half
struct halloc_tally;       // statistics.hpp

/// Halloc (Adinetz & Pleiter, Halloc: a high-throughput dynamic memory allocator for GPGPU architectures, GTC 2014):
/// slabs of equal blocks, of which each size class has a head slab that requests are hashed into.
///
/// Glossary
///   slab        pages with a bitmap and blocks of one class
///   permit      the right to a block of a slab; the slab's entry counts permits that nobody holds
///   head        a slab that requests of a class take blocks of; a class has one for some multiprocessors
///   ticket      a permit that belongs to a head
///   draw        tickets that a request takes from a head
///   roomy, sparse, busy, free
///               sets of slabs by fill: three for each class, and one for slabs without blocks
///   change      memory on its way between two owners, counted so that no search misses it
///   refusal     a note that a search was proof of exhaustion; the next free ends it
///
/// Call tree, downwards only; the file of a part has its name
///   malloc                                                          malloc.hpp
///   |- take_block        up to 3,072 B, lanes of a class together
///   |  |- heads: draw    one subtraction; then slot_bits: claim_bits, one change of a word
///   |  '- take_rest      permits without a block: slabs: claim -> slot_bits: claim_counted
///   |     |- heads: replace      slabs: take_listed -> take_free -> take_new -> assign
///   |     '- search: find        in turns: draw_anywhere -> replace -> draw_busy -> flush_unused -> a page
///   '- take_pages        search: find_pages, in turns: page_source -> flush_unused -> slabs: dissolve_free
///                                A turn that found nothing: course_of -> search_proof: since
///   free                                                            free.hpp
///   |- free_block        slot_bits: release_bits -> slabs: give -> search_proof: note_free
///   '- free_pages        pages: page_source
///   coalesce, withdraw, restore                                     trim.hpp
///   locate                                                          locate.hpp
///   statistics, count                                               host.hpp, statistics.hpp
///
/// Larger blocks are a power of two of pages, from the source that slabs come from as well. A block of pages begins at
/// a page and a block of a slab never does, so free knows by the address. Where no slab can be had, a small block is a
/// page.
///
/// Blocks of a slab are aligned to 16 bytes, those of 32 and 64 bytes to their size, larger powers of two to 64 bytes;
/// blocks of pages to their size. Null means that at one moment of the call no memory for the block was free, or that a
/// limited number of searches found none while other threads took and freed during each of them. What differs from the
/// original, and why: docs/design/halloc.md.
template <halloc_options Options = halloc_options{}>
class basic_halloc {
  using layout = detail::halloc_layout<Options>;
  using control = typename layout::control;
  using classes = halloc_classes;
  using draw = detail::halloc_draw;

 public:
  static constexpr const char* name = "halloc";
  static constexpr allocator_capabilities capabilities{
      .individual_free = true,
      .knows_size = true,
      .reset = true,
      .grow = true,
      .host_copy = true,
      .counts_live = true,
      .uses_arena = true,
      .state_in_arena = true,
      .trim_bytes = layout::page_bytes,
      .stack_bytes = 4096,
      .largest_alignment = layout::page_bytes << page_source::largest_order,
      .largest_bytes = layout::page_bytes << page_source::largest_order};

  WARPHEAP_FN static constexpr std::uint64_t metadata_bytes(std::uint64_t bytes) {
    return layout::metadata_bytes(bytes);
  }

  WARPHEAP_FN explicit basic_halloc(const arena& from) : search_(from) {}

  WARPHEAP_FN void initialise() const;
  WARPHEAP_FN void grow(std::uint64_t bytes) const;

  /// Bytes that an arena at this address needs for one block: up to the end of its first whole page.
  WARPHEAP_FN std::uint64_t least_bytes() const { return trim_begin() + layout::page_bytes; }
  WARPHEAP_FN std::uint64_t trim_begin() const { return pages().first_page() * layout::page_bytes - pages().begin(); }
  WARPHEAP_FN void coalesce() const;
  WARPHEAP_FN void withdraw(std::uint64_t* units) const;
  WARPHEAP_FN void restore(const std::uint64_t* units) const;

  WARPHEAP_FN void* malloc(std::uint64_t bytes) const;
  WARPHEAP_FN void* aligned_malloc(std::uint64_t alignment, std::uint64_t bytes) const;
  WARPHEAP_FN void free(void* block) const;
  WARPHEAP_FN std::uint64_t usable_size(const void* block) const;
  WARPHEAP_FN void count(allocator_counts& counts) const;
  WARPHEAP_FN void tally(halloc_tally& sums) const;
  WARPHEAP_COLD_FN block_location locate(const void* pointer) const;

#if WARPHEAP_COMPILES_HOST
  /// Where the heap's pages and blocks are, by size class.
  halloc_statistics statistics() const;
#endif

 private:
  // The parts. The lower ones are members of the upper ones.
  WARPHEAP_FN const detail::halloc_search<layout>& search() const { return search_; }
  WARPHEAP_FN const detail::halloc_heads<layout>& heads() const { return search_.heads(); }
  WARPHEAP_FN const detail::halloc_slabs<layout>& slabs() const { return search_.slabs(); }
  WARPHEAP_FN const detail::halloc_pages<layout>& pages() const { return search_.pages(); }

  // malloc.hpp
  WARPHEAP_FN void* take_block(lane_mask group, std::uint32_t c) const;
  WARPHEAP_COLD_FN void* take_rest(lane_mask group, lane_mask peers, std::uint32_t c, draw got, void* block) const;
  WARPHEAP_COLD_FN void* take_pages(std::uint64_t bytes) const;

  // free.hpp
  WARPHEAP_FN void free_block(std::uint64_t address) const;
  WARPHEAP_COLD_FN void free_pages(std::uint64_t address) const;

  // handle.hpp
  WARPHEAP_FN void add_pages(std::uint64_t end) const;

  detail::halloc_search<layout> search_;
};

/// Halloc with the constants of its authors.
using halloc = basic_halloc<>;

static_assert(device_allocator<halloc>);
static_assert(locates_blocks<halloc>);

}  // namespace warpheap

#include <warpheap/designs/halloc/detail/free.hpp>
#include <warpheap/designs/halloc/detail/handle.hpp>
#include <warpheap/designs/halloc/detail/locate.hpp>
#include <warpheap/designs/halloc/detail/malloc.hpp>
#include <warpheap/designs/halloc/detail/tally.hpp>
#include <warpheap/designs/halloc/detail/trim.hpp>
#if WARPHEAP_COMPILES_HOST
#include <warpheap/designs/halloc/detail/host.hpp>
#endif
