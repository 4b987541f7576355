// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>
#include <warpheap/sync.hpp>

namespace warpheap::detail {

// The nodes of TBuddy's tree. Those of orders 0 to 12 lie in spans of 4,096 pages, so that they grow with the pages;
// the others in the state. Within each, the nodes of a subtree are numbered as in a heap: the root is 1, and below node
// i are 2i and 2i + 1.
struct state_buddy_layout {
  static constexpr std::uint32_t page_bits = 26;
  static constexpr std::uint32_t orders = 25;
  static constexpr std::uint32_t span_order = 12;
  static constexpr std::uint32_t span_pages = 1u << span_order;

  // A node: its state, a mark, and a lock. Zero is busy.
  static constexpr std::uint32_t busy = 0;
  static constexpr std::uint32_t available = 1;
  static constexpr std::uint32_t partial = 2;
  static constexpr std::uint32_t locked = 4;
  // Of a partial node: both halves of it, or of a node below it, are available, and could be merged.
  static constexpr std::uint32_t paired = 8;

  struct alignas(128) span {
    std::uint32_t nodes[2 * span_pages];
    std::uint8_t tags[span_pages];
  };
  struct state {
    bulk_semaphore blocks[orders];
    std::uint32_t nodes[std::uint32_t{1} << (page_bits - span_order)];
    alignas(128) std::uint32_t end;  // after the last page
    // Modulo 2^32, and compared for equality within one look alone (`bit_tree::levels`).
    alignas(128) change_counter<std::uint32_t> merges;
    std::uint32_t sweeping;  // somebody merges such pairs
  };
};

}  // namespace warpheap::detail
