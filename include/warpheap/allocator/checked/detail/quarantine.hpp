// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/platform.hpp>

namespace warpheap::detail {

// The blocks that were freed last, in a ring of slots. Zero bytes are an empty one.
//
// Invariant: a block that was put in lies in one slot, or is in the hands of the one thread that took it out. Slots
// change by exchanges only, so no block is lost or taken twice, and nobody waits for anybody.
//
// `held` counts blocks from before they are put in until after they have left for good. So a thread that reads 0 knows
// that no block is in a slot, on its way in or on its way out.
//
// Orders: what was done to a block before it was put in happens before what its taker does. The taker's end of a block
// (`has_left`) is released to the thread that reads that nothing is held.
template <std::uint32_t Slots>
struct quarantine {
  static_assert(is_power_of_two(Slots), "checked: the quarantine has a power of two of slots");

  alignas(128) std::uint64_t tickets;
  alignas(128) std::uint64_t held;
  alignas(128) void* slot[Slots];

  // Puts `freed` in. Returns the one that has been there longest, or about so, which the caller then has in hands; null
  // if there is room for both.
  WARPHEAP_FN void* put(void* freed) {
    using enum memory_order;
    using enum thread_scope;
    // Relaxed: the caller sees its own count, and so do the threads that come after it.
    atomic_view{held}.fetch_add(1, relaxed, device);
    const std::uint64_t ticket = atomic_view{tickets}.fetch_add(1, relaxed, device);  // only spreads over the slots
    return atomic_view{slot[ticket % Slots]}.exchange(freed, acq_rel, device);
  }

  // Takes out the block in slot `at`, if there is one.
  WARPHEAP_FN void* take(std::uint64_t at) {
    using enum memory_order;
    using enum thread_scope;
    const atomic_view view{slot[at % Slots]};
    // Read before it is changed: most threads that empty the ring find that others did.
    return view.load(relaxed, device) == nullptr ? nullptr : view.exchange(nullptr, acquire, device);
  }

  // A block that was taken out is the design's again.
  WARPHEAP_FN void has_left() { atomic_view{held}.fetch_sub(1, memory_order::release, thread_scope::device); }

  WARPHEAP_FN bool is_empty() { return atomic_view{held}.load(memory_order::acquire, thread_scope::device) == 0; }
};

}  // namespace warpheap::detail
