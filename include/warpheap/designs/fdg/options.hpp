// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>

namespace warpheap {

/// The constants of `basic_fdg`.
struct fdg_options {
  /// Bytes of a superblock, a power of two from 4 KiB to 64 KiB; the authors have 8 KiB. Larger requests get a block of
  /// their own.
  std::uint32_t superblock_bytes = 8192;
  /// The most arenas that mallocs without an arena share, a power of two. Each holds back a superblock.
  std::uint32_t common_arenas = 256;
};

}  // namespace warpheap
