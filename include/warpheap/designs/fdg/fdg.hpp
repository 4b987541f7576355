// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocator/device.hpp>
#include <warpheap/designs/fdg/detail/arenas.hpp>
#include <warpheap/designs/fdg/detail/common.hpp>
#include <warpheap/designs/fdg/options.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>

namespace warpheap {

/// FDGMalloc (Widmer, Wodniok, Weber & Goesele, Fast dynamic memory allocator for massively parallel architectures,
/// GPGPU-6, 2013): each warp has a heap of its own, and gives back all that it took at once.
///
/// A warp opens an arena, takes blocks of it, and releases it (`open_arena`, `warp_arena`). The requests of its lanes
/// are laid side by side by a prefix sum, in the warp's current superblock. A request above a superblock gets pages of
/// its own. No single block goes back: `free` does nothing.
///
/// Glossary
///   page        8 KiB; a superblock is one, a large block a power of two of them
///   granule     16 bytes; blocks are whole granules
///   arena       superblocks and large blocks that go back together
///   header      what is known of an arena: its current superblock and the list of its pages
///   in common   of arenas: those that a plain malloc takes blocks of, by the number of its warp
///
/// Call tree, downwards only; the file of a part has its name
///   warp_arena: malloc                                       warp_arena.hpp
///   |- arenas: take         up to a superblock, lanes together -> seek -> page_source, push_stack
///   '- arenas: take_pages   more: lanes of an order together   -> page_source, push_stack
///   warp_arena: release     arenas: release -> push_stack: walk -> page_source
///   open_arena              arenas: open
///   malloc                                                   handle.hpp
///   |- common: take         arenas: take, in the warp's arena in common
///   |  '- search            then in the other arenas in common
///   '- common: take_pages   arenas: take_pages
///
/// A malloc without an arena works all the same: its blocks belong to an arena in common and go back by a reset alone.
/// Null of it means that at one moment of the call no page was free and no arena in common had room, or that four
/// searches found neither while other warps released pages during each. Null of an arena's malloc means that no page
/// was free and the arena's own superblock had too little room: what other arenas have left is theirs.
///
/// What differs from the original, and why: docs/design/fdg.md.
template <fdg_options Options = fdg_options{}>
class basic_fdg {
  using layout = detail::fdg_layout<Options>;

 public:
  class warp_arena;

  static constexpr const char* name = "fdg";
  static constexpr allocator_capabilities capabilities{.reset = true,
                                                       .grow = true,
                                                       .relocate = true,
                                                       .host_copy = true,
                                                       .counts_live = true,
                                                       .uses_arena = true,
                                                       .release_by_warp = true,
                                                       .stack_bytes = 2304};

  WARPHEAP_FN static constexpr std::uint64_t metadata_bytes(std::uint64_t bytes) {
    return layout::metadata_bytes(bytes);
  }

  WARPHEAP_FN explicit basic_fdg(const arena& from) : common_(from), initial_bytes_(from.bytes) {}

  /// Bytes of an arena from which on there is room for a block: a superblock.
  WARPHEAP_FN std::uint64_t least_bytes() const { return layout::page_bytes; }
  WARPHEAP_FN void initialise() const;
  WARPHEAP_FN void grow(std::uint64_t bytes) const;
#if WARPHEAP_COMPILES_HOST
  void relocate(const arena& from, const arena& to) const;
#endif

  WARPHEAP_FN void* malloc(std::uint64_t bytes) const;
  WARPHEAP_FN void* aligned_malloc(std::uint64_t alignment, std::uint64_t bytes) const;
  WARPHEAP_FN void free(void*) const {}
  WARPHEAP_FN void count(allocator_counts& counts) const;

  WARPHEAP_FN warp_arena open_arena(lane_mask group) const;

 private:
  WARPHEAP_FN const detail::fdg_arenas<layout>& arenas() const { return common_.arenas(); }
  WARPHEAP_FN const detail::fdg_pages<layout>& pages() const { return arenas().pages(); }
  WARPHEAP_FN void set_size(std::uint64_t bytes) const;

  detail::fdg_common<layout> common_;
  std::uint64_t initial_bytes_;
};

/// FDGMalloc with the constants of its authors.
using fdg = basic_fdg<>;

}  // namespace warpheap

#include <warpheap/designs/fdg/detail/handle.hpp>
#include <warpheap/designs/fdg/detail/warp_arena.hpp>
#if WARPHEAP_COMPILES_HOST
#include <warpheap/designs/fdg/detail/host.hpp>
#endif

namespace warpheap {
static_assert(device_allocator<fdg>);
}  // namespace warpheap
