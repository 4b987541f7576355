// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocator/device.hpp>
#include <warpheap/designs/ouroboros/detail/layout.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>
#include <warpheap/sync.hpp>

namespace warpheap::detail {

/// The chunks of a heap: their numbers, their addresses, their records, and the set of those that
/// are free.
///
/// This is the lowest part of Ouroboros. Each part above has the part below as its only member, so
/// a kernel carries these addresses once, and a part can call only what lies below it.
///
/// Invariant: that of a `page_heap` from `data()` on whose pages are the chunks. The owner's number
/// in the record is valid while a page of the chunk is handed out.
template <class Layout>
class ouroboros_chunks {
 public:
  using page_class = typename Layout::page_class;
  using control_type = typename Layout::control;
  using chunk_heap = page_heap<Layout::chunk_shift>;

  WARPHEAP_FN explicit ouroboros_chunks(const arena& from)
      : data_(chunk_heap::first_page(from.data)),
        control_(reinterpret_cast<control_type*>(from.metadata)),
        words_(reinterpret_cast<std::uint32_t*>(from.metadata + Layout::words_at())),
        groups_(reinterpret_cast<chunk_group*>(from.metadata + Layout::groups_at(from.bytes))),
        initial_bytes_(from.bytes),
        lead_(static_cast<std::uint32_t>(data_ - from.data)) {}

  /// Address of chunk 0.
  WARPHEAP_FN std::byte* data() const { return data_; }
  WARPHEAP_FN control_type& control() const { return *control_; }
  /// The words of segments that lie in the metadata.
  WARPHEAP_FN std::uint32_t* words() const { return words_; }
  WARPHEAP_FN chunk_group* groups() const { return groups_; }
  /// Bytes that the arena has before it grows.
  WARPHEAP_FN std::uint64_t initial_bytes() const { return initial_bytes_; }
  /// Bytes of the arena before the first chunk.
  WARPHEAP_FN std::uint32_t lead() const { return lead_; }

  WARPHEAP_FN page_class& of_class(std::uint32_t q) const { return control_->classes[q]; }
  WARPHEAP_FN chunk_record& record(std::uint64_t chunk) const {
    return groups_[chunk / chunk_group::chunks].record[chunk % chunk_group::chunks];
  }
  /// The owner that the chunk's record names: 1 + a page size, or `run_base` + the chunks of a span
  /// that begins there. For a thread that has a page of the chunk, whose pointer came to it after
  /// the owner was written; so the load is relaxed.
  WARPHEAP_FN std::uint32_t owner_of(std::uint64_t chunk) const {
    return atomic_view{record(chunk).owner}.load(memory_order::relaxed, thread_scope::device);
  }
  /// Writes the owner, before a pointer to a page of the chunk is handed out. All threads that hand
  /// out its pages write the same value.
  WARPHEAP_FN void set_owner(std::uint64_t chunk, std::uint32_t owner) const {
    atomic_view{record(chunk).owner}.store(owner, memory_order::relaxed, thread_scope::device);
  }
  WARPHEAP_FN bit_tree free_chunks() const {
    return {&control_->free_chunks, reinterpret_cast<std::byte*>(groups_), sizeof(chunk_group)};
  }
  /// The chunks as pages of a heap.
  WARPHEAP_FN chunk_heap heap() const { return {data_, free_chunks()}; }
  /// Runs `work(lanes)` for the lanes that came with the caller and use page size q of the same
  /// heap; groups of other sizes or heaps that came with them have their turns before or after. A
  /// lane for which `work` returns false has another turn. Any lanes.
  template <class Work>
  WARPHEAP_FN void in_turns(std::uint32_t q, Work work, call_site site = call_site::current()) const {
    const lane_mask together = active_group(site);
    one_group_at_a_time(together, warp_request::of(together, &of_class(q), 0, site).lanes, work);
  }
  /// Takes a span of `least` to `most` free chunks whose address is a multiple of `alignment`
  /// chunks; its count is 0 if there is no such span. One lane, which holds the heap's lock.
  WARPHEAP_FN index_run take_neighbours(std::uint32_t least, std::uint32_t most, std::uint32_t alignment) const {
    return heap().take_neighbours(least, most, alignment);
  }
  /// Number of whole chunks in an arena of `bytes`.
  WARPHEAP_FN std::uint64_t chunks_in(std::uint64_t bytes) const { return chunk_heap::pages_in(bytes, lead_); }

  /// Adds the chunk of each lane of `group` to the free ones, neighbours by one change: a warp that
  /// frees large pages frees many chunks at once. Collective.
  WARPHEAP_COLD_FN void give_back_together(lane_mask group, std::uint64_t chunk) const {
    const auto leaf = static_cast<std::uint32_t>(chunk / bit_tree::leaf_bits);
    const lane_mask mine = match(group, leaf);
    const std::uint32_t bit = 1u << chunk % 32;
    const bool high = (chunk & 32) != 0;
    const std::uint64_t lower = reduce(mine, high ? 0 : bit, bit_or{});
    const std::uint64_t upper = reduce(mine, high ? bit : 0, bit_or{});
    sync(mine);  // what each did to its chunk, the leader releases
    if (is_leader(mine)) free_chunks().add(leaf, upper << 32 | lower);
    sync(mine);
  }

 private:
  std::byte* data_;
  control_type* control_;
  std::uint32_t* words_;
  chunk_group* groups_;
  std::uint64_t initial_bytes_;
  std::uint32_t lead_;
};

}  // namespace warpheap::detail
