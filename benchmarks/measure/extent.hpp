// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "requests.hpp"

namespace warpheap::bench {

/// The addresses that blocks lie within.
class extent {
 public:
  /// Takes in the blocks of a round, those that are not null.
  void cover(const requests& asked, const std::vector<void*>& blocks) {
    for (std::uint64_t i = 0; i < asked.count; ++i) {
      if (blocks[i] == nullptr) continue;
      const auto begin = std::bit_cast<std::uint64_t>(blocks[i]);
      lowest_ = std::min(lowest_, begin);
      highest_ = std::max(highest_, begin + asked.bytes(i));
    }
  }

  /// From the first byte of the lowest block to the last of the highest; 0 if there were no blocks.
  std::uint64_t bytes() const { return highest_ <= lowest_ ? 0 : highest_ - lowest_; }

 private:
  std::uint64_t lowest_ = ~std::uint64_t{0};
  std::uint64_t highest_ = 0;
};

}  // namespace warpheap::bench
