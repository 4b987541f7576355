// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>
#include <warpheap/allocator.hpp>
#include <warpheap/platform.hpp>

namespace warpheap::test {

struct initialise_design {
  template <class Allocator>
  WARPHEAP_FN void operator()(Allocator of) const {
    of.initialise();
  }
};

/// Memory of a heap whose parts are tested by themselves: an empty heap of the design, with `Words` words that a kernel
/// reports.
template <class Allocator, std::uint64_t Alignment, std::uint64_t Words>
class part_stage {
 public:
  /// `bytes` of arena that begin at a multiple of `Alignment`.
  explicit part_stage(std::uint64_t bytes)
      : metadata_bytes_(align_up(Allocator::metadata_bytes(bytes), Alignment)),
        bytes_(bytes),
        memory_(metadata_bytes_ + bytes + 2 * Alignment) {
    launch({1, 1}, initialise_design{}, Allocator{from()});
  }
  /// The arena of the heap.
  arena from() const {
    const auto first = reinterpret_cast<std::uint64_t>(memory_.data());
    std::byte* const begin = memory_.data() + (align_up(first, Alignment) - first);
    return {begin + metadata_bytes_, bytes_, bytes_, begin};
  }
  /// Runs `kernel(part, out)` in `threads` threads of blocks of 64; out is zero at first.
  template <class Part, class Kernel>
  std::vector<std::uint64_t> run(Kernel kernel, std::uint64_t threads = 1) {
    const device_array<std::uint64_t> out(Words);
    launch(threads == 1 ? grid_shape{1, 1} : grid_shape::covering(threads, 64), kernel, Part{from()}, out.data());
    return out.to_host();
  }

 private:
  std::uint64_t metadata_bytes_;
  std::uint64_t bytes_;
  device_array<std::byte> memory_;
};

/// Expects that a kernel's report begins with these words.
inline void expect_words(const std::vector<std::uint64_t>& out, const std::vector<std::uint64_t>& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(out[i], expected[i]) << i;
}

}  // namespace warpheap::test
