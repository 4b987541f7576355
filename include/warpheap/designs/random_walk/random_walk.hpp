// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocator/device.hpp>
#include <warpheap/designs/random_walk/detail/line_word.hpp>
#include <warpheap/designs/random_walk/detail/runs.hpp>
#include <warpheap/designs/random_walk/statistics.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>

namespace warpheap {

/// The baseline without structure: pages of 16 bytes with bitmap words, and a request that looks at words at random
/// places until it finds free pages.
///
/// No list, tree, queue, slab or size class exists, so this is what such a structure must be better than. A line of 32
/// pages has one word, and a block is a run of pages of it that one atomic operation takes and one gives back. Larger
/// blocks are runs of lines. A request that found nothing in a few random places reads all words, together with the
/// other such lanes of its warp.
///
/// Glossary
///   page      16 bytes
///   line      32 pages, with a word that says which are taken and where blocks begin
///   row       as many neighbouring lines as a group has lanes, one for each
///   run       several lines of one block
///   sweep     a search of all lines
///   return    a free whose pages can be found, counted
///
/// Call tree, downwards only; the file of a part has its name
///   malloc                                                          malloc.hpp
///   |- probing: take       up to 512 bytes, lanes of a size together: a few rows at random places
///   |  '- take_in_row -> lines: take, deal
///   |- sweep: take         lanes that found none, of all sizes together: every line -> quiescence: judge
///   |  '- serve_from_row -> probing: take_in_row
///   '- runs: take          more bytes: random places, then every place, lanes together -> quiescence: judge
///      '- lines: take_run  one line after the other
///   free                                                            free.hpp
///   '- lines: give, give_run -> quiescence: note_return
///
/// Null means that a sweep of a quiescent heap found no place, or that a limited number of sweeps found none while
/// other threads took and gave during each of them.
///
/// The idea is that of Pham et al., Dynamic Memory Management in Massively Parallel Systems: A Case on GPUs, ICS 2022:
/// random walks over the bitmap of equal pages, by a warp together. There all requests are of one page; here they have
/// any size up to 1 MiB. docs/design/random_walk.md explains it.
///
/// The price is fragmentation: blocks lie anywhere, so long runs of free lines get rare as the heap fills, and no part
/// of the heap stays empty that `trim` could give back.
///
/// `Stripes`: copies of the counters that the multiprocessors share; `RandomSteps`: random places that a request tries
/// before it reads all words.
template <std::uint32_t Stripes, std::uint32_t RandomSteps>
class basic_random_walk {
  using layout = detail::walk_layout<Stripes, RandomSteps>;
  using request = detail::walk_request;

 public:
  static constexpr const char* name = "random_walk";
  static constexpr allocator_capabilities capabilities{.individual_free = true,
                                                       .knows_size = true,
                                                       .reset = true,
                                                       .grow = true,
                                                       .relocate = true,
                                                       .host_copy = true,
                                                       .counts_live = true,
                                                       .uses_arena = true,
                                                       .stack_bytes = 2048,
                                                       .largest_bytes = request::largest_bytes};

  WARPHEAP_FN static constexpr std::uint64_t metadata_bytes(std::uint64_t bytes) {
    return layout::metadata_bytes(bytes);
  }

  WARPHEAP_FN explicit basic_random_walk(const arena& from) : runs_(from) {}

  /// Bytes of an arena from which on there is room for a block: a line.
  WARPHEAP_FN std::uint64_t least_bytes() const { return line_word::line_bytes; }
  WARPHEAP_FN void initialise() const { set_size(lines().initial_bytes()); }
  WARPHEAP_FN void grow(std::uint64_t bytes) const { set_size(bytes); }
#if WARPHEAP_COMPILES_HOST
  void relocate(const arena& from, const arena& to) const;
  random_walk_statistics statistics() const;
#endif

  WARPHEAP_FN void* malloc(std::uint64_t bytes) const { return aligned_malloc(line_word::page_bytes, bytes); }
  WARPHEAP_FN void* aligned_malloc(std::uint64_t alignment, std::uint64_t bytes) const;
  WARPHEAP_FN void free(void* block) const;
  WARPHEAP_FN std::uint64_t usable_size(const void* block) const;
  WARPHEAP_FN void count(allocator_counts& counts) const;
  WARPHEAP_FN void tally(random_walk_statistics& sums) const;
  WARPHEAP_FN block_location locate(const void* pointer) const;

 private:
  // The parts. The lower ones are members of the upper ones.
  WARPHEAP_FN const detail::walk_runs<layout>& runs() const { return runs_; }
  WARPHEAP_FN const detail::walk_sweep<layout>& sweep() const { return runs_.sweep(); }
  WARPHEAP_FN const detail::walk_probing<layout>& probing() const { return sweep().probing(); }
  WARPHEAP_FN const detail::walk_lines<layout>& lines() const { return runs_.lines(); }

  // malloc.hpp
  WARPHEAP_FN void* take_within_line(std::uint32_t pages) const;

  // free.hpp
  WARPHEAP_COLD_FN void free_run(std::uint32_t first) const;

  // handle.hpp
  WARPHEAP_FN void set_size(std::uint64_t bytes) const;

  detail::walk_runs<layout> runs_;
};

/// The design as the registry lists it.
using random_walk = basic_random_walk<4, 16>;

static_assert(device_allocator<random_walk>);

}  // namespace warpheap

#include <warpheap/designs/random_walk/detail/free.hpp>
#include <warpheap/designs/random_walk/detail/handle.hpp>
#include <warpheap/designs/random_walk/detail/malloc.hpp>
#if WARPHEAP_COMPILES_HOST
#include <warpheap/designs/random_walk/detail/host.hpp>
#endif
