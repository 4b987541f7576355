// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/platform.hpp>

namespace warpheap {

/// What happened to a recorded heap.
struct trace_event {
  enum class kind : std::uint32_t { malloc, free, reset };

  std::uint64_t block;  ///< the address; 0: the request was refused
  std::uint64_t bytes;  ///< that were asked for
  std::uint32_t thread;
  kind what;

  WARPHEAP_FN static trace_event malloc(const void* block, std::uint64_t bytes) {
    return {address(block), bytes, caller(), kind::malloc};
  }
  WARPHEAP_FN static trace_event free(const void* block) { return {address(block), 0, caller(), kind::free}; }
  WARPHEAP_FN static trace_event reset() { return {0, 0, 0, kind::reset}; }

 private:
  WARPHEAP_FN static std::uint64_t address(const void* block) { return reinterpret_cast<std::uint64_t>(block); }
  // Numbers too large for a trace stay too large.
  WARPHEAP_FN static std::uint32_t caller() {
    const std::uint64_t index = grid_thread_index();
    return index < 0xffffffff ? static_cast<std::uint32_t>(index) : 0xffffffff;
  }
};

/// Events in device memory, in an order that agrees with that of each thread and with the life of each block.
///
/// The invariant: of two appends, if one happens before the other it stands before it. All appends add to one counter,
/// and adds to one object stand in an order that agrees with happens-before, so relaxed is enough. A malloc is appended
/// after its return and a free before its call. So the malloc of a block stands before its free, by whatever the
/// program hands the pointer on with, and the free before the next malloc of the same address, since the heap orders
/// the two owners.
///
/// The counter goes on when the room is used up, so that what is missing is known.
struct trace_log {
  trace_event* events;
  std::uint64_t* count;
  std::uint64_t room;

  WARPHEAP_FN void append(trace_event event) const {
    const std::uint64_t at = atomic_view{*count}.fetch_add(1, memory_order::relaxed, thread_scope::device);
    if (at < room) events[at] = event;  // a cell of its own; the host reads it after the launch
  }
};

}  // namespace warpheap
