// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>

namespace warpheap {

/// The device memory that a heap gives to its allocator, at addresses that hold until the heap ends or is relocated.
struct arena {
  std::byte* data;               ///< where blocks are cut from; aligned to at least 4 KiB
  std::uint64_t bytes;           ///< bytes of it that may be used now
  std::uint64_t reserved_bytes;  ///< bytes that growth can reach
  std::byte* metadata;           ///< the allocator's own state, `metadata_bytes(bytes)` of it; 256-byte aligned
};

/// What an allocator counts for the host. Threads that count together add to it atomically.
struct allocator_counts {
  std::uint64_t live_bytes;  ///< bytes handed out and not taken back, as the design rounds them
};

}  // namespace warpheap
