// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <allocator/reference.hpp>
#include <cstdint>
#include <optional>
#include <warpheap/heap.hpp>

/// Programs that use a checked heap wrongly, by one thread of a grid, and what the heap is expected to say of it.
namespace warpheap::test {

constexpr checked_options four_in_quarantine{.quarantine = 4};
constexpr checked_options one_in_quarantine{.quarantine = 1};

/// Changes one byte that the caller has no right to, and hides that from memory checkers: `checked` is to find it.
WARPHEAP_FN inline void scribble(void* block, std::uint64_t at) {
  std::byte* const byte = static_cast<std::byte*>(block) + at;
  shadow_unpoison(byte, 1);
  *byte = static_cast<std::byte>(~static_cast<unsigned>(*byte));
}

/// The thread that errs, in a grid where no other does anything.
inline constexpr grid_shape erring_grid{3, 64};
inline constexpr std::uint64_t erring_block = 2;
inline constexpr std::uint32_t erring_thread = 37;

/// Runs `error(heap)` in that thread and keeps the pointer that it returns.
template <class Error>
struct erring_kernel {
  Error error;

  template <class A>
  WARPHEAP_FN void operator()(heap_ref<A> heap, void** pointer) const {
    if (block_index() == erring_block && thread_index() == erring_thread) *pointer = error(heap);
  }
};

/// Runs `error(heap)` in the thread that errs, and returns the pointer that it returned.
template <class A, class Error>
void* err(const heap<A>& on, Error error) {
  const device_array<void*> pointer(1);
  launch(erring_grid, erring_kernel<Error>{error}, on.ref(), pointer.data());
  return pointer.at(0);
}

/// Expects the fault of the thread that errs.
template <class A>
void expect_fault(const heap<A>& in, fault_kind kind, const void* pointer, std::uint64_t bytes) {
  const std::optional<memory_fault> fault = in.first_fault();
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->kind, kind) << describe(*fault);
  EXPECT_EQ(fault->pointer, pointer);
  EXPECT_EQ(fault->bytes, bytes);
  EXPECT_EQ(fault->block_index, erring_block);
  EXPECT_EQ(fault->thread_index, erring_thread);
}

template <class A>
void expect_no_fault(const heap<A>& in) {
  const std::optional<memory_fault> fault = in.first_fault();
  EXPECT_FALSE(fault.has_value()) << describe(*fault);
}

/// Takes a block and returns it.
struct takes {
  std::uint64_t bytes;

  template <class A>
  WARPHEAP_FN void* operator()(const heap_ref<A>& heap) const {
    return heap.malloc(bytes);
  }
};
/// Frees a pointer and returns it.
struct frees {
  void* pointer;

  template <class A>
  WARPHEAP_FN void* operator()(const heap_ref<A>& heap) const {
    heap.free(pointer);
    return pointer;
  }
};
/// Takes and frees so many blocks of another size than those under test, which drives others out of the quarantine.
struct frees_others {
  int count;

  template <class A>
  WARPHEAP_FN void* operator()(const heap_ref<A>& heap) const {
    for (int i = 0; i < count; ++i) heap.free(heap.malloc(400));
    return nullptr;
  }
};
/// Changes a byte.
struct scribbles {
  void* block;
  std::uint64_t at;

  template <class A>
  WARPHEAP_FN void* operator()(const heap_ref<A>&) const {
    scribble(block, at);
    return block;
  }
};

/// Expects that the whole heap can be had as one block: nothing is live, and nothing was lost.
template <class A>
void expect_whole(const heap<A>& of) {
  const std::uint64_t all = of.size() - 16;
  void* const block = err(of, takes{all});
  EXPECT_NE(block, nullptr) << "the heap is not whole";
  err(of, frees{block});
}

}  // namespace warpheap::test
