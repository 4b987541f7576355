// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <warpheap/allocator.hpp>
#include <warpheap/designs/bulk/detail/layout.hpp>
#include <warpheap/platform.hpp>
#include <warpheap/structures.hpp>
#include <warpheap/sync.hpp>

namespace warpheap {

/// The throughput-oriented allocator of Gelado & Garland (Throughput-oriented GPU memory allocation, PPoPP 2019): blocks
/// of up to 2 KiB come from UAlloc, larger ones from TBuddy, a buddy system of 4 KiB pages. Sizes are rounded up to
/// powers of two, 8 bytes at least.
///
/// UAlloc has an *arena* for each multiprocessor, with a *shelf* for each size: a bulk semaphore that counts the free
/// blocks, and a list of the bins that have some. A warp asks the semaphore for all of its lanes at once, then takes so
/// many blocks off the bins of the list. Who is told to produce makes a bin: up to 128 bytes out of a page of a *chunk*
/// that pages share, above out of a chunk for itself. A chunk is a block of `ChunkPages` pages of TBuddy; bin and chunk
/// have their state in a header at their begin, so a block of UAlloc never begins at a page and one of TBuddy always
/// does: a free looks at the address, and then at the chunk. A heap in which no chunk can lie has blocks of whole pages.
///
/// Bins without blocks stay where they are until memory is lacking. Then they go back to their chunks, and chunks to
/// TBuddy; read-copy-update waits for those who may still look at them, by one waiting thread for many (the paper's
/// delegation). An arena that lacks blocks takes those of the others before it gives up.
///
/// `Buddy` is `buddy_tree` or the paper's own form, `state_buddy`; `ChunkPages` a power of two from 4 to 32. What is not as
/// in the paper, and why: docs/design/bulk.md.
///
/// Blocks are aligned to 8 bytes, those of 16 to 128 bytes to their size, those of up to 2 KiB to 128 bytes, larger ones
/// to their size. Null means that at one moment of the call there was no block to be had, or that a number of searches
/// found none while other threads took and gave in each of them.
template <class Buddy = buddy_tree, std::uint32_t ChunkPages = 32>
class bulk_allocator {
  using layout = detail::bulk_layout<Buddy, ChunkPages>;
  using header = typename layout::header;
  using shelf = typename layout::shelf;
  using control = typename layout::control;

 public:
  static constexpr const char* name = std::is_same_v<Buddy, state_buddy> ? "bulk_states" : "bulk";
  static constexpr allocator_capabilities capabilities{.individual_free = true,
                                                       .knows_size = true,
                                                       .reset = true,
                                                       .grow = true,
                                                       .host_copy = true,
                                                       .counts_live = true,
                                                       .uses_arena = true,
                                                       .state_in_arena = true,
                                                       .stack_bytes = 3072,
                                                       .alignment = 8,
                                                       .largest_alignment = layout::page_bytes << Buddy::largest_order,
                                                       .largest_bytes = layout::page_bytes << Buddy::largest_order};

  WARPHEAP_FN static constexpr std::uint64_t metadata_bytes(std::uint64_t bytes) {
    return layout::metadata_bytes(bytes);
  }

  explicit bulk_allocator(const arena& from);

  WARPHEAP_FN void initialise() const;
  WARPHEAP_FN void grow(std::uint64_t bytes) const;

  /// Bytes of an arena that begins there from which on there is room for a block: a whole page.
  std::uint64_t least_bytes() const { return (first_page_ + 1) * layout::page_bytes - begin_; }

  WARPHEAP_FN void* malloc(std::uint64_t bytes) const;
  WARPHEAP_FN void* aligned_malloc(std::uint64_t alignment, std::uint64_t bytes) const;
  WARPHEAP_FN void free(void* block) const;
  WARPHEAP_FN std::uint64_t usable_size(const void* block) const;
  WARPHEAP_FN void count(allocator_counts& counts) const;

