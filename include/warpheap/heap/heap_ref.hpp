// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocator/device.hpp>
#include <warpheap/platform/device.hpp>

namespace warpheap {

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

  /// A block of `count` times `bytes` zero bytes, written by the caller; null when the heap cannot serve it.
  WARPHEAP_FN void* calloc(std::uint64_t count, std::uint64_t bytes) const;

  /// Gives `block` back; null is ignored. Any thread of any later or running kernel may do so, once for each block.
  /// The caller's accesses to the block happen before those of its next owner. Does nothing if the design has no
  /// `individual_free`.
  WARPHEAP_ENTRY_FN void free(void* block) const;

  /// Moves `block` to one of at least `bytes` bytes with the same contents, as far as they fit, or leaves it where it
  /// is. Null when the heap cannot serve it: `block` is then as before. A null `block` is a `malloc`.
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

 private:
  // Blocks can be hidden from a memory checker if nothing but their owners has business with them.
  static constexpr bool hides_blocks = A::capabilities.owners_alone_use_arena();
  // A design that looks for faults may be given what is no block, so it hides freed blocks itself.
  static constexpr bool hides_freed = hides_blocks && A::capabilities.knows_size && !records_faults<A>;

  A allocator_;
};

}  // namespace warpheap

#include <warpheap/heap/detail/heap_ref.hpp>
