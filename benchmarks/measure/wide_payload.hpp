// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <warpheap/platform.hpp>

namespace warpheap::bench {

/// What a large block is filled with, by all threads of a grid: one thread would take minutes for a gibibyte. Blocks
/// are aligned to four bytes. `salt` tells blocks apart.
struct wide_payload {
  std::uint32_t* words;
  std::uint64_t bytes;
  std::uint64_t salt;

  /// A grid of a size that suits the block.
  grid_shape grid() const {
    constexpr std::uint64_t most = this_backend == backend::cuda ? std::uint64_t{1} << 18 : std::uint64_t{1} << 8;
    return grid_shape::covering(std::clamp(bytes / 4, std::uint64_t{1}, most));
  }

  WARPHEAP_FN std::uint32_t word(std::uint64_t i) const { return static_cast<std::uint32_t>(mix(mix(salt) ^ i)); }
  WARPHEAP_FN unsigned char last_byte(std::uint64_t i) const {
    return static_cast<unsigned char>(word(bytes / 4) >> (8 * i));
  }
  WARPHEAP_FN unsigned char* tail() const { return reinterpret_cast<unsigned char*>(words + bytes / 4); }
};

/// Writes each byte of a block.
struct fill_widely {
  WARPHEAP_FN void operator()(wide_payload block) const {
    for (std::uint64_t i = grid_thread_index(); i < block.bytes / 4; i += grid_threads())
      block.words[i] = block.word(i);
    if (grid_thread_index() != 0) return;
    for (std::uint64_t i = 0; i < block.bytes % 4; ++i) block.tail()[i] = block.last_byte(i);
  }
};

/// Counts in `*damaged` the words of a block, and the bytes of its last word, that `fill_widely` did not leave so.
struct check_widely {
  WARPHEAP_FN void operator()(wide_payload block, std::uint64_t* damaged) const {
    std::uint64_t wrong = 0;
    for (std::uint64_t i = grid_thread_index(); i < block.bytes / 4; i += grid_threads()) {
      if (block.words[i] != block.word(i)) ++wrong;
    }
    if (grid_thread_index() == 0) {
      for (std::uint64_t i = 0; i < block.bytes % 4; ++i) {
        if (block.tail()[i] != block.last_byte(i)) ++wrong;
      }
    }
    // Counted, not ordered: the host reads the sum after the launch.
    if (wrong != 0) atomic_view{*damaged}.fetch_add(wrong, memory_order::relaxed, thread_scope::device);
  }
};

}  // namespace warpheap::bench
