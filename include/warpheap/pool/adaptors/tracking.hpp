// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <source_location>
#include <string>
#include <utility>
#include <warpheap/platform.hpp>
#include <warpheap/pool/adaptors/source.hpp>

namespace warpheap {

/// Remembers where each live block was asked for, so that leaks can be told. Costs host memory for each live block.
template <block_source Source>
class tracking_adaptor {
 public:
  /// Over `source`.
  explicit tracking_adaptor(Source& source) : source_(source) {}

  /// As the source's. `from` is the caller's place, unless another is given. (Through an adaptor above this one it is that
  /// adaptor's, so track on top.)
  void* allocate(std::uint64_t bytes, std::uint64_t alignment = 1,
                 std::source_location from = std::source_location::current()) {
    const host_lock lock(mutex_);
    auto made = live_.extract(live_.emplace(nullptr, origin{}).first);  // before the block, as it may throw
    void* const block = source_.allocate(bytes, alignment);
    made.key() = block;
    made.mapped() = {bytes, ++last_, from};
    live_.insert(std::move(made));
    return block;
  }
  /// As the source's.
  void deallocate(void* block) {
    const host_lock lock(mutex_);
    source_.deallocate(block);
    live_.erase(block);
  }
  /// As the source's.
  std::uint64_t block_bytes(const void* block) const { return source_.block_bytes(const_cast<void*>(block)); }

  /// A line for each live block, in the order of addresses: address, bytes, the number of the
  /// request, and the file, line and function that asked. Empty if nothing is live.
  std::string leak_report() const {
    const host_lock lock(mutex_);
    std::string report;
    for (const auto& [block, from] : live_) {
      char address[32];
      std::snprintf(address, sizeof address, "%p", block);
      report += std::string(address) + ": " + std::to_string(from.bytes) + " bytes, request " +
                std::to_string(from.number) + ", by " + from.place.function_name() + " at " + from.place.file_name() +
                ":" + std::to_string(from.place.line()) + "\n";
    }
    return report;
  }

 private:
  struct origin {
    std::uint64_t bytes = 0;
    std::uint64_t number = 0;
    std::source_location place;
  };
  Source& source_;
  std::map<void*, origin> live_;
  std::uint64_t last_ = 0;
  mutable host_mutex mutex_;
};

}  // namespace warpheap
