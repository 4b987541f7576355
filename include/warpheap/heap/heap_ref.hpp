// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocator/device.hpp>
#include <warpheap/platform/device.hpp>

namespace warpheap {

/// The handle of an arena of a heap, whose blocks all go back by one call. A kernel keeps it in a variable of each lane
/// and may store it for a later kernel; it is valid up to its `release`, and as long as the handle of the heap that
/// made it. `heap_ref::open_arena` makes it.
template <device_allocator A>
  requires(A::capabilities.release_by_warp)
class arena_ref {
 public:
  /// A handle of the arena that `arena` is.
  WARPHEAP_FN explicit arena_ref(const typename A::warp_arena& arena) : arena_(arena) {}

  /// True if there is an arena.
  WARPHEAP_FN explicit operator bool() const { return static_cast<bool>(arena_); }

  /// A block of at least `bytes` bytes of the arena, aligned to `A::capabilities.alignment`, any contents. Null if the
  /// arena needs more memory and the heap has none, and without an arena. A request of 0 bytes is one of 1 byte. Any
  /// threads that have the handle may call, converged or not. `heap_ref::free` must not get the block.
  WARPHEAP_ENTRY_FN void* malloc(std::uint64_t bytes) const {
    if (bytes == 0) bytes = 1;
    void* const block = arena_.malloc(bytes);
    if constexpr (A::capabilities.owners_alone_use_arena()) {
      if (block != nullptr) shadow_unpoison(block, bytes);
    }
    return block;
  }

  /// Gives all blocks of the arena back, and ends it; nothing without an arena. No thread uses the arena or a block of
  /// it any longer, and what threads outside `group` did with them happens before, as by a barrier or a launch. What
  /// `group` did with them happens before what their next owners do. Collective over `group`; once for each arena.
  WARPHEAP_ENTRY_FN void release(lane_mask group) const { arena_.release(group); }

 private:
  typename A::warp_arena arena_;
};

/// The handle by which kernels use a heap: pass it by value, keep it anywhere. It is valid as long as the `heap` that
/// made it, growth included, up to a `relocate`: then `heap::ref` gives another one. Each member may be called by any
/// threads, converged or not, in any kernel, unless the design's capabilities say otherwise. Nothing here waits for a
/// thread that has not started.
template <device_allocator A = default_allocator>
class heap_ref {
 public:
  /// What the design promises.
  static constexpr allocator_capabilities capabilities = A::capabilities;

  /// A handle of the heap that `allocator` serves. `heap::ref` makes them.
  WARPHEAP_FN explicit heap_ref(const A& allocator) : allocator_(allocator) {}

  /// A block of at least `bytes` bytes, aligned to `capabilities.alignment`, any contents; null when the heap cannot
  /// serve it. A request of 0 bytes is one of 1 byte.
  WARPHEAP_ENTRY_FN void* malloc(std::uint64_t bytes) const;

  /// A block of at least `bytes` bytes, aligned to `alignment` bytes, any contents; null when the heap cannot serve it,
  /// and if `alignment` is no power of two or above `capabilities.largest_alignment`.
  WARPHEAP_ENTRY_FN void* aligned_malloc(std::uint64_t alignment, std::uint64_t bytes) const;

  /// A block of `count` times `bytes` zero bytes, which the calling thread writes, aligned to `capabilities.alignment`;
  /// null when the heap cannot serve it, and if the product overflows 64 bits.
  WARPHEAP_FN void* calloc(std::uint64_t count, std::uint64_t bytes) const;

  /// Gives `block` back; null is ignored. Any thread of any later or running kernel may do so, once for each block.
  /// The caller's accesses to the block happen before those of its next owner. Does nothing if the design has no
  /// `individual_free`.
  WARPHEAP_ENTRY_FN void free(void* block) const;

  /// Moves `block` to one of at least `bytes` bytes with the same contents, as far as they fit, or leaves it where it
  /// is. A block that moves is aligned to `capabilities.alignment`, and no longer as `aligned_malloc` aligned it. Null
  /// when the heap cannot serve it: `block` is then as before. A null `block` is a `malloc`.
  WARPHEAP_FN void* realloc(void* block, std::uint64_t bytes) const
    requires(A::capabilities.knows_size);

  /// Bytes of `block` that its owner may use, at least those asked for.
  WARPHEAP_FN std::uint64_t usable_size(const void* block) const
    requires(A::capabilities.knows_size);

  /// A `T` made from `arguments` in a block of its own; null when the heap cannot serve it. If the constructor throws,
  /// which it can on the host backend, the block goes back and the exception to the caller.
  template <class T, class... Arguments>
  WARPHEAP_FN T* create(Arguments&&... arguments) const;

  /// Ends the life of `object` and gives its block back; null is ignored.
  template <class T>
  WARPHEAP_FN void destroy(T* object) const;

  /// An arena that the lanes of `group` share, to take blocks of and to release; converts to false if the heap had no
  /// room for one. Collective over `group`.
  WARPHEAP_FN auto open_arena(lane_mask group) const
    requires(A::capabilities.release_by_warp)
  {
    return arena_ref<A>{allocator_.open_arena(group)};
  }

 private:
  // Memory that no block covers can be hidden from a memory checker if only owners access the arena.
  static constexpr bool hides_blocks = A::capabilities.owners_alone_use_arena();
  // A design that looks for faults may be given what is no block, so it hides freed blocks itself.
  static constexpr bool hides_freed = hides_blocks && A::capabilities.knows_size && !records_faults<A>;

  A allocator_;
};

}  // namespace warpheap

#include <warpheap/heap/detail/heap_ref.hpp>
