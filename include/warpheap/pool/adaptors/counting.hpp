// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <warpheap/platform.hpp>
#include <warpheap/pool/adaptors/source.hpp>
#include <warpheap/pool/detail/block_book.hpp>

namespace warpheap {

/// What a `counting_adaptor` has seen. Bytes include the rounding.
struct block_counts {
  std::uint64_t live_blocks = 0;      ///< handed out and not taken back
  std::uint64_t live_bytes = 0;       ///< their bytes
  std::uint64_t peak_blocks = 0;      ///< the most that were live
  std::uint64_t peak_bytes = 0;       ///< the most bytes that were live
  std::uint64_t allocations = 0;      ///< blocks handed out
  std::uint64_t allocated_bytes = 0;  ///< their bytes
  std::uint64_t failures = 0;         ///< requests that threw
  /// Requests by size: the first counts those of 0 bytes, the `k`th those from 2^(k-1) to below 2^k.
  std::array<std::uint64_t, 65> sizes{};
};

/// Counts what a part of a program takes and gives back, beside the pool's own figures, which are those of all parts. A
/// block that it did not hand out is passed on to the source and not counted. Costs host memory for each live block.
template <block_source Source>
class counting_adaptor {
 public:
  /// Over `source`.
  explicit counting_adaptor(Source& source) : source_(source) {}

  /// Hands out a block of the source and counts it, or counts a failure. Throws what the source throws.
  void* allocate(std::uint64_t bytes, std::uint64_t alignment = 1) {
    auto entry = book::make();
    {
      const host_lock lock(mutex_);
      ++counts_.sizes[static_cast<std::size_t>(std::bit_width(bytes))];
      ++counts_.failures;  // taken back when the request succeeds
    }
    void* const block = source_.allocate(bytes, alignment);
    const std::uint64_t taken = source_.block_bytes(block);
    entry.mapped() = taken;
    const host_lock lock(mutex_);
    --counts_.failures;
    ++counts_.allocations;
    counts_.allocated_bytes += taken;
    if (const auto stale = blocks_.insert(std::move(entry), block)) count_as_gone(stale.mapped());
    count_as_live(taken);
    return block;
  }
  /// Gives the block back to the source; null is ignored. Throws what the source throws.
  void deallocate(void* block) {
    if (block == nullptr) return;
    auto entry = remove(block);
    pool_detail::give_back(source_, block, [&](bool is_live) {
      if (!entry || !is_live) return;
      const host_lock lock(mutex_);
      count_as_live(entry.mapped());
      blocks_.insert(std::move(entry), block);
    });
  }
  /// Bytes that the source's block takes; 0 if none begins there.
  std::uint64_t block_bytes(const void* block) const { return source_.block_bytes(const_cast<void*>(block)); }

  /// What was seen so far.
  block_counts counts() const {
    const host_lock lock(mutex_);
    return counts_;
  }

 private:
  using book = pool_detail::block_book<std::uint64_t>;

  void count_as_live(std::uint64_t bytes) {
    counts_.live_bytes += bytes;
    counts_.peak_blocks = std::max(counts_.peak_blocks, ++counts_.live_blocks);
    counts_.peak_bytes = std::max(counts_.peak_bytes, counts_.live_bytes);
  }
  void count_as_gone(std::uint64_t bytes) {
    counts_.live_bytes -= bytes;
    --counts_.live_blocks;
  }
  // Counts the block as gone before the source has it, so that a thread that gets its memory next raises no peak.
  typename book::entry remove(const void* block) {
    const host_lock lock(mutex_);
    auto entry = blocks_.remove(block);
    if (entry) count_as_gone(entry.mapped());
    return entry;
  }

  Source& source_;
  block_counts counts_;
  book blocks_;  // bytes of each block
  mutable host_mutex mutex_;
};

}  // namespace warpheap