 private:
  // Units of a shelf that the caller has: counted off its semaphore, but on no bin yet.
  struct credit {
    std::uint32_t arena;
    std::uint32_t units;
  };
  // Units of one bin or chunk that the caller has: counted off it, but no bits of its bitmap yet.
  struct hold {
    std::uint32_t page;  // of the header
    std::uint32_t units;
    std::uint32_t place;  // bit of the bitmap to look from; any will do
  };
  // Bits of a bitmap that the caller has: its blocks.
  struct claim {
    std::uint32_t page;
    std::uint32_t word;
    std::uint64_t bits;
  };
  // Tells whether a search can have missed something.
  struct watch {
    std::uint64_t given;
    std::uint64_t begun;  // the searcher's own changes included
    std::uint64_t moved;  // tells whether others go on
    bool quiet;           // there was a moment without changes
    bool restless;        // the search saw what is about to change
    bool uncertain;       // TBuddy does not know
  };

  // Access to the parts.
  WARPHEAP_FN Buddy buddy() const { return {&control_->pages, spans_, first_page_ / Buddy::span_pages}; }
  WARPHEAP_FN header& header_at(std::uint32_t page) const {
    return *reinterpret_cast<header*>(base_ + page * layout::page_bytes);
  }
  WARPHEAP_FN shelf& shelf_of(std::uint32_t arena, std::uint32_t c) const { return control_->arenas[arena].shelves[c]; }
  WARPHEAP_FN srcu& readers_of(std::uint32_t arena) const { return control_->arenas[arena].readers; }
  WARPHEAP_FN std::uint32_t home() const { return multiprocessor_index() & arena_mask_; }
  WARPHEAP_FN std::uint32_t page_of(std::uint64_t address) const {
    return static_cast<std::uint32_t>((address - base_) / layout::page_bytes);
  }
  WARPHEAP_FN std::uint64_t block_at(std::uint32_t page, std::uint32_t c, std::uint32_t bit) const;

  // changes.hpp: what others do meanwhile
  WARPHEAP_FN typename layout::tally& tally() const;
  WARPHEAP_FN void begin_change() const;
  WARPHEAP_FN void end_change(bool moved) const;
  WARPHEAP_FN void note_given() const;
  WARPHEAP_FN std::uint64_t given() const;
  WARPHEAP_FN watch begin_watch() const;
  WARPHEAP_FN bool was_quiet(const watch& before) const;
  WARPHEAP_FN bool is_refused(std::uint32_t what, std::uint64_t given_now) const;
  WARPHEAP_FN void note_refused(std::uint32_t what, const watch& seen) const;

  // shelf.hpp: bins of a shelf, and their units
  WARPHEAP_FN void push(std::uint32_t arena, std::uint32_t c, std::uint32_t page) const;
  WARPHEAP_FN void relist(std::uint32_t arena, std::uint32_t c, std::uint32_t page, std::uint64_t before,
                          std::uint32_t added) const;
  WARPHEAP_FN void return_units(std::uint32_t arena, std::uint32_t c, std::uint32_t page, std::uint32_t count,
                                std::uint64_t pins) const;
  WARPHEAP_FN bool take_top(std::uint32_t arena, std::uint32_t c, std::uint32_t first, std::uint32_t most,
                            hold& got) const;
  WARPHEAP_FN void hold_of(std::uint32_t arena, std::uint32_t c, std::uint32_t most, hold& got) const;
  WARPHEAP_COLD_FN hold take_listed(std::uint32_t arena, std::uint32_t c, std::uint32_t most) const;
  WARPHEAP_FN claim claim_at_once(hold from) const;
  WARPHEAP_COLD_FN claim claim_some(hold from) const;
  WARPHEAP_FN void count_whole(std::uint32_t arena, std::uint32_t c, std::uint32_t change) const;
  WARPHEAP_FN void give_units(std::uint32_t page, std::uint32_t c, std::uint32_t word, std::uint64_t bits) const;

  // take.hpp: blocks of UAlloc
  WARPHEAP_FN void* take_block(lane_mask group, std::uint32_t c) const;
  WARPHEAP_FN claim take_quickly(std::uint32_t c, std::uint32_t wanted, credit& left, hold& held) const;
  WARPHEAP_FN void* hand_out(lane_mask group, lane_mask peers, std::uint32_t c, claim got, std::uint32_t before) const;
  // True if a whole chunk lies among the heap's pages; it begins at a multiple of its size.
  WARPHEAP_FN bool has_chunks() const {
    return divide_up(first_page_, layout::chunk_pages) * layout::chunk_pages + layout::chunk_pages <= control_->end;
  }
  WARPHEAP_COLD_FN void* take_more(lane_mask peers, std::uint32_t c, credit left, hold held) const;

