// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/heap/detail/bytes.hpp>
#include <warpheap/heap/heap_ref.hpp>

namespace warpheap {
namespace detail {

// A block that goes back to its heap if an exception leaves the scope.
template <class A>
struct owned_block {
  const heap_ref<A>& heap;
  void* block;

  WARPHEAP_FN ~owned_block() { heap.free(block); }
};

}  // namespace detail

template <device_allocator A>
WARPHEAP_ENTRY_FN void* heap_ref<A>::malloc(std::uint64_t bytes) const {
  if (bytes == 0) bytes = 1;
  void* const block = allocator_.malloc(bytes);
  if constexpr (hides_blocks) {
    if (block != nullptr) shadow_unpoison(block, bytes);
  }
  return block;
}

template <device_allocator A>
WARPHEAP_ENTRY_FN void* heap_ref<A>::aligned_malloc(std::uint64_t alignment, std::uint64_t bytes) const {
  if (!is_power_of_two(alignment) || alignment > capabilities.largest_alignment) return nullptr;
  if (bytes == 0) bytes = 1;
  void* const block = allocator_.aligned_malloc(alignment, bytes);
  if constexpr (hides_blocks) {
    if (block != nullptr) shadow_unpoison(block, bytes);
  }
  return block;
}

template <device_allocator A>
WARPHEAP_FN void* heap_ref<A>::calloc(std::uint64_t count, std::uint64_t bytes) const {
  if (bytes != 0 && count > unlimited / bytes) return nullptr;
  void* const block = malloc(count * bytes);
  if (block != nullptr) detail::zero_bytes(block, count * bytes);
  return block;
}

template <device_allocator A>
WARPHEAP_ENTRY_FN void heap_ref<A>::free(void* block) const {
  if (block == nullptr) return;
  if constexpr (hides_freed) shadow_poison(block, allocator_.usable_size(block));
  allocator_.free(block);
}

template <device_allocator A>
WARPHEAP_FN void* heap_ref<A>::realloc(void* block, std::uint64_t bytes) const
  requires(A::capabilities.knows_size)
{
  if (block == nullptr) return malloc(bytes);
  const std::uint64_t usable = allocator_.usable_size(block);
  // Stay if it fits and does not waste more than half.
  if (bytes <= usable && bytes > usable / 2) {
    if constexpr (hides_blocks) shadow_unpoison(block, bytes);
    return block;
  }
  void* const moved = malloc(bytes);
  if (moved == nullptr) {
    if (bytes > usable) return nullptr;
    if constexpr (hides_blocks) shadow_unpoison(block, bytes);
    return block;
  }
  if constexpr (hides_blocks) shadow_unpoison(block, usable);
  detail::copy_bytes(moved, block, bytes < usable ? bytes : usable);
  free(block);
  return moved;
}

template <device_allocator A>
WARPHEAP_FN std::uint64_t heap_ref<A>::usable_size(const void* block) const
  requires(A::capabilities.knows_size)
{
  const std::uint64_t usable = allocator_.usable_size(block);
  if constexpr (hides_blocks) shadow_unpoison(const_cast<void*>(block), usable);
  return usable;
}

template <device_allocator A>
template <class T, class... Arguments>
WARPHEAP_FN T* heap_ref<A>::create(Arguments&&... arguments) const {
  void* block = nullptr;
  if constexpr (alignof(T) <= A::capabilities.alignment) {
    block = malloc(sizeof(T));
  } else {
    static_assert(alignof(T) <= A::capabilities.largest_alignment, "create: the design cannot align blocks for T");
    block = aligned_malloc(alignof(T), sizeof(T));
  }
  if (block == nullptr) return nullptr;
  // Kernels of a GPU throw nothing, so there the guard would only cost.
  if constexpr (this_backend == backend::cuda || std::is_nothrow_constructible_v<T, Arguments...>) {
    return ::new (block) T(std::forward<Arguments>(arguments)...);
  } else {
    detail::owned_block<A> owned{*this, block};
    T* const made = ::new (block) T(std::forward<Arguments>(arguments)...);
    owned.block = nullptr;
    return made;
  }
}

template <device_allocator A>
template <class T>
WARPHEAP_FN void heap_ref<A>::destroy(T* object) const {
  if (object == nullptr) return;
  object->~T();
  free(object);
}

}  // namespace warpheap
