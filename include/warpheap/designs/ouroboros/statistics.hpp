// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace warpheap {

/// What an Ouroboros has of one page size. Each page of its chunks is a block, unclaimed, queued or deferred:
/// `pages == live_pages + free_pages()`.
struct ouroboros_page_statistics {
  std::uint64_t page_bytes;       ///< size of a page
  std::uint64_t chunks;           ///< chunks that are cut into such pages, or that such pages are made of
  std::uint64_t pages;            ///< pages of those chunks
  std::uint64_t live_pages;       ///< pages that are blocks
  std::uint64_t unclaimed_pages;  ///< free pages that the next requests get without a search
  std::uint64_t queued_pages;     ///< free pages in the queue, where it holds pages (P)
  std::uint64_t deferred_pages;   ///< free pages in the bitmaps of their chunks
  std::uint64_t queue_entries;    ///< entries of the queue that were not read yet: pages (P), or hints to chunks (C)
  std::uint64_t queue_chunks;     ///< chunks of the heap that hold the queue (VA, VL)
  std::uint64_t queue_bytes;      ///< memory of the queue: its array, if it has one, and its chunks

  /// Pages that are no blocks.
  std::uint64_t free_pages() const { return unclaimed_pages + queued_pages + deferred_pages; }
};

/// What an Ouroboros has of everything, by page size. Each chunk of the heap is in one place:
/// `chunks == free_chunks + withdrawn_chunks + large_chunks`, and the `chunks` and `queue_chunks` of each size.
struct ouroboros_statistics {
  std::uint64_t chunk_bytes;                          ///< size of a chunk
  std::uint64_t chunks;                               ///< chunks that the heap has
  std::uint64_t free_chunks;                          ///< chunks that serve any request
  std::uint64_t withdrawn_chunks;                     ///< chunks out of service, since `heap::trim` gave memory back
  std::uint64_t large_blocks;                         ///< blocks above the largest page size
  std::uint64_t large_chunks;                         ///< chunks that those are made of
  std::vector<ouroboros_page_statistics> page_sizes;  ///< from 16 bytes up, each twice the size before

  /// The page size that serves a request of `bytes`, which is at most the largest page size.
  const ouroboros_page_statistics& of(std::uint64_t bytes) const {
    std::uint64_t q = 0;
    while (page_sizes.at(q).page_bytes < bytes) ++q;
    return page_sizes[q];
  }
  /// Bytes in blocks, the rounding of their sizes included: the heap's `live_bytes`.
  std::uint64_t live_bytes() const {
    std::uint64_t total = large_chunks * chunk_bytes;
    for (const ouroboros_page_statistics& each : page_sizes) total += each.live_pages * each.page_bytes;
    return total;
  }
  /// Memory of all queues.
  std::uint64_t queue_bytes() const {
    std::uint64_t total = 0;
    for (const ouroboros_page_statistics& each : page_sizes) total += each.queue_bytes;
    return total;
  }
};

}  // namespace warpheap
