// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace warpheap {

/// Bytes that memory can be asked for at most, far more than a machine has: a size is rounded up to pages and pieces,
/// and gets an alignment added, without a wrap.
inline constexpr std::uint64_t most_bytes = std::uint64_t{1} << 63;

/// Returns `bytes`, which `what` is to have. Throws `std::length_error` that names both if it is more than
/// `most_bytes`.
inline std::uint64_t require_size(std::uint64_t bytes, const char* what) {
  if (bytes <= most_bytes) return bytes;
  throw std::length_error(std::string{"warpheap: "} + what + " of " + std::to_string(bytes) +
                          " bytes is more than any machine has; was a negative number converted?");
}

/// Returns the bytes of `count` elements of `each` bytes, which `what` is to have. Throws `std::length_error` that
/// names both numbers if that is more than `most_bytes`.
inline std::uint64_t require_size(std::uint64_t count, std::uint64_t each, const char* what) {
  if (count <= most_bytes / each) return count * each;
  throw std::length_error(std::string{"warpheap: "} + what + " of " + std::to_string(count) + " elements of " +
                          std::to_string(each) +
                          " bytes is more than any machine has; was a negative number converted?");
}

}  // namespace warpheap
