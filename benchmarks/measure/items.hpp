// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/platform.hpp>

#include "requests.hpp"

namespace warpheap::bench {

/// What a program keeps in its blocks: item `index` of `bytes` bytes, a multiple of 4, has words that follow from its
/// number and theirs. Cheap to make, so that a kernel's time is that of its memory; two items that share a word are
/// seen since neighbours' words are far apart.
struct item {
  WARPHEAP_FN static std::uint32_t word(std::uint64_t index, std::uint64_t i) {
    return static_cast<std::uint32_t>(index + 1) * 2654435761u + static_cast<std::uint32_t>(i);
  }

  /// Writes every word, one after the other.
  WARPHEAP_FN static void write(void* block, std::uint64_t index, std::uint64_t bytes) {
    auto* const words = static_cast<std::uint32_t*>(block);
    for (std::uint64_t i = 0; i < bytes / 4; ++i) words[i] = word(index, i);
  }

  /// Reads every word; true if their sum is right.
  WARPHEAP_FN static bool adds_up(const void* block, std::uint64_t index, std::uint64_t bytes) {
    const auto* const words = static_cast<const std::uint32_t*>(block);
    const std::uint64_t count = bytes / 4;
    std::uint32_t sum = 0;
    for (std::uint64_t i = 0; i < count; ++i) sum += words[i];
    return sum ==
           static_cast<std::uint32_t>(count) * word(index, 0) + static_cast<std::uint32_t>(count * (count - 1) / 2);
  }

  /// True if every word is right.
  WARPHEAP_FN static bool is_whole(const void* block, std::uint64_t index, std::uint64_t bytes) {
    const auto* const words = static_cast<const std::uint32_t*>(block);
    bool whole = true;
    for (std::uint64_t i = 0; i < bytes / 4; ++i) whole = whole && words[i] == word(index, i);
    return whole;
  }
};

// Kernels over the items of a round, wherever they lie: one thread an item. Compiled once, not for each allocator.
// Items without a block are passed over.

/// Writes every item.
void write_items(const requests& asked, void* const* blocks);
/// Reads every item; adds to `*wrong` the number of those that do not add up.
void read_items(const requests& asked, void* const* blocks, std::uint64_t* wrong);
/// Compares every word of every item; adds to `*wrong` the number of items with a wrong one.
void check_items(const requests& asked, void* const* blocks, std::uint64_t* wrong);

}  // namespace warpheap::bench
