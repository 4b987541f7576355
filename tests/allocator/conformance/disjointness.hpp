// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <allocator/conformance/held_blocks.hpp>
#include <allocator/conformance/schedules.hpp>
#include <allocator/conformance/trial.hpp>
#include <cstdint>

namespace warpheap::test {

// Threads take blocks that all fit, fill them, and check in later launches that nobody else did.
template <class A>
void take_and_verify(findings& found, std::uint64_t largest, std::uint64_t seed) {
  constexpr std::uint64_t each = 4;
  const std::uint64_t threads = grid_shape::covering(scaled_for<A>(1024, 1 << 16), 128).blocks * 128;
  trial<A> t{found, this_backend == backend::host ? 16_MiB : 512_MiB};
  const device_array<held_block> held(threads * each);
  t.run(threads, take_kernel{}, held.data(), each, seed, largest);
  t.run(threads, verify_kernel{}, static_cast<const held_block*>(held.data()), each, std::uint64_t{1});
  t.run(threads, give_kernel{}, static_cast<const held_block*>(held.data()), each, std::uint64_t{33});
}

/// No two live blocks share a byte, and none leaves the heap: neighbours of one size.
template <class A>
void small_blocks_are_disjoint(findings& found) {
  under_schedules(found, [&](std::uint64_t seed) { take_and_verify<A>(found, 16, seed); });
}

/// No two live blocks share a byte, and none leaves the heap: sizes of all kinds. Every byte of them can be written and
/// keeps its value, launches long.
template <class A>
void mixed_blocks_are_disjoint(findings& found) {
  under_schedules(found, [&](std::uint64_t seed) { take_and_verify<A>(found, 2000, seed); });
}

}  // namespace warpheap::test
