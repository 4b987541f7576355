// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocator/device.hpp>
#include <warpheap/platform/device.hpp>

namespace warpheap {

/// The baseline without bookkeeping: a ring of bytes. A sum of all requests only rises, and its place modulo the heap
/// is where a block begins. A group of lanes that ask together moves it once.
///
/// A block lives until the sum has risen by the bytes of the heap; then its bytes are handed out again, whether the
/// block is in use or not (capability `reuses_live_memory`). `free` does nothing. Such a heap serves programs whose
/// blocks are short-lived, and shows what a malloc costs at least: one addition. Blocks that are live together are
/// distinct as long as all requests from the first one on sum up to at most a third of the heap, rounded up to 16 bytes
/// each. Null means that the request is larger than the heap.
///
/// Survey: "AtomicWrap" of Winter et al., Are Dynamic Memory Managers on GPUs Slow?, PPoPP 2021. There a thread sets
/// the offset back by a compare-and-swap; here nothing is set back and no addition fails. "Atomic" is the design
/// `bump`.
class atomic_wrap {
 public:
  static constexpr const char* name = "atomic_wrap";
  static constexpr allocator_capabilities capabilities{
      .reset = true, .host_copy = true, .uses_arena = true, .reuses_live_memory = true};

  WARPHEAP_FN static constexpr std::uint64_t metadata_bytes(std::uint64_t) { return sizeof(control); }

  WARPHEAP_FN explicit atomic_wrap(const arena& from)
      : data_(from.data),
        control_(reinterpret_cast<control*>(from.metadata)),
        bytes_(align_down(from.bytes, capabilities.alignment)) {}

  /// Bytes of an arena from which on there is room for a block.
  WARPHEAP_FN std::uint64_t least_bytes() const { return capabilities.alignment; }
  WARPHEAP_FN void initialise() const {}

  WARPHEAP_FN void* malloc(std::uint64_t bytes) const;
  WARPHEAP_FN void* aligned_malloc(std::uint64_t alignment, std::uint64_t bytes) const;
  WARPHEAP_FN void free(void*) const {}

 private:
  static constexpr std::uint64_t granule = capabilities.alignment;

  // Invariant: each addition to `sum` owns the numbers from what it found up to what it left, and no other addition
  // owns one of them; number n stands for byte n modulo the heap. A block lies within the numbers of one addition and
  // does not cross the end of the heap. So two blocks share a byte only if their numbers are a multiple of the heap
  // apart.
  //
  // The sum counts modulo 2^64: after 16 EiB of requests the ring jumps once.
  struct alignas(128) control {
    std::uint64_t sum;
  };

  WARPHEAP_FN std::uint64_t draw(std::uint64_t bytes) const;
  WARPHEAP_FN std::uint64_t draw_within(std::uint64_t bytes) const;

  std::byte* data_;
  control* control_;
  std::uint64_t bytes_;
};

static_assert(device_allocator<atomic_wrap>);

}  // namespace warpheap

#include <warpheap/designs/atomic_wrap/detail/atomic_wrap.hpp>
