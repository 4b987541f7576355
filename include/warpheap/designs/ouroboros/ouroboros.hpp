// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>
#include <warpheap/allocator.hpp>
#include <warpheap/designs/ouroboros/detail/layout.hpp>
#include <warpheap/designs/ouroboros/items.hpp>
#include <warpheap/designs/ouroboros/statistics.hpp>
#include <warpheap/platform.hpp>
#include <warpheap/structures.hpp>
#include <warpheap/sync.hpp>

namespace warpheap {
namespace detail {
struct empty_ouroboros_queues;
}

/// Ouroboros (Winter et al., ICS 2020): pages of power-of-two sizes, cut from chunks of 8 KiB, whose free ones wait in
/// queues; virtualised queues live in chunks of the very heap that they serve.
///
/// `Items` says which page sizes queue single pages (P) and which queue chunks that have free pages (C); `Kind` how the
/// queues are stored: `static_ring` (S), `virtual_array` (VA) or `virtual_list` (VL). Any mix works.
///
/// Requests up to 64 KiB are rounded up to a power of two, at least 16 bytes; larger ones to whole chunks, up to the
/// whole heap. A block of 2^k bytes is aligned to 2^k bytes up to the 4 KiB to which the heap's memory is.
///
/// A request is refused only when no page of its size and no chunk is free, not even by taking chunks apart that other
/// sizes have queued. The essay docs/design/ouroboros.md says where this departs from the paper, and why.
template <class Items, class Kind, ouroboros_options Options = ouroboros_options{}>
class basic_ouroboros {
 public:
  static constexpr const char* name = ouroboros_name<Items, Kind>;
  static constexpr allocator_capabilities capabilities{.individual_free = true,
                                                       .knows_size = true,
                                                       .reset = true,
                                                       .grow = true,
                                                       .relocate = true,
                                                       .host_copy = true,
                                                       .counts_live = true,
                                                       .uses_arena = true,
                                                       .state_in_arena = uses_chunks<Kind>,
                                                       .stack_bytes = 3072};

  WARPHEAP_FN static constexpr std::uint64_t metadata_bytes(std::uint64_t bytes) {
    return layout::metadata_bytes(bytes);
  }

  explicit basic_ouroboros(const arena& from);

  /// Bytes of an arena that begins there from which on there is room for a block: a whole chunk.
  std::uint64_t least_bytes() const { return lead_ + std::uint64_t{Options.chunk_bytes}; }
  WARPHEAP_FN void initialise() const;
  WARPHEAP_FN void grow(std::uint64_t bytes) const;
  void relocate(const arena& from, const arena& to) const;
  WARPHEAP_FN void* malloc(std::uint64_t bytes) const;
  WARPHEAP_FN void* aligned_malloc(std::uint64_t alignment, std::uint64_t bytes) const;
  WARPHEAP_FN void free(void* block) const;
  WARPHEAP_FN std::uint64_t usable_size(const void* block) const;
  WARPHEAP_FN void count(allocator_counts& counts) const;
  /// Where the heap's chunks and pages are, by page size. The host copies the records of all chunks for it: 10 MB for
  /// each GiB.
  ouroboros_statistics statistics() const;

 private:
  friend detail::empty_ouroboros_queues;
  using layout = ouroboros_layout<Items, Kind, Options>;
  using page_class = typename layout::page_class;
  using source = ouroboros_source;

  static constexpr std::uint64_t no_chunk = unlimited;

  // What a lane has to do after it counted a page of a chunk as free. All but `none` are announced, and end with an
  // `end_move`.
  enum class duty : std::uint32_t { none, queue, list, give_back };

  WARPHEAP_FN page_class& of_class(std::uint32_t q) const { return control_->classes[q]; }
  WARPHEAP_FN chunk_record& record(std::uint64_t chunk) const {
    return groups_[chunk / chunk_group::chunks].record[chunk % chunk_group::chunks];
  }
  WARPHEAP_FN bit_tree free_chunks() const {
    return {&control_->free_chunks, reinterpret_cast<std::byte*>(groups_), sizeof(chunk_group)};
  }
  // How the queue of size q is kept, in a heap of so many chunks.
  WARPHEAP_FN Kind kind(std::uint32_t q, std::uint64_t chunks) const;
  WARPHEAP_FN flat_segments flat() const { return {words_}; }

  // What size q has queued: pages, or hints to chunks.
  WARPHEAP_FN segment_queue<Kind> queue(std::uint32_t q) const {
    return {of_class(q).queue, kind(q, control_->chunks)};
  }

