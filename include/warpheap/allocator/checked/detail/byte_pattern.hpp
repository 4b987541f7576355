// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <warpheap/platform.hpp>

// Bytes of one value over part of a block, whole words at a time. `data` is 8-byte aligned.

namespace warpheap::detail {

WARPHEAP_FN constexpr std::uint64_t word_of_bytes(std::uint8_t value) { return value * 0x0101'0101'0101'0101u; }

// Writes `value` to bytes [from, to).
WARPHEAP_FN inline void write_pattern(std::byte* data, std::uint64_t from, std::uint64_t to, std::uint8_t value) {
  for (; from < to && from % 8 != 0; ++from) data[from] = std::byte{value};
  for (; from + 8 <= to; from += 8) *reinterpret_cast<std::uint64_t*>(data + from) = word_of_bytes(value);
  for (; from < to; ++from) data[from] = std::byte{value};
}

// True if bytes [from, to) have the value.
WARPHEAP_FN inline bool holds_pattern(const std::byte* data, std::uint64_t from, std::uint64_t to, std::uint8_t value) {
  bool same = true;
  for (; from < to && from % 8 != 0; ++from) same = same && data[from] == std::byte{value};
  for (; same && from + 8 <= to; from += 8) {
    same = *reinterpret_cast<const std::uint64_t*>(data + from) == word_of_bytes(value);
  }
  for (; same && from < to; ++from) same = data[from] == std::byte{value};
  return same;
}

}  // namespace warpheap::detail
