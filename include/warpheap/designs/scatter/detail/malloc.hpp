// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/scatter/scatter.hpp>

// malloc. Lanes that want chunks of one size and alignment from one heap are peers, and search together. Those that are
// not served by a quick sweep go on together, too. Lanes that have their blocks wait for their peers, so a warp leaves
// together.

namespace warpheap {

template <class Kind, scatter_options Options>
WARPHEAP_FN void* scatter_allocator<Kind, Options>::malloc(std::uint64_t bytes) const {
  return take(bytes, chunk_size::unit_bytes);
}

template <class Kind, scatter_options Options>
WARPHEAP_FN void* scatter_allocator<Kind, Options>::aligned_malloc(std::uint64_t alignment, std::uint64_t bytes) const {
  // Blocks of pages are aligned to their size.
  return take(bytes > alignment || alignment <= chunk_size::unit_bytes ? bytes : alignment, alignment);
}

/// A block of `bytes` bytes, which are no less than an `alignment` of more than a unit.
template <class Kind, scatter_options Options>
WARPHEAP_FN void* scatter_allocator<Kind, Options>::take(std::uint64_t bytes, std::uint64_t alignment) const {
  // With an alignment, a chunk has the next power of two of bytes.
  if (bytes > pages().page_bytes() / 2) {
    return cold_call([part = pages(), bytes] { return large_type{part}.take_block(bytes); });
  }
  const chunk_size size = chunk_size::fit(bytes, alignment, pages().page_units());
  const lane_mask group = active_group();
  // Numbers of sizes and alignments are below 2^14 and 2^21, and lanes of different heaps may meet.
  const lane_mask same_heap = match(group, pages().key());
  const lane_mask peers = match(same_heap, std::uint64_t{size.units} << 32 | alignment);
  const std::uint32_t hash = search().hash_of(size);
  const typename search_type::request wanted{size, static_cast<std::uint32_t>(alignment),
                                             shuffle(peers, hash, leader(peers))};
  const typename search_type::quick got = search().take_quickly(peers, wanted);
  if constexpr (table_type::notes_full) {
    if (got.full != detail::scatter_row::none) {
      cold_call([part = pages(), page = got.full] { part.table().note_full(page); });
    }
  }
  void* block = got.block;
  const lane_mask rest = ballot(peers, block == nullptr);
  if (rest == 0) return block;
  if (block == nullptr) {
    block = cold_call([part = search(), rest, wanted, at = got.at] { return part.take_elsewhere(rest, wanted, at); });
  }
  sync(peers);
  return block;
}

}  // namespace warpheap
