// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <warpheap/platform.hpp>

#include "requests.hpp"

namespace warpheap::bench {

/// Writes each byte of each block with what belongs to its request. Blocks that share a byte, or memory that does not
/// keep what it is told, are then seen by `check_payload`. Blocks are aligned to four bytes.
struct fill_payload {
  WARPHEAP_FN void operator()(requests asked, void* const* blocks) const {
    const std::uint64_t index = asked.mine();
    if (index == requests::none || blocks[index] == nullptr) return;
    const std::uint64_t bytes = asked.bytes(index);
    auto* words = static_cast<std::uint32_t*>(blocks[index]);
    for (std::uint64_t i = 0; i < bytes / 4; ++i) words[i] = word(index, i);
    auto* tail = reinterpret_cast<unsigned char*>(words + bytes / 4);
    for (std::uint64_t i = 0; i < bytes % 4; ++i)
      tail[i] = static_cast<unsigned char>(word(index, bytes / 4) >> (8 * i));
  }

  // What word `i` of the block of request `index` holds.
  WARPHEAP_FN static std::uint32_t word(std::uint64_t index, std::uint64_t i) {
    return static_cast<std::uint32_t>(mix((index << 20) ^ i));
  }
};

/// Counts in `*damaged` the blocks that no longer hold what `fill_payload` wrote.
struct check_payload {
  WARPHEAP_FN void operator()(requests asked, void* const* blocks, std::uint64_t* damaged) const {
    const std::uint64_t index = asked.mine();
    if (index == requests::none || blocks[index] == nullptr) return;
    const std::uint64_t bytes = asked.bytes(index);
    const auto* words = static_cast<const std::uint32_t*>(blocks[index]);
    bool whole = true;
    for (std::uint64_t i = 0; i < bytes / 4; ++i) whole = whole && words[i] == fill_payload::word(index, i);
    const auto* tail = reinterpret_cast<const unsigned char*>(words + bytes / 4);
    for (std::uint64_t i = 0; i < bytes % 4; ++i) {
      whole = whole && tail[i] == static_cast<unsigned char>(fill_payload::word(index, bytes / 4) >> (8 * i));
    }
    // Counted, not ordered: the host reads the sum after the launch.
    if (!whole) atomic_view{*damaged}.fetch_add(1, memory_order::relaxed, thread_scope::device);
  }
};

}  // namespace warpheap::bench
