// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <warpheap/heap.hpp>

#include "../json.hpp"

namespace warpheap::bench {

/// The record's `memory`: blocks of `requested` bytes in all lie within `span` bytes of a heap that says `statistics`
/// of itself.
inline json_object describe_memory(std::uint64_t requested, std::uint64_t span, const heap_statistics& statistics) {
  return json_object{}
      .add("requested_bytes", requested)
      .add("span_bytes", span)
      .add("reserved_bytes", statistics.reserved_bytes)
      .add("committed_bytes", statistics.committed_bytes)
      .add("metadata_bytes", statistics.metadata_bytes)
      .add("live_bytes", statistics.live_bytes);
}

/// What is wrong if `now` bytes are live after all blocks were freed; empty if as many were before, or nobody knows.
inline std::string describe_leak(std::optional<std::uint64_t> before, std::optional<std::uint64_t> now) {
  if (now == before) return "";
  return std::to_string(*now) + " bytes are live after all blocks were freed, and " + std::to_string(*before) +
         " before";
}

/// Within how many bytes the blocks of `from` must lie: those that the heap hands out, or those of the machine if the
/// heap has its blocks from elsewhere.
template <device_allocator A>
std::uint64_t most_span(const heap<A>& from) {
  return A::capabilities.uses_arena ? from.size() : describe_machine().memory_bytes;
}

}  // namespace warpheap::bench
