// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocator/device.hpp>
#include <warpheap/designs/kma/detail/layout.hpp>
#include <warpheap/designs/kma/detail/search.hpp>
#include <warpheap/designs/kma/options.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>

namespace warpheap {

/// KMA (Spliet et al., KMA: A Dynamic Memory Manager for OpenCL, GPGPU-7, 2014): superblocks of 4,096 bytes, each with
/// blocks of one class, a state word and a bitmap; a class takes blocks from its current superblock.
///
/// Glossary
///   superblock   a page of 4,096 bytes: blocks of one class, and their bitmap at its end
///   state word   class, capacity, permits and generation of a superblock, in the metadata
///   permit       the right to one free block of a superblock; it is taken before the block is sought
///   current      superblock where requests of a class and of some multiprocessors take permits first
///   list         of a class the superblocks that have permits, in a bit for each page
///   ring         superblocks without a block in use, which serve any class
///   source       pages in a buddy system: superblocks come from there, and larger blocks
///   change       a superblock on its way between these places, counted so that no search misses it
///   refusal      a note that a search was proof of exhaustion; the next free ends it
///
/// Call tree, downwards only; the file of a part has its name
///   malloc                                                          malloc.hpp
///   |- take_block        up to 4,080 B, lanes of a class together
///   |  |- currents: draw             permits, by one change of a state word
///   |  |- superblocks: claim_near    blocks, by one change of a bitmap word or two
///   |  '- search: find               in turns: lists: take -> superblocks: take, assign -> currents: draw_any
///   '- take_pages        search: find_pages, in turns: source -> superblocks: flush
///                                    A turn that found nothing: refuse -> search_proof: since
///   free                                                            free.hpp
///   |- free_block        superblocks: bits -> lists: give   first permit: list; last: the ring, or the source
///   '- free_pages        the source
///
/// Null means that at one moment of the call no superblock of the class had a free block and the source had no page for
/// another one; or that a limited number of searches found none while other threads took and freed during each of them.
///
/// This is the lower layer of the paper. Of its upper layer, data structures that grow on the device, the array list
/// is in array_list.hpp.
///
/// A heap uses the first 128 GiB of its arena. docs/design/kma.md tells what differs from the original.
template <kma_options Options = kma_options{}>
class basic_kma {
  using layout = detail::kma_layout<Options>;
  using classes = typename layout::classes;
  using control = typename layout::control;
  using draw = detail::kma_draw;

 public:
  static constexpr const char* name = "kma";
  static constexpr allocator_capabilities capabilities{
      .individual_free = true,
      .knows_size = true,
      .reset = true,
      .host_copy = true,
      .counts_live = true,
      .uses_arena = true,
      .state_in_arena = true,
      .stack_bytes = 3584,
      .largest_alignment = layout::base_alignment,
      .largest_bytes = layout::page_bytes << page_source::largest_order};

  WARPHEAP_FN static std::uint64_t metadata_bytes(std::uint64_t bytes) { return layout::metadata_bytes(bytes); }

  WARPHEAP_FN explicit basic_kma(const arena& from) : search_(from) {}

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
  WARPHEAP_FN const detail::kma_search<layout>& search() const { return search_; }
  WARPHEAP_FN const detail::kma_currents<layout>& currents() const { return search_.currents(); }
  WARPHEAP_FN const detail::kma_lists<layout>& lists() const { return search_.lists(); }
  WARPHEAP_FN const detail::kma_superblocks<layout>& superblocks() const { return search_.superblocks(); }
  WARPHEAP_FN const detail::kma_pages<layout>& pages() const { return search_.pages(); }

  // malloc.hpp
  WARPHEAP_FN void* take_block(lane_mask group, std::uint32_t c) const;
  WARPHEAP_COLD_FN void* take_rest(lane_mask group, lane_mask peers, std::uint32_t c, draw got, void* block) const;
  WARPHEAP_COLD_FN void* take_pages(std::uint64_t bytes) const;

  // free.hpp
  WARPHEAP_FN bool is_in_superblock(std::uint64_t address) const;
  WARPHEAP_FN void free_block(std::uint64_t address) const;
  WARPHEAP_COLD_FN void free_pages(std::uint64_t address) const;

  detail::kma_search<layout> search_;
};

/// KMA with its usual constants.
using kma = basic_kma<>;

static_assert(device_allocator<kma>);

}  // namespace warpheap

#include <warpheap/designs/kma/detail/free.hpp>
#include <warpheap/designs/kma/detail/handle.hpp>
#include <warpheap/designs/kma/detail/malloc.hpp>
