// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocator/arena.hpp>
#include <warpheap/allocator/block_location.hpp>
#include <warpheap/allocator/capabilities.hpp>
#include <warpheap/allocator/fault.hpp>
#include <warpheap/allocator/typed_objects.hpp>
#include <warpheap/platform/device.hpp>

namespace warpheap {

namespace detail {

// A type without fields, by which the concept asks for a template.
struct no_object {
  using fields = soa_fields<>;
};

#if WARPHEAP_COMPILES_HOST
// The members for the host.
template <class A>
concept serves_host =
    std::constructible_from<A, const arena&> &&
    (!A::capabilities.relocate || requires(const A allocator, const arena& place) {
      { allocator.relocate(place, place) } -> std::same_as<void>;
    }) && (A::capabilities.trim_bytes == 0 || requires(const A allocator) {
      { allocator.trim_begin() } -> std::same_as<std::uint64_t>;
    }) && (!A::capabilities.typed_objects || requires { typename A::template typed_heap<no_object>; });
#else
template <class A>
concept serves_host = true;
#endif

}  // namespace detail

/// A design of a device heap, as `heap<A>` uses it.
///
/// `A` is the trivially copyable handle that travels into kernels: pointers, and figures that are fixed for the heap's
/// life. What changes lies in the metadata of the arena. Except where a capability says otherwise, each device member
/// may be called by any subset of the lanes of a warp, converged or not. A device member that "each thread calls" is
/// called once by each thread of some grid, and no thread waits for another block.
///
/// Every design has
///
/// `A::name`: its name in the registry; lower case, digits, underscores.
///
/// `A::capabilities`: an `allocator_capabilities`, what the design promises.
///
/// `A::metadata_bytes(bytes)`, host and device: bytes of metadata for an arena of `bytes` bytes. It never falls as
/// `bytes` grows. A design that promises `grow` leaves what it keeps for a smaller arena where it is when the arena
/// grows.
///
/// `A{arena}`, host: makes the handle. It touches no device memory.
///
/// `a.initialise()`, device, each thread calls: makes an empty heap. The metadata was zeroed before.
///
/// `a.malloc(bytes)`, device: a block of at least `bytes` bytes, which are at least 1, or null. The block is aligned to
/// `capabilities.alignment` and overlaps no other live block. A failed call takes nothing, and restores each count; it
/// may note the refusal, and may have gathered free memory for later calls.
///
/// `a.aligned_malloc(alignment, bytes)`, device: such a block, or null, that is aligned to `alignment` bytes, a power
/// of two up to `capabilities.largest_alignment`.
///
/// `a.free(block)`, device: makes `block` available again, which came from this heap and is not null. The caller's
/// accesses to the block happen before those of its next owner.
///
/// A capability promises the members that go with it:
///
/// `a.grow(bytes)`, device, each thread calls; `capabilities.grow`: takes the arena's new size into use. The metadata
/// that was added is zeroed.
///
/// `a.relocate(from, to)`, host; `capabilities.relocate`, which needs `capabilities.grow`: writes into the zeroed
/// metadata of `to` what makes `A{to}` the same heap there, of the size that it has. `to` is at least as large as the
/// present arena `from`, and its data lie a multiple of 64 KiB away. No kernel uses the heap. The heap copies the data
/// afterwards, and then calls `grow` if `to` is larger. The design may change how `from` keeps what is free, and
/// nothing else of it.
///
/// `a.usable_size(block)`, device; `capabilities.knows_size`: bytes of `block` that its owner may use.
///
/// `a.count(counts)`, device, each thread calls; `capabilities.counts_live`: adds what the thread finds to `counts`.
/// Other kernels may use the heap meanwhile: it then reads no memory but the heap's and ends all the same, and the sum
/// may be off, modulo 2^64, by less than 2^62.
///
/// `A::typed_heap<T...>`, host; `capabilities.typed_objects`: a heap of objects of the types `T...`, in the terms of
/// <warpheap/allocator/typed_objects.hpp>. `soa_heap` of the design `dynasoar` tells its members.
///
/// `a.open_arena(group)`, device, collective over `group`; `capabilities.release_by_warp`: an `A::warp_arena`, a
/// trivially copyable handle that each lane of `group` gets, of an arena that has no blocks yet. A handle that converts
/// to false has no arena: the heap had no room for one. Members of the handle `arena`, for any threads that have it:
///
/// `arena.malloc(bytes)`, device: as `a.malloc`, a block that belongs to the arena. It is null if the arena needs more
/// memory and the heap has none; and without an arena. `a.free` does not take such a block.
///
/// `arena.release(group)`, device, collective over `group`: all blocks of the arena are available again, and the arena
/// is no more. No thread uses a block or a handle of it any longer, and the caller has seen to it that what those
/// threads did happens before. What `group` did to blocks happens before what their next owners do.
///
/// With `capabilities.trim_bytes` the host takes *units* of so many bytes out of the heap while no kernel uses it:
///
/// `a.trim_begin()`, host: bytes of the arena before the first unit; the others follow side by side.
///
/// `a.coalesce()`, device, each thread of one block calls, once a launch: makes whole units of what is free, as far as
/// it can be. With a static member `A::coalesces_in_parallel` that is true, all threads of one grid may call instead.
///
/// `a.withdraw(units)`, device, each thread calls: takes all units that are free out of the heap, and sets their bits
/// in `units`, one for each unit of the arena.
///
/// `a.restore(units)`, device, each thread calls: puts back the units whose bits are set.
///
/// A design may also have
///
/// `a.least_bytes()`, host: bytes of an arena with the same beginning from which on it has room for a block. A heap of
/// less is refused.
///
/// `a.statistics()`, host: figures of the design's own, of any type. Exact while no kernel uses the heap; otherwise
/// they need not agree with each other.
///
/// `a.locate(pointer)`, device: a `block_location`, what `pointer` means to the heap, whatever it is. It reads metadata
/// and never what `pointer` points to. Exact as long as no thread takes or frees the block there meanwhile.
///
/// `a.first_fault()` and `a.clear_fault()`, host: the first fault of its users that the design found, if it found one,
/// and the end of it. `free` then takes any pointer but null, `usable_size` is 0 for what is no live block, and the
/// design itself hides freed blocks from memory checkers.
///
/// Members for the host are asked for where host code is compiled (`WARPHEAP_COMPILES_HOST`).
template <class A>
concept device_allocator =
    std::is_trivially_copyable_v<A> &&
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
    (!A::capabilities.grow ||
     requires(const A allocator, std::uint64_t bytes) {
       { allocator.grow(bytes) } -> std::same_as<void>;
     }) &&
    (!A::capabilities.relocate || A::capabilities.grow) &&
    (!A::capabilities.knows_size || requires(const A allocator, const void* block) {
      { allocator.usable_size(block) } -> std::same_as<std::uint64_t>;
    }) && (A::capabilities.trim_bytes == 0 || requires(const A allocator, std::uint64_t* units) {
      { allocator.coalesce() } -> std::same_as<void>;
      { allocator.withdraw(units) } -> std::same_as<void>;
      { allocator.restore(units) } -> std::same_as<void>;
    }) && (!A::capabilities.counts_live || requires(const A allocator, allocator_counts& counts) {
      { allocator.count(counts) } -> std::same_as<void>;
    }) && (!A::capabilities.release_by_warp || requires(const A allocator, lane_mask group, std::uint64_t bytes) {
      requires std::is_trivially_copyable_v<typename A::warp_arena>;
      { allocator.open_arena(group) } -> std::same_as<typename A::warp_arena>;
      { allocator.open_arena(group).malloc(bytes) } -> std::same_as<void*>;
      { allocator.open_arena(group).release(group) } -> std::same_as<void>;
      static_cast<bool>(allocator.open_arena(group));
    }) && detail::serves_host<A>;

/// True for a design whose `coalesce` a whole grid may call.
template <class A>
inline constexpr bool coalesces_in_parallel = false;
template <class A>
  requires requires { A::coalesces_in_parallel; }
inline constexpr bool coalesces_in_parallel<A> = A::coalesces_in_parallel;

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

/// A design that finds faults of its users, and keeps the first for the host.
template <class A>
concept records_faults = device_allocator<A> && requires(const A allocator) {
  { allocator.first_fault() } -> std::same_as<std::optional<memory_fault>>;
  { allocator.clear_fault() } -> std::same_as<void>;
};

}  // namespace warpheap
