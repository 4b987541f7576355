// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/platform.hpp>

#include "requests.hpp"

namespace warpheap::bench {

/// Words at the begin and the end of a block that tell which request got it, for kernels that judge their own blocks:
/// a block that a second thread was given too, or that reaches into another one, loses one of them. What stands in
/// between is left alone, so that a kernel goes on being one of mallocs and frees. Blocks are aligned to four bytes.
class stamp {
 public:
  /// For a `block` of `bytes` bytes that request `number` of a round got; `salt` tells rounds apart.
  WARPHEAP_FN stamp(void* block, std::uint64_t bytes, std::uint64_t salt, std::uint64_t number)
      : block_(static_cast<unsigned char*>(block)),
        bytes_(bytes),
        word_(static_cast<std::uint32_t>(mix(~salt ^ number))) {}

  /// Stamps the block.
  WARPHEAP_FN void write() const {
    write(0);
    write(last());
  }

  /// True if both words are there still.
  WARPHEAP_FN bool intact() const { return intact(0) && intact(last()); }

 private:
  // Where the last word begins: it has as many bytes as there are, up to four.
  WARPHEAP_FN std::uint64_t last() const { return align_down(bytes_ - 1, 4); }

  WARPHEAP_FN void write(std::uint64_t from) const {
    if (bytes_ - from >= 4) {
      *reinterpret_cast<std::uint32_t*>(block_ + from) = word_;
      return;
    }
    for (std::uint64_t i = from; i < bytes_; ++i) block_[i] = expected(i);
  }

  WARPHEAP_FN bool intact(std::uint64_t from) const {
    if (bytes_ - from >= 4) {
      // Read where all multiprocessors meet: a plain load could find the caller's own write in a cache near by. Nothing
      // is ordered by it.
      const atomic_view word{*reinterpret_cast<std::uint32_t*>(block_ + from)};
      return word.load(memory_order::relaxed, thread_scope::device) == word_;
    }
    bool whole = true;
    for (std::uint64_t i = from; i < bytes_; ++i) whole = whole && block_[i] == expected(i);
    return whole;
  }

  WARPHEAP_FN unsigned char expected(std::uint64_t i) const { return static_cast<unsigned char>(word_ >> (i % 4 * 8)); }

  unsigned char* block_;
  std::uint64_t bytes_;
  std::uint32_t word_;
};

}  // namespace warpheap::bench
