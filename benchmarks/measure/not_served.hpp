// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "../json.hpp"
#include "findings.hpp"

namespace warpheap::bench {

inline constexpr const char* lacks_individual_free = "the design has no individual free";
inline constexpr const char* needs_whole_warps =
    "the design needs all lanes of a warp together; here each thread calls for itself";

/// Reason of a case in a heap of `heap_bytes` bytes that the design's own state leaves no room in for `block_bytes`.
inline std::string no_room_for_a_block(std::uint64_t heap_bytes, std::uint64_t block_bytes) {
  return "the design has no room for a block of " + std::to_string(block_bytes) + " bytes in a heap of " +
         std::to_string(heap_bytes) + " bytes; use a larger heap";
}

/// Writes the findings of a case that did not run, and returns `reason`, why the design cannot serve it.
inline std::string not_served(json_object& record, std::string reason) {
  findings{}.report(record);
  return reason;
}

}  // namespace warpheap::bench
