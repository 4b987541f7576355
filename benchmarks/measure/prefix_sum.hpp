// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/platform.hpp>

namespace warpheap::bench {

/// The exclusive prefix sum of numbers in device memory: CUB's on a GPU, the standard library's on the host. Its
/// scratch memory is made once.
class prefix_sum {
 public:
  /// For up to `count` numbers.
  explicit prefix_sum(std::uint64_t count);
  /// Puts the sum of `from[0]` to `from[i - 1]` into `to[i]`, for each of the `count` numbers. Ordered as a launch is.
  void run(const std::uint32_t* from, std::uint64_t* to) const;

 private:
  std::uint64_t count_;
  device_array<unsigned char> scratch_;
};

}  // namespace warpheap::bench
