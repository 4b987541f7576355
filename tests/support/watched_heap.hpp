// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <support/findings.hpp>
#include <support/ownership.hpp>
#include <warpheap/heap.hpp>

namespace warpheap::test {

/// A `heap_ref` that checks each block as it comes and goes: alignment, overlap, usable size.
template <class A>
struct watched_heap {
  heap_ref<A> heap;
  ownership_view owners;
  finding_view log;

  WARPHEAP_FN void* malloc(std::uint64_t bytes) const {
    return watch(heap.malloc(bytes), bytes, A::capabilities.alignment);
  }
  WARPHEAP_FN void* aligned_malloc(std::uint64_t alignment, std::uint64_t bytes) const {
    return watch(heap.aligned_malloc(alignment, bytes), bytes, alignment);
  }
  WARPHEAP_FN void* calloc(std::uint64_t count, std::uint64_t bytes) const {
    return watch(heap.calloc(count, bytes), count * bytes, A::capabilities.alignment);
  }
  /// `bytes`, or as many of them as the design serves in one block.
  WARPHEAP_FN static constexpr std::uint64_t capped(std::uint64_t bytes) {
    return bytes < A::capabilities.largest_bytes ? bytes : A::capabilities.largest_bytes;
  }
  /// Checks that `block`, for which the heap has room, was served while other threads may have taken and freed. Null is
  /// no finding if the design does not promise that room is enough.
  WARPHEAP_FN void* must(void* block, std::uint64_t bytes) const {
    log.expect(block != nullptr || !A::capabilities.refuses_only_when_full, problem::refused, bytes, block);
    return block;
  }
  /// `malloc` of a block that the heap has room for.
  WARPHEAP_FN void* must_malloc(std::uint64_t bytes) const { return must(malloc(bytes), bytes); }

  /// `bytes` is what was asked for. Without individual free the block keeps its owner, as it keeps its place.
  WARPHEAP_FN void free(void* block, std::uint64_t bytes) const {
    if (block == nullptr) return;
    if constexpr (A::capabilities.individual_free) disown(block, bytes);
    heap.free(block);
  }

  /// Ends the ownership of a block whose end is to come otherwise, as by `realloc`.
  WARPHEAP_FN void disown(void* block, std::uint64_t bytes) const {
    log.expect(owners.disclaim(block, at_least_one(bytes)) == ownership_view::answer::free_before, problem::not_owned,
               bytes, block);
  }
  /// Checks and owns a block that came otherwise.
  WARPHEAP_FN void* watch(void* block, std::uint64_t bytes, std::uint64_t alignment) const {
    if (block == nullptr) return nullptr;
    const auto address = reinterpret_cast<std::uint64_t>(block);
    log.expect(address % alignment == 0 && address % A::capabilities.alignment == 0, problem::misaligned, bytes, block);
    const auto owned = owners.claim(block, at_least_one(bytes));
    log.expect(owned != ownership_view::answer::owned_before, problem::overlaps, bytes, block);
    log.expect(owned != ownership_view::answer::no_slot, problem::scattered, bytes, block);
    if constexpr (A::capabilities.knows_size) {
      log.expect(heap.usable_size(block) >= bytes, problem::small, bytes, block);
    }
    return block;
  }

 private:
  WARPHEAP_FN static constexpr std::uint64_t at_least_one(std::uint64_t bytes) { return bytes == 0 ? 1 : bytes; }
};

}  // namespace warpheap::test
