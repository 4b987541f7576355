// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

// Structures that a caller was compiled with, which may be shorter or longer than the library's: their first member,
// `struct_bytes`, says how long.

namespace warpheap::interface {

/// A structure of the caller as far as both sides know it; the rest is zero.
template <class T>
T read_as_far(const T& given) {
  T whole{};
  std::memcpy(&whole, &given, std::min<std::uint64_t>(given.struct_bytes, sizeof(T)));
  return whole;
}

/// Writes a structure as far as both sides know it, and leaves the caller's `struct_bytes` as it is.
template <class T>
void write_as_far(T& place, T value) {
  value.struct_bytes = place.struct_bytes;
  std::memcpy(&place, &value, std::min<std::uint64_t>(place.struct_bytes, sizeof(T)));
}

}  // namespace warpheap::interface
