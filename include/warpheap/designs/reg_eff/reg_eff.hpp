// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocator/device.hpp>
#include <warpheap/designs/reg_eff/detail/layout.hpp>
#include <warpheap/designs/reg_eff/detail/pre_split.hpp>
#include <warpheap/designs/reg_eff/options.hpp>
#include <warpheap/designs/reg_eff/statistics.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>

namespace warpheap {

/// The allocators of Vinkler and Havran, Register Efficient Dynamic Memory Allocator for GPUs (HPG 2014, Computer
/// Graphics Forum 2015): a circular list of chunk headers.
///
/// A request walks the list from a cursor to a free chunk that is large enough, locks it, and cuts its block out of it.
/// `free` makes the chunk free by one atomic operation. No size class or group of lanes exists, so that a call takes
/// few registers. The cost of a request is the steps that it walks. Threads that begin at one cursor leap apart.
///
/// Four variants: C has one cursor and headers of a lock and a link; CF fuses the two into one word; CM and CFM have a
/// cursor for each multiprocessor, which begin in different parts of the heap.
///
/// Glossary
///   granule   32 bytes, the smallest chunk
///   chunk     some granules side by side: free, a block, or locked by a thread
///   header    a word that says so, and where the next chunk begins
///   ring      the list of headers, from the first chunk to the end and around
///   place     a granule that a request may begin at: a multiple of the request's own size
///   cursor    where requests begin to walk
///   walk      a look at each chunk in turn, to the end of the ring
///   leap      a step of a walk to a place that each thread has for itself; not in a walk that proves
///
/// Call tree, downwards only
///   malloc                            malloc.hpp
///   '- header_ring: take              walks from the cursor on, then from the first chunk on
///      '- visit                       a free chunk: lock, absorb what is free after it
///         '- carve
///   free                              free.hpp
///   '- header_ring: give              or give_and_connect
///   initialise                        handle.hpp
///   '- reg_eff_pre_split              the chunks of an empty heap; pre_split.hpp
///
/// Null means that a walk proved that at one moment of the call no place was free. A call whose walks other threads
/// disturb several times keeps them from taking until its walk is a proof or has seen a place.
///
/// What differs from the original: headers lie in a table and not before the blocks, so that merging is safe; free
/// chunks merge; requests end; blocks lie at multiples of their size, so that a heap holds as many blocks of one size
/// each time; C compares the link as well as the lock; any number of heaps. docs/design/reg_eff.md explains it.
///
/// A heap serves blocks from its first 32 GiB.
template <reg_eff_options Options>
class basic_reg_eff {
  using layout = detail::reg_eff_layout<Options>;
  using ring_type = typename layout::ring;

  // The name by the authors' letters.
  static constexpr const char* names[] = {"reg_eff_c", "reg_eff_cf", "reg_eff_cm", "reg_eff_cfm"};

 public:
  static constexpr const char* name = names[(Options.multiple ? 2 : 0) + (Options.fused ? 1 : 0)];
  static constexpr allocator_capabilities capabilities{.individual_free = true,
                                                       .knows_size = true,
                                                       .reset = true,
                                                       .grow = true,
                                                       .relocate = true,
                                                       .host_copy = true,
                                                       .counts_live = true,
                                                       .uses_arena = true,
                                                       .stack_bytes = 512,
                                                       .largest_alignment = layout::largest_alignment,
                                                       .largest_bytes = layout::largest_bytes};
  /// A request that is refused looks at each chunk of the heap. So threads that fill a heap do work by threads times
  /// chunks.
  static constexpr bool refuses_in_linear_time = true;

  WARPHEAP_FN static constexpr std::uint64_t metadata_bytes(std::uint64_t bytes) {
    return layout::metadata_bytes(bytes);
  }

  WARPHEAP_FN explicit basic_reg_eff(const arena& from)
      : data_(from.data), state_(reinterpret_cast<typename ring_type::state*>(from.metadata)), bytes_(from.bytes) {}

  /// Bytes of an arena from which on there is room for a block: a granule.
  WARPHEAP_FN std::uint64_t least_bytes() const { return layout::granule; }
  WARPHEAP_FN void initialise() const;
  WARPHEAP_FN void grow(std::uint64_t bytes) const;
#if WARPHEAP_COMPILES_HOST
  void relocate(const arena& from, const arena& to) const;
  reg_eff_statistics statistics() const;
#endif

  WARPHEAP_FN void* malloc(std::uint64_t bytes) const;
  WARPHEAP_FN void* aligned_malloc(std::uint64_t alignment, std::uint64_t bytes) const;
  WARPHEAP_FN void free(void* block) const;
  WARPHEAP_FN std::uint64_t usable_size(const void* block) const;
  WARPHEAP_FN void count(allocator_counts& counts) const;
  /// Adds what the thread finds to `sums`; each thread of the grid calls. For `statistics`.
  WARPHEAP_FN void tally(reg_eff_statistics& sums) const;
  WARPHEAP_FN block_location locate(const void* pointer) const;

  /// The list of chunks, in granules. For tests.
  WARPHEAP_FN ring_type ring() const { return ring_type{state_}; }

 private:
  WARPHEAP_FN std::uint32_t place_of(const void* block) const {
    const auto offset = static_cast<std::uint64_t>(static_cast<const std::byte*>(block) - data_);
    return static_cast<std::uint32_t>(offset / layout::granule);
  }
  WARPHEAP_FN void* block_at(std::uint32_t place) const {
    return place == ring_type::none ? nullptr : data_ + place * layout::granule;
  }

  std::byte* data_;
  typename ring_type::state* state_;
  std::uint64_t bytes_;
};

using reg_eff_c = basic_reg_eff<reg_eff_options{}>;                                   ///< one cursor, two words
using reg_eff_cf = basic_reg_eff<reg_eff_options{.fused = true}>;                     ///< one cursor, one word
using reg_eff_cm = basic_reg_eff<reg_eff_options{.multiple = true}>;                  ///< cursors, two words
using reg_eff_cfm = basic_reg_eff<reg_eff_options{.fused = true, .multiple = true}>;  ///< cursors, one word

static_assert(device_allocator<reg_eff_c> && device_allocator<reg_eff_cf>);
static_assert(device_allocator<reg_eff_cm> && device_allocator<reg_eff_cfm>);

}  // namespace warpheap

#include <warpheap/designs/reg_eff/detail/free.hpp>
#include <warpheap/designs/reg_eff/detail/handle.hpp>
#include <warpheap/designs/reg_eff/detail/malloc.hpp>
#if WARPHEAP_COMPILES_HOST
#include <warpheap/designs/reg_eff/detail/host.hpp>
#endif