  // The lanes of `group` with the same page size of the same heap: lanes of one warp may use several heaps.
  WARPHEAP_FN lane_mask same_class(lane_mask group, std::uint32_t q) const {
    return match(group, reinterpret_cast<std::uint64_t>(&of_class(q)));
  }

  // Taking pages.
  WARPHEAP_FN void* take_page(std::uint32_t q, lane_mask group) const;
  WARPHEAP_FN void* page_of(std::uint32_t q, lane_mask group, batch_ring::place at) const;
  WARPHEAP_FN void* hinted_page(std::uint32_t q, lane_mask group, batch_ring::place at) const;
  WARPHEAP_FN std::uint32_t take_counted(std::uint32_t q, std::uint64_t chunk, std::uint32_t most, bool last,
                                         bool& more) const;
  WARPHEAP_FN std::uint64_t take_page_bit(std::uint32_t q, std::uint64_t chunk, std::uint32_t rank) const;
  WARPHEAP_COLD_FN void renew(std::uint32_t q, lane_mask group, batch_ring::batch newest) const;
  WARPHEAP_FN void publish_batch(std::uint32_t q, lane_mask group, batch_ring::batch newest, source from,
                                 std::uint32_t units) const;
  WARPHEAP_COLD_FN void renew_at_last(std::uint32_t q, lane_mask group, batch_ring::batch newest,
                                      std::uint32_t wanted) const;
  WARPHEAP_COLD_FN source find_at_last(std::uint32_t q, lane_mask group, std::uint32_t wanted,
                                       std::uint32_t& units) const;
  WARPHEAP_COLD_FN void await_holders(std::uint32_t q, lane_mask group) const;
  WARPHEAP_COLD_FN source find_pages(std::uint32_t q, lane_mask group, std::uint32_t wanted, bool locked,
                                     std::uint32_t& units) const;
  WARPHEAP_COLD_FN source take_chunks(std::uint32_t q, lane_mask group, std::uint32_t wanted, bool locked,
                                      std::uint32_t& units) const;
  WARPHEAP_COLD_FN source queued_pages(std::uint32_t q, lane_mask group, std::uint32_t& units) const;
  WARPHEAP_FN std::uint32_t fresh_pages(std::uint32_t q, std::uint32_t wanted) const;
  WARPHEAP_COLD_FN std::uint32_t gather_chunks(lane_mask group, std::uint32_t id, std::uint32_t count,
                                               std::uint32_t wanted) const;
  WARPHEAP_FN std::uint32_t next_staging(std::uint32_t q, lane_mask group) const;
  WARPHEAP_FN void await_staging(lane_mask group, std::uint32_t id) const;
  WARPHEAP_FN void* fresh_page(std::uint32_t q, std::uint64_t chunk, std::uint32_t page) const;
  WARPHEAP_FN std::uint64_t entry(source from, std::uint32_t place) const;
  WARPHEAP_FN std::uint64_t* staging(std::uint32_t id) const;
  WARPHEAP_COLD_FN void retire(std::uint32_t q, source from) const;

  // Pages that wait in the bitmaps of their chunks.
  WARPHEAP_FN bool push_page(std::uint32_t q, lane_mask group, std::uint32_t page) const;
  WARPHEAP_FN void free_otherwise(void* block) const;
  WARPHEAP_FN void park(lane_mask group, std::uint32_t q, std::uint64_t offset) const;
  WARPHEAP_FN duty count_pages(lane_mask group, std::uint32_t q, std::uint64_t offset, bool& ends) const;
  WARPHEAP_FN void end_duty(std::uint32_t q, lane_mask group, std::uint64_t chunk, duty then, bool ends) const;
  WARPHEAP_FN duty settle(std::uint32_t q, std::uint64_t chunk, std::uint32_t freed) const;
  WARPHEAP_COLD_FN void list_instead(std::uint32_t q, std::uint64_t chunk) const;
  WARPHEAP_FN void list(std::uint32_t q, std::uint64_t chunk) const;
  WARPHEAP_COLD_FN void count_free(std::uint32_t q, std::uint64_t chunk, std::uint32_t freed) const;
  WARPHEAP_FN void end_move(std::uint32_t q) const;
  WARPHEAP_COLD_FN bool nothing_moves() const;
  WARPHEAP_FN void clear_bits(std::uint64_t chunk) const;
  WARPHEAP_FN void give_back(std::uint64_t chunk) const;
  WARPHEAP_COLD_FN bool queue_hint(std::uint32_t q, lane_mask group, std::uint32_t chunk) const;
  WARPHEAP_COLD_FN void push_hint(std::uint32_t q, lane_mask group, std::uint64_t chunk) const;
  WARPHEAP_COLD_FN void give_back_together(lane_mask group, std::uint64_t chunk) const;
  WARPHEAP_FN void end_life(std::uint64_t chunk) const;
  WARPHEAP_COLD_FN source harvest(std::uint32_t q, lane_mask group, std::uint32_t& units) const;
  WARPHEAP_COLD_FN bool harvest_some(std::uint32_t q, lane_mask group, std::uint32_t id, std::uint32_t& units) const;
  WARPHEAP_FN std::uint64_t next_candidate(std::uint32_t q, lane_mask group) const;
  WARPHEAP_COLD_FN std::uint64_t next_parked(std::uint32_t q, lane_mask group) const;
  WARPHEAP_FN std::uint32_t following(std::uint64_t chunk) const;
  WARPHEAP_FN std::uint32_t harvest_chunk(std::uint32_t q, std::uint64_t chunk) const;
  WARPHEAP_FN void unpark(std::uint32_t q, std::uint64_t chunk, std::uint32_t count, std::uint64_t* to) const;

