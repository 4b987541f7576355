// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>

namespace warpheap {

/// A limit that only the size of the heap sets.
inline constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

/// What a design promises. Tests, the survey and the heap ask here; none knows a design by name.
struct allocator_capabilities {
  bool individual_free = false;        ///< `free` makes a block available again; if not, it does nothing
  bool knows_size = false;             ///< `usable_size` answers, so `realloc` works
  bool reset = false;                  ///< the host can take back all blocks at once
  bool grow = false;                   ///< the host can add memory between launches
  bool relocate = false;               ///< the host can move the heap, blocks and all, to a larger place
  bool host_copy = false;              ///< blocks are ordinary device memory: the host can copy to and from them
  bool counts_live = false;            ///< `count` tells the bytes that are handed out
  bool uses_arena = false;             ///< blocks come from the arena that the heap gives
  bool state_in_arena = false;         ///< the design writes its own state into parts of the arena that hold no block
  bool needs_full_warp = false;        ///< calls need all lanes of the warp together
  bool typed_objects = false;          ///< the design has `typed_heap`, which keeps each field of a type in arrays
  bool release_by_warp = false;        ///< a warp can have an arena of its own, whose blocks all go back by one call
  bool reuses_live_memory = false;     ///< never full: a block is lost as soon as requests that came after it have
                                       ///< gone once around the heap, whether it is in use or not
  bool refuses_only_when_full = true;  ///< null means that there was no room at one moment of the call, whatever other
                                       ///< threads did meanwhile

  std::uint64_t shared_below =
      0;  ///< bytes; a block for a smaller request may share memory with others that lanes of its
          ///< warp took in the same call; that memory comes back when all are free. 0: none do
  std::uint64_t trim_bytes = 0;  ///< bytes of a unit, by which the host can take memory out of the heap; 0: it cannot
  std::uint64_t stack_bytes =
      0;                         ///< bytes of a thread's stack on a GPU, a multiple of 8, in an optimised build: a call
                                 ///< below ten levels of a recursion that inline malloc and free takes no more than
                                 ///< this beside what the recursion takes with the toolkit's malloc and free
  std::uint64_t alignment = 16;  ///< bytes; of every block
  std::uint64_t largest_alignment = unlimited;  ///< bytes; the most that `aligned_malloc` grants
  std::uint64_t largest_bytes = unlimited;      ///< the largest request that the design can ever serve

  /// True if no thread but its owner has business with any byte of the arena, so that a memory checker may hide all
  /// that no block covers.
  WARPHEAP_FN constexpr bool owners_alone_use_arena() const { return uses_arena && !state_in_arena; }

  /// True if a design with the capabilities `whole` keeps each promise that these make: so an adaptor of that design
  /// may have these. What is needed, such as a full warp or bytes of stack, may rise; what is offered may not.
  WARPHEAP_FN constexpr bool promise_no_more_than(const allocator_capabilities& whole) const {
    return (!individual_free || whole.individual_free) && (!typed_objects || whole.typed_objects) &&
           (!knows_size || whole.knows_size) && (!reset || whole.reset) && (!grow || whole.grow) &&
           (!relocate || whole.relocate) && (!host_copy || whole.host_copy) && (!counts_live || whole.counts_live) &&
           (!uses_arena || whole.uses_arena) && (state_in_arena || !whole.state_in_arena) &&
           (needs_full_warp || !whole.needs_full_warp) && (!release_by_warp || whole.release_by_warp) &&
           (reuses_live_memory || !whole.reuses_live_memory) &&
           (!refuses_only_when_full || whole.refuses_only_when_full) && shared_below >= whole.shared_below &&
           (trim_bytes == 0 || trim_bytes == whole.trim_bytes) && stack_bytes >= whole.stack_bytes &&
           whole.alignment % alignment == 0 && largest_alignment <= whole.largest_alignment &&
           largest_bytes <= whole.largest_bytes;
  }
};

}  // namespace warpheap
