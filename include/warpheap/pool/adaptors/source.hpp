// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>

namespace warpheap {

/// Anything that hands out blocks as a `basic_pool` does. Adaptors stand on one and are one, so they can be stacked in
/// any order. An adaptor keeps a reference to what it stands on, which must outlive it. Each can be called by any
/// thread if what it stands on can. An adaptor calls its source, and whatever else is not its own, without holding a
/// lock, so a callback may call any adaptor above it.
///
/// - `allocate(bytes, alignment)`: a block, or an exception derived from `std::bad_alloc` when it has no room.
/// - `deallocate(block)`: takes it back; null is ignored. Throws `unknown_block` if no live block begins there, and
///   `damaged_block` after it took the block back. After any other exception the block is still live.
/// - `block_bytes(block)`: the bytes that the live block takes, at least 1: with its rounding, and with what an adaptor
///   puts beside it. 0 only if no live block begins there.
template <class S>
concept block_source = requires(S source, const S& constant, std::uint64_t number, void* block) {
  { source.allocate(number, number) } -> std::same_as<void*>;
  source.deallocate(block);
  { constant.block_bytes(block) } -> std::same_as<std::uint64_t>;
};

}  // namespace warpheap