  // Taking sizes apart that hold what others need.
  WARPHEAP_COLD_FN bool sweep(std::uint32_t but, lane_mask group) const;
  WARPHEAP_COLD_FN bool trim_queues(lane_mask group) const;
  WARPHEAP_COLD_FN bool can_sweep(std::uint32_t q) const;
  WARPHEAP_COLD_FN void sweep_class(std::uint32_t q, lane_mask group) const;
  WARPHEAP_COLD_FN void sweep_carried(std::uint32_t q, lane_mask group) const;
  WARPHEAP_COLD_FN void sweep_queue(std::uint32_t q, lane_mask group) const;
  WARPHEAP_COLD_FN void sweep_chunks(std::uint32_t q, lane_mask group, source from, std::uint32_t first,
                                     std::uint32_t units) const;
  WARPHEAP_FN void sweep_rest(std::uint32_t q, lane_mask group, std::uint64_t chunk, std::uint32_t begin) const;
  WARPHEAP_COLD_FN void sweep_stock(std::uint32_t q, lane_mask group, batch_ring::batch from,
                                    std::uint32_t first) const;
  WARPHEAP_COLD_FN void sweep_entries(std::uint32_t q, lane_mask group, source from, std::uint32_t begin,
                                      std::uint32_t end) const;
  WARPHEAP_COLD_FN void sweep_page(std::uint32_t q, lane_mask group, std::uint64_t offset) const;
  WARPHEAP_COLD_FN void sweep_parked(std::uint32_t q, lane_mask group) const;

  // Runs of chunks.
  WARPHEAP_COLD_FN void* malloc_run(std::uint64_t bytes, std::uint64_t alignment) const;
  WARPHEAP_FN index_run take_neighbours(std::uint32_t least, std::uint32_t most, std::uint32_t alignment) const {
    return free_chunks().take_neighbours(
        least, most, alignment,
        static_cast<std::uint32_t>(reinterpret_cast<std::uint64_t>(data_) >> layout::chunk_shift));
  }
  WARPHEAP_COLD_FN void free_run(std::uint64_t chunk, std::uint64_t count) const;
  WARPHEAP_FN std::uint64_t chunks_in(std::uint64_t bytes) const {
    const std::uint64_t chunks = bytes < lead_ ? 0 : (bytes - lead_) >> layout::chunk_shift;
    constexpr std::uint64_t most = std::uint64_t{bit_tree::most_leaves} * bit_tree::leaf_bits;
    return chunks < most ? chunks : most;
  }
  WARPHEAP_FN void add_chunks(std::uint64_t from, std::uint64_t to, std::uint64_t index, std::uint64_t threads) const;

  // For the host's statistics.
  ouroboros_page_statistics inspect_class(std::uint32_t q, const page_class& size,
                                          std::vector<std::uint64_t>& aside) const;
  std::uint64_t set_aside_unclaimed(std::uint32_t q, const page_class& size, std::uint32_t unclaimed,
                                    std::vector<std::uint64_t>& aside) const;
  void inspect_chunks(ouroboros_statistics& result, const std::vector<std::uint64_t>& aside) const;

  std::byte* data_;
  typename layout::control* control_;
  std::uint32_t* words_;
  chunk_group* groups_;
  std::uint64_t initial_bytes_;
  std::uint32_t lead_;  // bytes of the arena before the first chunk
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

#include <warpheap/designs/ouroboros/detail/ouroboros.hpp>
