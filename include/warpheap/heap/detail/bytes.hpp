// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>

namespace warpheap::detail {

struct alignas(16) sixteen_bytes {
  std::uint64_t low, high;
};

// Writes `bytes` zero bytes; `block` is 16-byte aligned.
WARPHEAP_FN inline void zero_bytes(void* block, std::uint64_t bytes) {
  auto* wide = static_cast<sixteen_bytes*>(block);
  for (std::uint64_t i = 0; i < bytes / 16; ++i) wide[i] = {0, 0};
  auto* narrow = static_cast<std::byte*>(block);
  for (std::uint64_t i = align_down(bytes, 16); i < bytes; ++i) narrow[i] = std::byte{0};
}

// Copies `bytes` bytes between blocks that do not overlap; both are 16-byte aligned.
WARPHEAP_FN inline void copy_bytes(void* to, const void* from, std::uint64_t bytes) {
  auto* wide_to = static_cast<sixteen_bytes*>(to);
  const auto* wide_from = static_cast<const sixteen_bytes*>(from);
  for (std::uint64_t i = 0; i < bytes / 16; ++i) wide_to[i] = wide_from[i];
  auto* narrow_to = static_cast<std::byte*>(to);
  const auto* narrow_from = static_cast<const std::byte*>(from);
  for (std::uint64_t i = align_down(bytes, 16); i < bytes; ++i) narrow_to[i] = narrow_from[i];
}

}  // namespace warpheap::detail
