// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/platform.hpp>

namespace warpheap::test {

/// A stream of random numbers of one thread: the same for the same seed and thread, on both backends.
class random_stream {
 public:
  WARPHEAP_FN constexpr random_stream(std::uint64_t seed, std::uint64_t thread) : state_(mix(seed) ^ mix(~thread)) {}

  /// A number from 0 to `bound - 1`.
  WARPHEAP_FN constexpr std::uint64_t below(std::uint64_t bound) { return mix(state_++) % bound; }

  /// A size from 1 to `largest` bytes: each power of two as likely as any other, so that small ones are common.
  WARPHEAP_FN std::uint64_t size(std::uint64_t largest) {
    const std::uint64_t upto = std::uint64_t{2} << below(static_cast<std::uint64_t>(highest_bit(largest)) + 1);
    return 1 + below(upto < largest ? upto : largest);
  }

 private:
  std::uint64_t state_;
};

}  // namespace warpheap::test
