// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/platform.hpp>

#include "prefix_sum.hpp"
#include "requests.hpp"

namespace warpheap::bench {

/// What programs do that have no heap: a kernel that tells how large each item is, a prefix sum that tells where it
/// lies, one allocation from the host for all of them.
class packed_items {
 public:
  /// Whether the memory is taken anew for each round or kept for the next.
  enum class memory { taken_anew, kept };

  /// For rounds of `count` items. Throws `usage_error` if a round's sizes may not fit 32 bits.
  packed_items(std::uint64_t count, std::uint64_t largest_bytes, memory policy);
  ~packed_items();
  packed_items(const packed_items&) = delete;
  packed_items& operator=(const packed_items&) = delete;

  /// Finds the places of all items and takes memory for them, which waits for the sum. Returns the bytes of all.
  std::uint64_t place(const requests& asked);
  /// Writes every item to its place.
  void write(const requests& asked);
  /// Tells where items lie, for kernels that go through pointers.
  void point(const requests& asked, void** blocks) const;
  /// Gives the memory back, unless it is kept.
  void release();

 private:
  void reserve(std::uint64_t bytes);

  std::uint64_t count_;
  memory policy_;
  device_array<std::uint32_t> sizes_;
  device_array<std::uint64_t> offsets_;
  prefix_sum sum_;
  unsigned char* data_ = nullptr;
  std::uint64_t capacity_ = 0;
};

}  // namespace warpheap::bench
