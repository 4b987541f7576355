// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <warpheap/platform.hpp>
#include <warpheap/pool/adaptors/source.hpp>

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

/// Counts what a part of a program takes and gives back, beside the pool's own figures, which are those of all parts.
template <block_source Source>
class counting_adaptor {
 public:
  /// Over `source`.
  explicit counting_adaptor(Source& source) : source_(source) {}

  /// As the source's.
  void* allocate(std::uint64_t bytes, std::uint64_t alignment = 1) {
    const host_lock lock(mutex_);
    ++counts_.sizes[static_cast<std::size_t>(std::bit_width(bytes))];
    ++counts_.failures;  // until it is none
    void* const block = source_.allocate(bytes, alignment);
    --counts_.failures;
    const std::uint64_t taken = source_.block_bytes(block);
    ++counts_.allocations;
    counts_.allocated_bytes += taken;
    counts_.live_bytes += taken;
    counts_.peak_blocks = std::max(counts_.peak_blocks, ++counts_.live_blocks);
    counts_.peak_bytes = std::max(counts_.peak_bytes, counts_.live_bytes);
    return block;
  }
  /// As the source's.
  void deallocate(void* block) {
    if (block == nullptr) return;
    const host_lock lock(mutex_);
    const std::uint64_t taken = source_.block_bytes(block);
    source_.deallocate(block);
    --counts_.live_blocks;
    counts_.live_bytes -= taken;
  }
  /// As the source's.
  std::uint64_t block_bytes(const void* block) const { return source_.block_bytes(const_cast<void*>(block)); }

  /// What was seen so far.
  block_counts counts() const {
    const host_lock lock(mutex_);
    return counts_;
  }

 private:
  Source& source_;
  block_counts counts_;
  mutable host_mutex mutex_;
};

}  // namespace warpheap
