// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <warpheap/allocator/capabilities.hpp>

#include "../json.hpp"
#include "findings.hpp"

namespace warpheap::bench {

inline constexpr const char* lacks_individual_free = "the design has no individual free";
inline constexpr const char* needs_whole_warps =
    "the design needs all lanes of a warp together; here each thread calls for itself";

inline constexpr const char* is_never_full =
    "the design is never full: it hands out live memory again once requests have gone around the heap";

/// Why a design of these capabilities cannot run a case that fills a heap; null if it can.
constexpr const char* unfit_for_full_heaps(const allocator_capabilities& can) {
  return can.reuses_live_memory ? is_never_full : nullptr;
}

/// Why a design of these capabilities cannot run a case that frees single blocks; null if it can.
constexpr const char* unfit_for_frees(const allocator_capabilities& can) {
  return can.individual_free ? nullptr : lacks_individual_free;
}

/// Why a design of these capabilities cannot run a case in which each thread calls malloc and free
/// at its own time, whatever the other lanes of its warp do; null if it can.
constexpr const char* unfit_for_lone_threads(const allocator_capabilities& can) {
  return can.individual_free && can.needs_full_warp ? needs_whole_warps : unfit_for_frees(can);
}

/// Why a design of these capabilities cannot run a case that fills a heap, frees all blocks and fills it again; null if
/// it can.
constexpr const char* unfit_for_refilled_heaps(const allocator_capabilities& can) {
  return can.reuses_live_memory ? is_never_full : unfit_for_lone_threads(can);
}

/// Reason of a case whose requests are larger than the design's largest.
inline std::string serves_no_more_than(std::uint64_t largest_bytes) {
  return "the design serves requests of up to " + std::to_string(largest_bytes) + " bytes";
}

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
