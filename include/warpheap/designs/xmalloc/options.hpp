// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>

namespace warpheap {

/// The constants of `xmalloc` and `xmalloc_flat`, as in the authors' program.
struct xmalloc_options {
  std::uint32_t superblock_blocks = 16;  ///< basic blocks of a superblock, a power of two from 2 to 32; `xmalloc` alone
  std::uint32_t least_block = 512;       ///< bytes of the smallest basic block, a power of two from 512 on
  std::uint32_t largest_block = 8192;    ///< bytes of the largest basic block, a power of two
  std::uint32_t lists = 4;               ///< first-level queues of a class, a power of two
  std::uint32_t list_capacity = 256;     ///< free basic blocks that such a queue holds, a power of two from 2 on
  std::uint32_t combine_below = 256;     ///< bytes; lanes that ask for less share a basic block
};

}  // namespace warpheap
