// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocator/device.hpp>
#include <warpheap/designs/bulk/detail/layout.hpp>
#include <warpheap/designs/bulk/detail/search.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>
#include <warpheap/sync.hpp>

namespace warpheap {

/// The throughput-oriented allocator of Gelado & Garland (Throughput-oriented GPU memory
/// allocation, PPoPP 2019): blocks of up to 2 KiB come from UAlloc, larger ones from TBuddy, a
/// buddy system of 4 KiB pages. Sizes are rounded up to powers of two, 8 bytes at least.
///
/// Glossary
///   arena       state for one multiprocessor: a bin list for each class, and their readers (SRCU)
///   class       a size of UAlloc, or the pages of chunks
///   bin list    the bins of a class in an arena, and a bulk semaphore that counts their free units
///   bin         a head with a bitmap, then blocks of one size: a page of a chunk for blocks of up
///               to 128 bytes, else a whole chunk
///   chunk       a block of `ChunkPages` pages of TBuddy; on the list of chunks the units are pages
///   unit        a block of a bin, or a page of a chunk
///   exhausted   without free units;  fully free: with all units free
///   change      memory on its way between two owners, counted so that no search misses it
///   refusal     a note that a search was proof of exhaustion; the next free ends it
///
/// Call tree, downwards only; the file of a part has its name
///   malloc                                                          malloc.hpp
///   |- take_block        up to 2 KiB, lanes together
///   |  |- take_quickly   semaphore -> bin_lists: count_off_top -> bins: try_claim
///   |  '- take_slowly    search: find_units, then bin_lists: count_off_some_bin -> bins: claim
///   |     '- find_units  request_from_local_arena (bin_source: make) -> count_off_any_list
///   |                    -> make_of_any_page -> reclamation: reclaim_all
///   |                    -> shall_retry (quiescence): proof, retry or refusal
///   '- take_pages        pages: take -> search: find_pages (reclamation as above)
///   free                                                            free.hpp
///   |- bin_lists: free_units   bins: set_bits -> return_units -> semaphore
///   |- free_pages              pages: TBuddy
///   '- quiescence: note_free   ends refusals
///
/// A head lies at the begin of its page, so a block of UAlloc never begins at a page, and one of
/// TBuddy always does: free reads the address, then the head of the chunk. A heap in which no chunk
/// can lie has blocks of whole pages.
///
/// Fully free bins stay on their list until a search finds no memory. Then bins return to their
/// chunks and chunks to TBuddy. Read-copy-update waits for threads that may still read their heads;
/// one thread waits for many (the paper's delegation). A thread whose arena lacks blocks takes
/// those of other arenas before it is refused.
///
/// `Buddy` is `buddy_tree` or another system with its calls, as the paper's own form `state_buddy` of
/// the baselines; `ChunkPages` is a power of two from 4 to 32. What differs from the paper, and why:
/// docs/design/bulk.md.
///
/// Blocks of 8 bytes are aligned to 8, those of 16 to 128 bytes to their size, those of up to 2 KiB
/// to 128 bytes, larger ones to their size. Null means that at one moment of the call no block was
/// free, or that a limited number of searches found none while other threads allocated and freed
/// during each of them.
template <class Buddy = buddy_tree, std::uint32_t ChunkPages = 32>
class bulk_allocator {
  using layout = detail::bulk_layout<Buddy, ChunkPages>;
  using control = typename layout::control;
  using list_units = detail::bulk_list_units;
  using bin_units = detail::bulk_bin_units;
  using claim = detail::bulk_claim;

 public:
  static constexpr const char* name = Buddy::bulk_name;
  static constexpr allocator_capabilities capabilities{.individual_free = true,
                                                       .knows_size = true,
                                                       .reset = true,
                                                       .grow = true,
                                                       .host_copy = true,
                                                       .counts_live = true,
                                                       .uses_arena = true,
                                                       .state_in_arena = true,
                                                       .stack_bytes = 3584,
                                                       .alignment = 8,
                                                       .largest_alignment = layout::page_bytes << Buddy::largest_order,
                                                       .largest_bytes = layout::page_bytes << Buddy::largest_order};

  WARPHEAP_FN static constexpr std::uint64_t metadata_bytes(std::uint64_t bytes) {
    return layout::metadata_bytes(bytes);
  }

  WARPHEAP_FN explicit bulk_allocator(const arena& from) : search_(from) {}

  WARPHEAP_FN void initialise() const;
  WARPHEAP_FN void grow(std::uint64_t bytes) const;

  /// Bytes that an arena at this address needs for one block: up to the end of its first whole
  /// page.
  WARPHEAP_FN std::uint64_t least_bytes() const {
    return (pages().first_page() + 1) * layout::page_bytes - pages().begin();
  }

  WARPHEAP_FN void* malloc(std::uint64_t bytes) const;
  WARPHEAP_FN void* aligned_malloc(std::uint64_t alignment, std::uint64_t bytes) const;
  WARPHEAP_FN void free(void* block) const;
  WARPHEAP_FN std::uint64_t usable_size(const void* block) const;
  WARPHEAP_FN void count(allocator_counts& counts) const;

 private:
  // Where a block of UAlloc lies.
  struct position {
    std::uint32_t page;  // of the bin's head
    std::uint32_t of_class;
    std::uint32_t unit;
  };

  // The parts. The lower ones are members of the upper ones.
  WARPHEAP_FN const detail::bulk_search<layout>& search() const { return search_; }
  WARPHEAP_FN const detail::bulk_bin_lists<layout>& lists() const { return search_.lists(); }
  WARPHEAP_FN const detail::bulk_pages<layout>& pages() const { return search_.pages(); }
  WARPHEAP_FN detail::bulk_quiescence<layout> quiescence() const { return search_.quiescence(); }

  // malloc.hpp
  WARPHEAP_FN void* take_block(lane_mask group, std::uint32_t c) const;
  WARPHEAP_FN claim take_quickly(std::uint32_t c, std::uint32_t wanted, list_units& left, bin_units& taken) const;
  WARPHEAP_COLD_FN void* take_slowly(lane_mask lanes, std::uint32_t c, list_units left, bin_units taken) const;
  WARPHEAP_FN void* hand_out(lane_mask group, warp_request peers, std::uint32_t c, claim got,
                             std::uint32_t before) const;
  WARPHEAP_FN std::uint64_t block_at(std::uint32_t page, std::uint32_t c, std::uint32_t bit) const;
  WARPHEAP_COLD_FN void* take_pages(std::uint64_t bytes) const;

  // free.hpp
  WARPHEAP_FN position position_of(std::uint64_t address) const;
  WARPHEAP_COLD_FN void free_pages(std::uint64_t address) const;

  // handle.hpp
  WARPHEAP_FN void add_pages(std::uint64_t end) const;

  detail::bulk_search<layout> search_;
};

/// The throughput-oriented allocator over the buddy system without locks.
using bulk = bulk_allocator<>;

static_assert(device_allocator<bulk>);

}  // namespace warpheap

#include <warpheap/designs/bulk/detail/free.hpp>
#include <warpheap/designs/bulk/detail/handle.hpp>
#include <warpheap/designs/bulk/detail/malloc.hpp>
