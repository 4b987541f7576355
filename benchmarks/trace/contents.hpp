// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/platform.hpp>

#include "../measure/requests.hpp"
#include "../measure/stamp.hpp"

namespace warpheap::bench {

/// What a replay keeps in a block, so that one that is also another's is seen: words at both ends, or words all over,
/// which takes longer. Blocks are aligned to four bytes.
class contents {
 public:
  /// For a `block` of `bytes` bytes in place `number`; `salt` tells rounds apart.
  WARPHEAP_FN contents(void* block, std::uint64_t bytes, std::uint64_t salt, std::uint64_t number, bool all_over)
      : ends_(block, bytes, salt, number),
        block_(block),
        bytes_(bytes),
        first_(static_cast<std::uint32_t>(mix(salt ^ mix(number)))),
        all_over_(all_over) {}

  /// Writes them.
  WARPHEAP_FN void write() const {
    if (!all_over_) return ends_.write();
    for (std::uint64_t i = 0; i < bytes_ / 4; ++i) words()[i] = word(i);
    for (std::uint64_t i = align_down(bytes_, 4); i < bytes_; ++i) byte(i) = tail(i);
  }

  /// True if they are there still.
  WARPHEAP_FN bool intact() const {
    if (!all_over_) return ends_.intact();
    bool whole = true;
    for (std::uint64_t i = 0; i < bytes_ / 4; ++i) {
      // Read where all multiprocessors meet, as `stamp` does; nothing is ordered by it.
      const std::uint32_t found = atomic_view{words()[i]}.load(memory_order::relaxed, thread_scope::device);
      whole = whole && found == word(i);
    }
    for (std::uint64_t i = align_down(bytes_, 4); i < bytes_; ++i) whole = whole && byte(i) == tail(i);
    return whole;
  }

 private:
  WARPHEAP_FN std::uint32_t* words() const { return static_cast<std::uint32_t*>(block_); }
  WARPHEAP_FN std::uint32_t word(std::uint64_t i) const { return first_ + static_cast<std::uint32_t>(i); }
  WARPHEAP_FN unsigned char& byte(std::uint64_t i) const { return static_cast<unsigned char*>(block_)[i]; }
  WARPHEAP_FN unsigned char tail(std::uint64_t i) const {
    return static_cast<unsigned char>(word(bytes_ / 4) >> (i % 4 * 8));
  }

  stamp ends_;
  void* block_;
  std::uint64_t bytes_;
  std::uint32_t first_;
  bool all_over_;
};

}  // namespace warpheap::bench
