// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <warpheap/platform.hpp>
#include <warpheap/pool/adaptors/source.hpp>
#include <warpheap/pool/detail/block_book.hpp>
#include <warpheap/pool/errors.hpp>

namespace warpheap {

/// Hands out blocks as long as no more than a given number of bytes are live, as `block_bytes` of the source tells
/// them. A request counts with the bytes that it asks for while the source serves it. A block that the limit did not
/// hand out is passed on to the source and not counted. Costs host memory for each live block.
template <block_source Source>
class limit_adaptor {
 public:
  /// Over `source`, which lets at most `bytes` be live.
  limit_adaptor(Source& source, std::uint64_t bytes) : source_(source), limit_(bytes) {}

  /// Hands out a block of the source. Throws `out_of_memory` if the block would exceed the limit, and what the source
  /// throws.
  void* allocate(std::uint64_t bytes, std::uint64_t alignment = 1) {
    auto entry = book::make();
    {
      const host_lock lock(mutex_);
      if (bytes > room()) refuse(bytes);
      pending_ += bytes;
    }
    void* block = nullptr;
    std::uint64_t taken = 0;
    try {
      block = source_.allocate(bytes, alignment);
      taken = source_.block_bytes(block);
    } catch (...) {
      {
        const host_lock lock(mutex_);
        pending_ -= bytes;
      }
      if (block != nullptr) source_.deallocate(block);
      throw;
    }
    host_lock lock(mutex_);
    pending_ -= bytes;
    if (taken > room()) {  // only its rounding is too much
      lock.unlock();
      source_.deallocate(block);
      lock.lock();
      refuse(bytes);
    }
    live_ += taken;
    entry.mapped() = taken;
    if (const auto stale = blocks_.insert(std::move(entry), block)) live_ -= stale.mapped();
    return block;
  }
  /// Gives the block back to the source; null is ignored. Throws what the source throws. Its bytes count until the
  /// source has taken it back.
  void deallocate(void* block) {
    if (block == nullptr) return;
    auto entry = remove(block);
    pool_detail::give_back(source_, block, [&](bool is_live) {
      if (!entry) return;
      const host_lock lock(mutex_);
      if (is_live) {
        blocks_.insert(std::move(entry), block);
      } else {
        live_ -= entry.mapped();
      }
    });
  }
  /// Bytes that the source's block takes; 0 if none begins there.
  std::uint64_t block_bytes(const void* block) const { return source_.block_bytes(const_cast<void*>(block)); }

  /// Bytes that are live, in blocks that the limit handed out.
  std::uint64_t live_bytes() const {
    const host_lock lock(mutex_);
    return live_;
  }

 private:
  using book = pool_detail::block_book<std::uint64_t>;

  // Invariant: live and pending bytes are never more than the limit.
  std::uint64_t room() const { return limit_ - live_ - pending_; }
  typename book::entry remove(const void* block) {
    const host_lock lock(mutex_);
    return blocks_.remove(block);
  }
  [[noreturn]] void refuse(std::uint64_t bytes) const {
    throw out_of_memory(bytes, "warpheap: " + std::to_string(bytes) + " bytes more than the " + std::to_string(live_) +
                                   " that are live exceed the limit of " + std::to_string(limit_) +
                                   ": take blocks back or raise the limit");
  }
  Source& source_;
  std::uint64_t limit_;
  std::uint64_t live_ = 0;
  std::uint64_t pending_ = 0;  // asked for by requests that the source is serving
  book blocks_;                // bytes of each block
  mutable host_mutex mutex_;
};

}  // namespace warpheap
