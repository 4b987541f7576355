// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocator/device.hpp>
#include <warpheap/designs/xmalloc/detail/layout.hpp>
#include <warpheap/designs/xmalloc/detail/search.hpp>
#include <warpheap/designs/xmalloc/options.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>

namespace warpheap {

/// The second level of `xmalloc`, for `xmalloc_allocator`.
///
/// A tag and not the layout: nvcc cannot write the name of a type that has options as a value and is itself an argument
/// of the type of a kernel.
struct xmalloc_layered {
  static constexpr const char* name = "xmalloc";  ///< of the design

  template <xmalloc_options Options>
  using layout = detail::xmalloc_layout<Options, true>;  ///< with superblocks
};
/// The second level of `xmalloc_flat`, for `xmalloc_allocator`: none.
struct xmalloc_unlayered {
  static constexpr const char* name = "xmalloc_flat";  ///< of the design

  template <xmalloc_options Options>
  using layout = detail::xmalloc_layout<Options, false>;  ///< without superblocks
};

/// XMalloc (Huang et al., XMalloc: A Scalable Lock-free Dynamic Memory Allocator for Many-core Machines, CIT 2010):
/// lanes of a warp that ask for little share one basic block, and free basic blocks wait in queues of their class.
///
/// Glossary
///   basic block   512 to 8,192 bytes; a class for each power of two
///   piece         part of a basic block that one lane of those that share it has
///   list          first-level queue of free basic blocks; a class has four
///   superblock    sixteen basic blocks of one class, and a word that counts those that are free in it (`xmalloc`)
///   second level  of each class the queue of superblocks with free blocks
///   source        pages in a buddy system: superblocks come from there, and larger blocks; `xmalloc_flat` takes each
///                 basic block from there
///   change        memory on its way between two owners, counted so that no search misses it
///   refusal       a note that a search was proof of exhaustion; the next free ends it
///
/// Call tree, downwards only; the file of a part has its name
///   malloc                                                          malloc.hpp
///   |- take_combined     below 256 B: combine -> take_block -> combined_piece: make
///   |- take_block        up to 8,192 B, lanes of a class together
///   |  |- lists: pop_at_home      one change of a queue's word, and each lane its slot
///   |  '- search: find            in turns: lists -> superblocks: refill (or direct: refill) -> flush -> a page
///   '- take_pages        search: find_pages, in turns: source -> flush
///                                 A turn that found nothing: refuse -> search_proof: since
///   free                                                            free.hpp
///   |- combined_piece: release    the last piece frees the block
///   |- free_block        lists: push; a full queue: superblocks: give (or direct: give) -> the source
///   '- free_pages        the source
///
/// A basic block is aligned to its size. A piece is not, and has 16 bytes in front of it. So the address of a block and
/// the words of its page tell what it is, and only pieces carry a header.
///
/// Null means that at one moment of the call neither the queues and superblocks of the class nor the source had memory
/// for the block, and no other class had free blocks in its lists; or that a limited number of searches found none
/// while other threads took and freed during each of them. Blocks that share a basic block come back with the last of
/// them (`shared_below`).
///
/// `Kind` names the second level, in which the two designs differ. docs/design/xmalloc.md tells of both, and what
/// differs from the original.
template <class Kind, xmalloc_options Options = xmalloc_options{}>
class xmalloc_allocator {
  using layout = typename Kind::template layout<Options>;
  using control = typename layout::control;
  using search_type = detail::xmalloc_search<layout>;

 public:
  static constexpr const char* name = Kind::name;
  static constexpr allocator_capabilities capabilities{
      .individual_free = true,
      .knows_size = true,
      .reset = true,
      .host_copy = true,
      .counts_live = true,
      .uses_arena = true,
      .state_in_arena = true,
      .shared_below = Options.combine_below,
      .stack_bytes = 3200,
      .largest_alignment = layout::base_alignment,
      .largest_bytes = layout::page_bytes << page_source::largest_order};

  WARPHEAP_FN static std::uint64_t metadata_bytes(std::uint64_t bytes) { return layout::metadata_bytes(bytes); }

  WARPHEAP_FN explicit xmalloc_allocator(const arena& from) : search_(from) {}

  WARPHEAP_FN void initialise() const;

  /// Bytes that an arena at this address needs for one block: up to the end of its first whole page.
  WARPHEAP_FN std::uint64_t least_bytes() const {
    return pages().first_page() * layout::page_bytes - pages().begin() + layout::page_bytes;
  }

  WARPHEAP_FN void* malloc(std::uint64_t bytes) const;
  WARPHEAP_FN void* aligned_malloc(std::uint64_t alignment, std::uint64_t bytes) const;
  WARPHEAP_FN void free(void* block) const;
  WARPHEAP_FN std::uint64_t usable_size(const void* block) const;
  WARPHEAP_FN void count(allocator_counts& counts) const;

 private:
  // The parts. The lower ones are members of the upper ones.
  WARPHEAP_FN const search_type& search() const { return search_; }
  WARPHEAP_FN const typename search_type::blocks_type& blocks() const { return search_.blocks(); }
  WARPHEAP_FN const detail::xmalloc_lists<layout>& lists() const { return search_.lists(); }
  WARPHEAP_FN const detail::xmalloc_pages<layout>& pages() const { return search_.pages(); }

  // malloc.hpp
  WARPHEAP_FN void* take_block(lane_mask group, std::uint32_t c) const;
  WARPHEAP_FN void* take_combined(std::uint64_t bytes) const;
  WARPHEAP_COLD_FN void* take_pages(std::uint64_t bytes) const;

  // free.hpp
  WARPHEAP_FN void free_whole(std::uint64_t address, std::uint32_t c) const;
  WARPHEAP_FN void free_block(std::uint64_t address, std::uint32_t c) const;
  WARPHEAP_COLD_FN void free_pages(std::uint64_t address) const;

  search_type search_;
};

/// XMalloc in its three layers.
using xmalloc = xmalloc_allocator<xmalloc_layered>;
/// `xmalloc` with other constants.
template <xmalloc_options Options>
using basic_xmalloc = xmalloc_allocator<xmalloc_layered, Options>;

/// XMalloc without superblocks, as its authors' notes advise to build it: lists hold blocks of the source.
using xmalloc_flat = xmalloc_allocator<xmalloc_unlayered>;
/// `xmalloc_flat` with other constants.
template <xmalloc_options Options>
using basic_xmalloc_flat = xmalloc_allocator<xmalloc_unlayered, Options>;

static_assert(device_allocator<xmalloc> && device_allocator<xmalloc_flat>);

}  // namespace warpheap

#include <warpheap/designs/xmalloc/detail/free.hpp>
#include <warpheap/designs/xmalloc/detail/handle.hpp>
#include <warpheap/designs/xmalloc/detail/malloc.hpp>
