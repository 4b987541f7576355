// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <warpheap/allocator/arena.hpp>
#include <warpheap/allocator/block_location.hpp>
#include <warpheap/allocator/capabilities.hpp>
#include <warpheap/allocator/memory_fault.hpp>

namespace warpheap {

/// A design of a device heap, as `heap<A>` uses it.
///
/// `A` is the trivially copyable handle that travels into kernels: pointers and figures that are fixed for the heap's
/// life. What changes lives in the arena's metadata. Except where a capability says otherwise, each device member may be
/// called by any subset of the lanes of a warp, converged or not.
///
/// | member | promise |
/// |---|---|
/// | `A::name` | the registry's name: lower case, digits, underscores |
/// | `A::capabilities` | an `allocator_capabilities`: what the design promises |
/// | `A::metadata_bytes(bytes)` | host and device; metadata for an arena of `bytes`. Never falls as `bytes` grows, and the metadata of a smaller arena is a prefix of that of a larger one |
/// | `A{arena}` | host; makes the handle, touches no device memory |
/// | `a.initialise()` | device; each thread of some grid calls it once, with the metadata zeroed before. No thread waits for another block |
/// | `a.grow(bytes)` | device; the same, after the arena grew to `bytes`, with the added metadata zeroed. Only with `capabilities.grow` |
/// | `a.relocate(from, to)` | host; no kernel uses the heap. Writes into the zeroed metadata of `to` what makes `A{to}` the same heap there, with the size that it has. `to` is larger than the present arena `from` or as large, and its data lie a multiple of 64 KiB away; the heap copies the data afterwards, then calls `grow` if it became larger. May change how `from` keeps what is free, and no more. Only with `capabilities.relocate`, which needs `capabilities.grow` |
/// | `a.least_bytes()` | host; bytes of an arena that begins where this one does from which on it has room for a block. A smaller heap is refused. A design need not have it |
/// | `a.trim_begin()` | host; bytes of the arena in front of the first *unit* of `capabilities.trim_bytes` bytes; the others follow side by side. Only with `capabilities.trim_bytes`, as the next three, and no other kernel uses the heap |
/// | `a.coalesce()` | device; each thread of one block calls it. Makes whole units of what is free, as far as it can be |
/// | `a.withdraw(units)` | device; as `initialise`. Takes all whole units that are free out of the heap and sets their bits in `units`, one for each unit of the arena |
/// | `a.restore(units)` | device; as `initialise`. Puts the units whose bits are set back |
/// | `a.malloc(bytes)` | device; `bytes` of at least 1. A block aligned to `capabilities.alignment` that overlaps no other live block, or null; a failed call leaves all state as it was |
/// | `a.aligned_malloc(alignment, bytes)` | device; the same, aligned to a power of two up to `capabilities.largest_alignment` |
/// | `a.free(block)` | device; `block` came from this heap and is not null. Orders the caller's accesses to the block before those of its next owner |
/// | `a.usable_size(block)` | device; bytes of `block` that its owner may use. Only with `capabilities.knows_size` |
/// | `a.count(counts)` | device; as `initialise`; adds what the thread finds. Only with `capabilities.counts_live`. Other kernels may use the heap meanwhile: it then reads no memory but the heap's, ends all the same, and the sum may be off, modulo 2^64, by less than 2^62 |
/// | `a.statistics()` | host; exact while no kernel uses the heap, and otherwise figures that need not agree with each other. Figures of the design's own, of any type. A design need not have it |
/// | `a.locate(pointer)` | device; what any pointer means to the heap. Reads metadata only, never what is pointed to. Exact as long as nobody takes or frees the block there meanwhile. A design need not have it |
/// | `a.first_fault()`, `a.clear_fault()` | host; the first of its users' faults that it found, which may be nothing, and the end of it. `free` then takes any pointer but null, `usable_size` is 0 for what is no live block, and the design itself hides freed blocks from memory checkers. A design need not have them |
template <class A>
concept device_allocator =
    std::is_trivially_copyable_v<A> && std::constructible_from<A, const arena&> &&
    requires(const A allocator, std::uint64_t bytes, void* block) {
      { A::name } -> std::convertible_to<const char*>;
      { A::capabilities } -> std::convertible_to<allocator_capabilities>;
      { A::metadata_bytes(bytes) } -> std::same_as<std::uint64_t>;
      { allocator.initialise() } -> std::same_as<void>;
      { allocator.malloc(bytes) } -> std::same_as<void*>;
      { allocator.aligned_malloc(bytes, bytes) } -> std::same_as<void*>;
      { allocator.free(block) } -> std::same_as<void>;
    } &&
    // A capability is a promise of the member that goes with it.
    (!A::capabilities.grow || requires(const A allocator, std::uint64_t bytes) {
      { allocator.grow(bytes) } -> std::same_as<void>;
    }) && (!A::capabilities.relocate || (A::capabilities.grow && requires(const A allocator, const arena& place) {
      { allocator.relocate(place, place) } -> std::same_as<void>;
    })) && (!A::capabilities.knows_size || requires(const A allocator, const void* block) {
      { allocator.usable_size(block) } -> std::same_as<std::uint64_t>;
    }) && (A::capabilities.trim_bytes == 0 || requires(const A allocator, std::uint64_t* units) {
      { allocator.trim_begin() } -> std::same_as<std::uint64_t>;
      { allocator.coalesce() } -> std::same_as<void>;
      { allocator.withdraw(units) } -> std::same_as<void>;
      { allocator.restore(units) } -> std::same_as<void>;
    }) && (!A::capabilities.counts_live || requires(const A allocator, allocator_counts& counts) {
      { allocator.count(counts) } -> std::same_as<void>;
    });

/// A design with figures of its own, beyond those that each heap tells.
template <class A>
concept reports_statistics = device_allocator<A> && requires(const A allocator) { allocator.statistics(); };

/// A design that says below which size a heap would serve nothing.
template <class A>
concept names_least_heap = device_allocator<A> && requires(const A allocator) {
  { allocator.least_bytes() } -> std::same_as<std::uint64_t>;
};

/// A design that knows its blocks from other memory, which `checked` stands on.
template <class A>
concept locates_blocks =
    device_allocator<A> && A::capabilities.knows_size && requires(const A allocator, const void* pointer) {
      { allocator.locate(pointer) } -> std::same_as<block_location>;
    };

/// A design that finds faults of those who use it, and keeps the first for the host.
template <class A>
concept records_faults = device_allocator<A> && requires(const A allocator) {
  { allocator.first_fault() } -> std::same_as<std::optional<memory_fault>>;
  { allocator.clear_fault() } -> std::same_as<void>;
};

}  // namespace warpheap
