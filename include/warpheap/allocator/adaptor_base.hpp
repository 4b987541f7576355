// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocator/concept.hpp>
#include <warpheap/platform/device.hpp>

namespace warpheap {

namespace detail {

struct no_warp_arena {};
template <class A>
struct find_warp_arena {
  using type = no_warp_arena;
};
template <class A>
  requires(A::capabilities.release_by_warp)
struct find_warp_arena<A> {
  using type = typename A::warp_arena;
};
template <class A>
using warp_arena_of = typename find_warp_arena<A>::type;

}  // namespace detail

/// Base of the adaptors of a design: it is the design `A`, and forwards each member of the concept to it.
///
/// An adaptor derives from `adaptor_base<A, Promised>` and declares the members that it changes; what it does not
/// declare goes to `A` as it came. So adaptors stand on each other in any order, and a member that joins the concept is
/// forwarded here, once, for all of them. An adaptor that must not offer an optional member of `A` deletes it.
///
/// `Promised` are the capabilities of the adaptor. They withdraw promises of `A` and add none; others do not compile. A
/// member whose promise is withdrawn is not there.
template <device_allocator A, allocator_capabilities Promised = A::capabilities>
  requires(Promised.promise_no_more_than(A::capabilities))
class adaptor_base {
 public:
  /// The name of `A`.
  static constexpr const char* name = A::name;
  /// What the adaptor promises.
  static constexpr allocator_capabilities capabilities = Promised;
  /// True if a whole grid may call `coalesce`.
  static constexpr bool coalesces_in_parallel = warpheap::coalesces_in_parallel<A>;

  /// Bytes of metadata of `A` for an arena of `bytes` bytes.
  WARPHEAP_FN static constexpr std::uint64_t metadata_bytes(std::uint64_t bytes) { return A::metadata_bytes(bytes); }

#if WARPHEAP_COMPILES_HOST
  /// Makes the handle of `A` for the arena `from`.
  explicit adaptor_base(const arena& from) : inner_(from) {}

  /// Makes the heap at `to` the one at `from`.
  void relocate(const arena& from, const arena& to) const
    requires(Promised.relocate)
  {
    inner_.relocate(from, to);
  }
  /// Bytes of the arena before its first unit of `Promised.trim_bytes` bytes.
  std::uint64_t trim_begin() const
    requires(Promised.trim_bytes != 0)
  {
    return inner_.trim_begin();
  }
  /// Bytes of an arena from which on `A` has room for a block.
  std::uint64_t least_bytes() const
    requires(names_least_heap<A>)
  {
    return inner_.least_bytes();
  }
  /// Figures of `A` itself.
  auto statistics() const
    requires(reports_statistics<A>)
  {
    return inner_.statistics();
  }
  /// The first fault of its users that `A` found; nothing if it found none.
  std::optional<memory_fault> first_fault() const
    requires(records_faults<A>)
  {
    return inner_.first_fault();
  }
  /// Makes `A` forget its first fault.
  void clear_fault() const
    requires(records_faults<A>)
  {
    inner_.clear_fault();
  }
#endif

  /// Makes an empty heap.
  WARPHEAP_FN void initialise() const { inner_.initialise(); }
  /// A block of at least `bytes` bytes, or null.
  WARPHEAP_FN void* malloc(std::uint64_t bytes) const { return inner_.malloc(bytes); }
  /// A block of at least `bytes` bytes that is aligned to `alignment` bytes, or null.
  WARPHEAP_FN void* aligned_malloc(std::uint64_t alignment, std::uint64_t bytes) const {
    return inner_.aligned_malloc(alignment, bytes);
  }
  /// Makes `block` available again.
  WARPHEAP_FN void free(void* block) const { inner_.free(block); }

  /// Takes the arena's new size of `bytes` bytes into use.
  WARPHEAP_FN void grow(std::uint64_t bytes) const
    requires(Promised.grow)
  {
    inner_.grow(bytes);
  }
  /// Bytes of `block` that its owner may use.
  WARPHEAP_FN std::uint64_t usable_size(const void* block) const
    requires(Promised.knows_size)
  {
    return inner_.usable_size(block);
  }
  /// Adds what the thread finds to `counts`.
  WARPHEAP_FN void count(allocator_counts& counts) const
    requires(Promised.counts_live)
  {
    inner_.count(counts);
  }

  /// Handle of an arena of `A`; empty without the promise.
  using warp_arena = detail::warp_arena_of<A>;
  /// An arena for the lanes of `group`.
  WARPHEAP_FN warp_arena open_arena(lane_mask group) const
    requires(Promised.release_by_warp)
  {
    return inner_.open_arena(group);
  }

  /// Makes whole units of what is free.
  WARPHEAP_FN void coalesce() const
    requires(Promised.trim_bytes != 0)
  {
    inner_.coalesce();
  }
  /// Takes all free units out of the heap, and sets their bits in `units`.
  WARPHEAP_FN void withdraw(std::uint64_t* units) const
    requires(Promised.trim_bytes != 0)
  {
    inner_.withdraw(units);
  }
  /// Puts back the units whose bits are set in `units`.
  WARPHEAP_FN void restore(const std::uint64_t* units) const
    requires(Promised.trim_bytes != 0)
  {
    inner_.restore(units);
  }

  /// What `pointer` means to `A`.
  WARPHEAP_FN block_location locate(const void* pointer) const
    requires(locates_blocks<A>)
  {
    return inner_.locate(pointer);
  }

 protected:
  A inner_;  ///< the design
};

}  // namespace warpheap
