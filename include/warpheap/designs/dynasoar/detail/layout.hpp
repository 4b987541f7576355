// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::detail {

/// What a heap keeps for each block, in one sector of memory.
struct alignas(32) dynasoar_header {
  slab_entry entry;        // type, capacity, number of free slots, generation
  std::uint64_t taken;     // a bit for each slot: taken, or no slot
  std::uint64_t iterated;  // slots that the current `parallel_do` visits
};

/// Where the metadata of a heap with `types` types lie: the sets of blocks, the headers, and for each type a bitmap of
/// the blocks that are allocated to it.
///
///   | slab_sets: free, active[type]... | header of block 0, 1, ... | allocated[0] ... | allocated[1] ... |
struct dynasoar_layout {
  static constexpr std::uint64_t most_blocks = std::uint64_t{bit_tree::most_leaves} * bit_tree::leaf_bits;

  WARPHEAP_FN static constexpr std::uint32_t blocks_of(std::uint64_t bytes, std::uint64_t block_bytes) {
    const std::uint64_t blocks = bytes / block_bytes;
    return static_cast<std::uint32_t>(blocks < most_blocks ? blocks : most_blocks);
  }
  // Words of a bitmap of blocks.
  WARPHEAP_FN static constexpr std::uint64_t leaves(std::uint64_t blocks) {
    return divide_up(blocks, bit_tree::leaf_bits);
  }
  WARPHEAP_FN static constexpr std::uint64_t sets_bytes(std::uint32_t types, std::uint64_t blocks) {
    return align_up(slab_sets::bytes(types + 1, blocks), 128);
  }
  WARPHEAP_FN static constexpr std::uint64_t headers_bytes(std::uint64_t blocks) {
    return blocks * sizeof(dynasoar_header);
  }
  WARPHEAP_FN static constexpr std::uint64_t allocated_bytes(std::uint32_t types, std::uint64_t blocks) {
    return types * leaves(blocks) * sizeof(std::uint64_t);
  }
  // Bytes of metadata; without the bitmaps of allocated blocks if `lists_blocks` is false.
  WARPHEAP_FN static constexpr std::uint64_t bytes(std::uint32_t types, std::uint64_t blocks, bool lists_blocks) {
    return sets_bytes(types, blocks) + headers_bytes(blocks) + (lists_blocks ? allocated_bytes(types, blocks) : 0);
  }
};

}  // namespace warpheap::detail
