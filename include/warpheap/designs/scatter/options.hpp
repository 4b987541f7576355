// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>

namespace warpheap {

/// The constants of `scatter` and `flatter_scatter`.
struct scatter_options {
  std::uint32_t access_block_pages = 1u << 15;  ///< pages of an access block, a power of two; small heaps have smaller
  std::uint32_t waste_factor = 2;  ///< a page whose chunks are up to so many times as large serves a request
  std::uint32_t opened_part = 4;   ///< one in so many pages of a new heap is open for chunks; the others are for blocks
                                   ///< of pages until chunks need them
  std::uint32_t quick_looks = 8;   ///< regions, or rows of pages, of an access block that a quick sweep looks at
  std::uint32_t quick_blocks = 8;  ///< access blocks that a quick sweep looks at
  std::uint32_t crowded = 16;      ///< a quick sweep passes by a region of which fewer pages have room
  std::uint32_t largest_page_shift = 17;  ///< of `flatter_scatter`: pages of 128 KiB, smaller in small heaps
};

}  // namespace warpheap
