// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocator/device.hpp>
#include <warpheap/platform/device.hpp>

namespace warpheap {

/// The baseline: an offset that only rises. A group of lanes that ask together moves it once.
///
/// It cannot take back single blocks: `free` does nothing and `reset` takes back all. Requests are rounded up to 16
/// bytes. Exhaustion is exact: a request is refused only if it does not fit after the blocks that were granted.
/// Survey: "Atomic" of Winter et al., Are Dynamic Memory Managers on GPUs Slow?, PPoPP 2021, with a 64-bit offset, null
/// when full, and aggregation.
class bump {
 public:
  static constexpr const char* name = "bump";
  static constexpr allocator_capabilities capabilities{
      .reset = true, .grow = true, .relocate = true, .host_copy = true, .counts_live = true, .uses_arena = true};

  WARPHEAP_FN static constexpr std::uint64_t metadata_bytes(std::uint64_t) { return sizeof(control); }

  WARPHEAP_FN explicit bump(const arena& from)
      : data_(from.data), control_(reinterpret_cast<control*>(from.metadata)), initial_bytes_(from.bytes) {}

  /// Bytes of an arena from which on there is room for a block.
  WARPHEAP_FN std::uint64_t least_bytes() const { return granule; }
  WARPHEAP_FN void initialise() const { set_limit(initial_bytes_); }
  WARPHEAP_FN void grow(std::uint64_t bytes) const { set_limit(bytes); }
#if WARPHEAP_COMPILES_HOST
  void relocate(const arena& from, const arena& to) const;
#endif

  WARPHEAP_FN void* malloc(std::uint64_t bytes) const;
  WARPHEAP_FN void* aligned_malloc(std::uint64_t alignment, std::uint64_t bytes) const;
  WARPHEAP_FN void free(void*) const {}
  WARPHEAP_FN void count(allocator_counts& counts) const;

 private:
  static constexpr std::uint64_t granule = capabilities.alignment;
  static constexpr std::uint64_t none = unlimited;

  // `offset` rises with every grant while `limit` stands still in a launch; each has a line of the cache of its own.
  //
  // Invariant: if offset <= limit, the granted blocks lie in [0, offset) and fill it. If offset > limit, exactly one
  // thread, the one whose add crossed the limit, owes a store that puts back the value that it found, up to which the
  // granted blocks reach; until then nothing is granted. Adds that come in between are wiped out by that store, so no
  // add is ever taken back by a subtraction, which could pull a later grant back with it.
  struct control {
    alignas(128) std::uint64_t offset;
    alignas(128) std::uint64_t limit;
  };

  // How an add to the offset went: granted; refused, because it would have crossed the limit; or in vain, because the
  // offset was above the limit when it came.
  enum class attempt { granted, refused, closed };

  WARPHEAP_FN void set_limit(std::uint64_t bytes) const;
  WARPHEAP_FN attempt try_reserve(std::uint64_t bytes, std::uint64_t& start) const;
  WARPHEAP_FN std::uint64_t reserve(lane_mask group, std::uint64_t bytes) const;

  std::byte* data_;
  control* control_;
  std::uint64_t initial_bytes_;
};

static_assert(device_allocator<bump>);

}  // namespace warpheap

#include <warpheap/designs/bump/detail/bump.hpp>
#if WARPHEAP_COMPILES_HOST
#include <warpheap/designs/bump/detail/host.hpp>
#endif
