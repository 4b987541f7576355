// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace warpheap::executor {

/// Random numbers that a seed and a stream determine, the same on every machine: Steele, Lea and Flood's SplitMix,
/// "Fast splittable pseudorandom number generators", OOPSLA 2014.
class random_stream {
 public:
  random_stream(std::uint64_t seed, std::uint64_t stream) : state_(seed) { state_ = next() ^ (stream * golden); }

  std::uint64_t next() {
    std::uint64_t word = state_ += golden;
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
    return word ^ (word >> 31);
  }
  /// A number below `bound`, which is not 0. The bias of a product instead of a division is below 2^-32 * bound.
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(((next() >> 32) * bound) >> 32); }
  /// True once in `turns` calls on average.
  bool one_in(std::uint32_t turns) { return below(turns) == 0; }

 private:
  static constexpr std::uint64_t golden = 0x9e3779b97f4a7c15u;
  std::uint64_t state_;
};

}  // namespace warpheap::executor
