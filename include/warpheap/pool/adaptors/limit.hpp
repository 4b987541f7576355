// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <warpheap/platform.hpp>
#include <warpheap/pool/adaptors/source.hpp>
#include <warpheap/pool/errors.hpp>

namespace warpheap {

/// Hands out blocks as long as no more than a given number of bytes are live, rounding included.
template <block_source Source>
class limit_adaptor {
 public:
  /// Over `source`, which lets at most `bytes` be live.
  limit_adaptor(Source& source, std::uint64_t bytes) : source_(source), limit_(bytes) {}

  /// As the source's. Throws `out_of_memory` too if the block would exceed the limit.
  void* allocate(std::uint64_t bytes, std::uint64_t alignment = 1) {
    const host_lock lock(mutex_);
    if (bytes > limit_ - live_) refuse(bytes);
    void* const block = source_.allocate(bytes, alignment);
    const std::uint64_t taken = source_.block_bytes(block);
    if (taken > limit_ - live_) {  // only its rounding is too much
      source_.deallocate(block);
      refuse(bytes);
    }
    live_ += taken;
    return block;
  }
  /// As the source's.
  void deallocate(void* block) {
    const host_lock lock(mutex_);
    const std::uint64_t taken = source_.block_bytes(block);
    source_.deallocate(block);
    live_ -= taken;
  }
  /// As the source's.
  std::uint64_t block_bytes(const void* block) const { return source_.block_bytes(const_cast<void*>(block)); }

  /// Bytes that are live.
  std::uint64_t live_bytes() const {
    const host_lock lock(mutex_);
    return live_;
  }

 private:
  [[noreturn]] void refuse(std::uint64_t bytes) const {
    throw out_of_memory(bytes, "warpheap: " + std::to_string(bytes) + " bytes more than the " + std::to_string(live_) +
                                   " that are live exceed the limit of " + std::to_string(limit_) +
                                   ": take blocks back or raise the limit");
  }
  Source& source_;
  std::uint64_t limit_;
  std::uint64_t live_ = 0;
  mutable host_mutex mutex_;
};

}  // namespace warpheap