  // search.hpp: units from anywhere
  // How a search goes on.
  struct turns {
    std::uint32_t for_gifts;
    std::uint32_t for_changes;
  };
  WARPHEAP_COLD_FN bool goes_on(std::uint32_t what, const watch& before, turns& left) const;
  WARPHEAP_COLD_FN bool find_units(std::uint32_t c, std::uint32_t wanted, credit& left, hold& held) const;
  WARPHEAP_COLD_FN bool ask_home(std::uint32_t c, std::uint32_t wanted, credit& left, hold& held, watch& search) const;
  WARPHEAP_COLD_FN static bulk_semaphore::request ask_at(bulk_semaphore& count, std::uint32_t wanted,
                                                         std::uint32_t batch);
  WARPHEAP_COLD_FN bool find_count(std::uint32_t c, std::uint32_t wanted, credit& left, watch& search) const;
  WARPHEAP_COLD_FN bool make_of_others(std::uint32_t c, std::uint32_t wanted, hold& held, watch& search) const;

  // make.hpp: bins and chunks
  WARPHEAP_COLD_FN bool can_make(std::uint32_t arena, std::uint32_t c) const;
  WARPHEAP_FN bool make(std::uint32_t arena, std::uint32_t c, std::uint32_t keep, hold& made) const;
  WARPHEAP_COLD_FN bool take_page(std::uint32_t arena, std::uint32_t& page) const;
  WARPHEAP_FN bool take_chunk(std::uint32_t& page) const;
  WARPHEAP_COLD_FN void set_up(std::uint32_t arena, std::uint32_t c, std::uint32_t page, std::uint32_t keep) const;

  // drain.hpp: bins and chunks without blocks, back to where they came from
  WARPHEAP_COLD_FN bool drain() const;
  WARPHEAP_COLD_FN bool drain_shelf(std::uint32_t arena, std::uint32_t c) const;
  struct reclaimer;
  WARPHEAP_COLD_FN bool withdraw(std::uint32_t arena, std::uint32_t c, std::uint32_t page) const;
  WARPHEAP_COLD_FN void reclaim(std::uint32_t first) const;

  // release.hpp: blocks that come back
  struct place {
    std::uint32_t page;  // of the bin's head
    std::uint32_t of_class;
    std::uint32_t unit;
  };
  WARPHEAP_FN place place_of(std::uint64_t address) const;

  // handle.hpp
  WARPHEAP_FN void add_pages(std::uint64_t end) const;

  // pages.hpp: blocks of TBuddy
  WARPHEAP_COLD_FN void* take_pages(std::uint64_t bytes) const;
  WARPHEAP_COLD_FN std::uint32_t take_together(lane_mask group, std::uint32_t order, std::uint32_t tries) const;
  WARPHEAP_COLD_FN std::uint32_t find_pages(std::uint32_t order) const;
  WARPHEAP_COLD_FN void give_pages(std::uint64_t address) const;

  // Kernels get it by value, so no byte of it is padding.
  std::uint64_t base_;  // address of page 0: a multiple of the largest block's size, at or in front of the arena
  control* control_;
  typename Buddy::span* spans_;
  std::uint64_t begin_;  // of the arena, bytes behind page 0
  std::uint64_t initial_bytes_;
  std::uint32_t first_page_;  // the first whole page of the arena
  std::uint32_t arena_mask_;  // arenas that are used, less 1
};

/// The throughput-oriented allocator over the buddy system without locks.
using bulk = bulk_allocator<>;

static_assert(device_allocator<bulk>);
static_assert(device_allocator<bulk_allocator<state_buddy>>);

}  // namespace warpheap

#include <warpheap/designs/bulk/detail/changes.hpp>
#include <warpheap/designs/bulk/detail/drain.hpp>
#include <warpheap/designs/bulk/detail/handle.hpp>
#include <warpheap/designs/bulk/detail/make.hpp>
#include <warpheap/designs/bulk/detail/pages.hpp>
#include <warpheap/designs/bulk/detail/release.hpp>
#include <warpheap/designs/bulk/detail/search.hpp>
#include <warpheap/designs/bulk/detail/shelf.hpp>
#include <warpheap/designs/bulk/detail/take.hpp>
