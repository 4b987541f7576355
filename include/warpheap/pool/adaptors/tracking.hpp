// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <source_location>
#include <string>
#include <utility>
#include <warpheap/platform.hpp>
#include <warpheap/pool/adaptors/source.hpp>
#include <warpheap/pool/detail/block_book.hpp>

namespace warpheap {

/// Remembers where each live block was asked for, so that leaks can be told. A block that it did not hand out is passed
/// on to the source. Costs host memory for each live block.
template <block_source Source>
class tracking_adaptor {
 public:
  /// Over `source`.
  explicit tracking_adaptor(Source& source) : source_(source) {}

  /// Hands out a block of the source and remembers `from`, which is the caller's place unless another is given.
  /// (Through an adaptor above this one it is that adaptor's, so track on top.) Throws what the source throws.
  void* allocate(std::uint64_t bytes, std::uint64_t alignment = 1,
                 std::source_location from = std::source_location::current()) {
    auto entry = book::make();
    void* const block = source_.allocate(bytes, alignment);
    const host_lock lock(mutex_);
    entry.mapped() = {bytes, ++last_, from};
    live_.insert(std::move(entry), block);
    return block;
  }
  /// Gives the block back to the source; null is ignored. Throws what the source throws.
  void deallocate(void* block) {
    if (block == nullptr) return;
    auto entry = remove(block);
    pool_detail::give_back(source_, block, [&](bool is_live) {
      if (!entry || !is_live) return;
      const host_lock lock(mutex_);
      live_.insert(std::move(entry), block);
    });
  }
  /// Bytes that the source's block takes; 0 if none begins there.
  std::uint64_t block_bytes(const void* block) const { return source_.block_bytes(const_cast<void*>(block)); }

  /// A line for each live block, in the order of addresses: address, bytes, the number of the
  /// request, and the file, line and function that asked. Empty if nothing is live.
  std::string leak_report() const {
    const host_lock lock(mutex_);
    std::string report;
    live_.for_each([&](const void* block, const origin& from) {
      char address[32];
      std::snprintf(address, sizeof address, "%p", block);
      report += std::string(address) + ": " + std::to_string(from.bytes) + " bytes, request " +
                std::to_string(from.number) + ", by " + from.place.function_name() + " at " + from.place.file_name() +
                ":" + std::to_string(from.place.line()) + "\n";
    });
    return report;
  }

 private:
  struct origin {
    std::uint64_t bytes = 0;
    std::uint64_t number = 0;
    std::source_location place;
  };
  using book = pool_detail::block_book<origin>;
  typename book::entry remove(const void* block) {
    const host_lock lock(mutex_);
    return live_.remove(block);
  }

  Source& source_;
  book live_;
  std::uint64_t last_ = 0;
  mutable host_mutex mutex_;
};

}  // namespace warpheap
