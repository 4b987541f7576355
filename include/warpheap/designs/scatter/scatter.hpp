// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocator/device.hpp>
#include <warpheap/designs/scatter/detail/flat_table.hpp>
#include <warpheap/designs/scatter/detail/large.hpp>
#include <warpheap/designs/scatter/detail/pages.hpp>
#include <warpheap/designs/scatter/detail/region_table.hpp>
#include <warpheap/designs/scatter/detail/search.hpp>
#include <warpheap/designs/scatter/options.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>

namespace warpheap {

/// The page table of `scatter`, for `scatter_allocator`.
///
/// A tag and not the table: nvcc cannot write the name of a type that has options as a value and is itself an argument
/// of the type of a kernel.
struct scatter_regions {
  static constexpr scatter_options usual{};  ///< the usual constants

  template <scatter_options Options>
  using table = detail::scatter_region_table<Options>;  ///< the table with these constants
};
/// The page table of `flatter_scatter`, for `scatter_allocator`.
struct scatter_flat {
  static constexpr scatter_options usual{.access_block_pages = 1024};  ///< the usual constants

  template <scatter_options Options>
  using table = detail::scatter_flat_table<Options>;  ///< the table with these constants
};

/// ScatterAlloc (Steinberger et al., InPar 2012) and its descendant FlatterScatter (mallocMC): a hash of the size, the
/// multiprocessor and the warp names the page at which a request begins to look, so that threads that ask at once are
/// scattered over the heap.
///
/// Glossary
///   page          memory for chunks of one size; the size is chosen when the first chunk is cut
///   chunk         what a request of up to half a page gets
///   page table    chunk size and number of chunks in use, for each page
///   region        64 pages, with a word that says which of them have room (`scatter`)
///   access block  pages among which a hash chooses
///   open          of a page: chunks may be cut from it; other pages are the page source's, or in blocks of pages
///   crowded       of a region: few of its pages have room, so a quick sweep passes it by
///   change        memory on its way between two owners, counted so that no search misses it
///
/// Call tree, downwards only; the file of a part has its name
///   malloc -> take                                                  malloc.hpp
///   |- search: take_quickly    up to half a page, lanes together: rows at the hashed page
///   |  |- sweep: look_at       table: row_at, look
///   |  '- chunks: take_from    table: try_take -> claim, deal
///   |- note_full               table; for lanes that took the last chunk of a page
///   |- search: take_elsewhere  cold: for lanes that those rows did not serve
///   |  |- sweep_blocks         a few regions of some access blocks -> sweep
///   |  '- take_slowly          all open pages -> sweep; open_block (page source) -> shall_retry
///   '- large: take_block       blocks of pages: page source -> close empty pages -> shall_retry
///   free                                                            free.hpp
///   |- release_chunk           bits -> table: give -> note_free
///   '- large: give_block       page source -> note_free
///
/// Chunks are multiples of 16 bytes. Larger requests get blocks of 2^k pages of a buddy system, up to the whole heap.
/// Null means that a full sweep of a quiescent heap found no room, or that a limited number of sweeps found none while
/// other threads took and freed during each of them.
///
/// `Kind` names the page table, in which the two differ: `scatter_regions` or `scatter_flat`. docs/design/scatter.md
/// tells of both, and what differs from the originals.
template <class Kind, scatter_options Options = Kind::usual>
class scatter_allocator {
  using table_type = typename Kind::template table<Options>;
  using search_type = detail::scatter_search<table_type>;
  using pages_type = detail::scatter_pages<table_type>;
  using large_type = detail::scatter_large<table_type>;
  using chunk_size = detail::scatter_chunk_size;

 public:
  static constexpr const char* name = table_type::design_name;
  static constexpr std::uint64_t largest_alignment = pages_type::base_alignment;
  static constexpr allocator_capabilities capabilities{
      .individual_free = true,
      .knows_size = true,
      .reset = true,
      .grow = true,
      .host_copy = true,
      .counts_live = true,
      .uses_arena = true,
      .stack_bytes = 4096,
      .alignment = chunk_size::unit_bytes,
      .largest_alignment = pages_type::base_alignment,
      .largest_bytes = table_type::largest_page_bytes << page_source::largest_order};

  WARPHEAP_FN static constexpr std::uint64_t metadata_bytes(std::uint64_t bytes) {
    return pages_type::metadata_bytes(bytes);
  }

  WARPHEAP_FN explicit scatter_allocator(const arena& from) : search_(from) {}

  WARPHEAP_FN void initialise() const;
  WARPHEAP_FN void grow(std::uint64_t bytes) const;

  /// Bytes that an arena at this address needs for one block: up to the end of its first whole page.
  WARPHEAP_FN std::uint64_t least_bytes() const {
    constexpr std::uint64_t page = std::uint64_t{1} << pages_type::least_shift;
    return align_up(pages().begin(), page) - pages().begin() + page;
  }

  WARPHEAP_FN void* malloc(std::uint64_t bytes) const;
  WARPHEAP_FN void* aligned_malloc(std::uint64_t alignment, std::uint64_t bytes) const;
  WARPHEAP_FN void free(void* block) const;
  WARPHEAP_FN std::uint64_t usable_size(const void* block) const;
  WARPHEAP_FN void count(allocator_counts& counts) const;
  WARPHEAP_COLD_FN block_location locate(const void* pointer) const;

 private:
  // The parts. The lower ones are members of the upper ones.
  WARPHEAP_FN const search_type& search() const { return search_; }
  WARPHEAP_FN const pages_type& pages() const { return search_.pages(); }

  // malloc.hpp
  WARPHEAP_FN void* take(std::uint64_t bytes, std::uint64_t alignment) const;

  // free.hpp
  WARPHEAP_FN void release_chunk(std::uint64_t address, std::uint32_t page, std::uint32_t units) const;

  // handle.hpp
  WARPHEAP_FN std::uint32_t pages_upto(std::uint64_t end) const;

  search_type search_;
};

/// ScatterAlloc: pages of 4 KiB in regions, and requests above half a page from a buddy system.
using scatter = scatter_allocator<scatter_regions>;
/// `scatter` with other constants.
template <scatter_options Options>
using basic_scatter = scatter_allocator<scatter_regions, Options>;

/// FlatterScatter: pages of up to 128 KiB, which a thread enters before it touches them, and no regions.
using flatter_scatter = scatter_allocator<scatter_flat>;
/// `flatter_scatter` with other constants.
template <scatter_options Options>
using basic_flatter_scatter = scatter_allocator<scatter_flat, Options>;

static_assert(device_allocator<scatter> && device_allocator<flatter_scatter>);

}  // namespace warpheap

#include <warpheap/designs/scatter/detail/free.hpp>
#include <warpheap/designs/scatter/detail/handle.hpp>
#include <warpheap/designs/scatter/detail/malloc.hpp>
