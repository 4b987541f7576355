// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocator/device.hpp>
#include <warpheap/designs/warp_slab/detail/extension.hpp>
#include <warpheap/designs/warp_slab/size_classes.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>
#include <warpheap/sync.hpp>

namespace warpheap {

struct warp_slab_statistics;  // statistics.hpp, with the host half

/// warpheap's own design: slabs of equal blocks with a bitmap word for each 32 of them, and for each warp a word of its
/// own to begin at.
///
/// A warp whose lanes ask together claims blocks of the word in its cache entry: where it found blocks of the size
/// before. Warps begin apart, so as long as there are as many words as warps, that is one atomic operation without
/// contention, whatever the size. Frees of a warp into one word are one operation, too. A warp that finds too little in
/// its cached word probes words all over the class, with the help of all lanes that called with it. Then it draws a
/// ticket: the number of a block in a slab that is not made yet, which also tells which thread makes the slab. A warp
/// that asks only for sizes that begin in its launch draws before it probes. Where there is no memory for more slabs,
/// the warp follows hints; then it takes fully free slabs back from other sizes. A size that is crowded gets slabs
/// ahead of need.
///
/// `slab_classes` tells the sizes. Larger blocks are runs of 16 KiB units, and so is a smaller one in a heap in which
/// no slab of its size can lie. docs/design/warp_slab.md explains it all.
///
/// Glossary
///   unit         a page of 16 KiB; a run is a block of whole units
///   class        the blocks of one size; a slab is a few units that are full of them
///   word         32 blocks of a slab: a bit for each free one, the class, and whether the word is shown
///   place        index of a slab in the table of its class
///   cache entry  of a warp and a class: the word where blocks were found last, and their bits
///   home         of a warp and a class: the word that the warp's number tells, tried where it has no cache entry
///   hint         says that a slab may have free blocks; a set of places leads to it
///   shown        of a word or a hint: searches are led to it; to hide it undoes that
///   change       an update of hints, counted at its begin and its end, so that a search knows what it may have missed
///   stale        of a claim: the slab is of another class by now, so the blocks go back
///   ticket       number of a block that a request drew; the holder of a slab's first ticket makes the slab
///   ledger       count of the tickets of a class; closed while the lock's holder changes the class's table
///   region       leaves of units that makers of slabs of one size share, in a large heap
///   peers        lanes that want one class of one heap; their leader claims for all
///   attempt      the work of one holder of the lock for a request: more slabs, or a refusal; numbered from 1
///   sweep        of an attempt: a look at all classes that found no fully free slab to take back
///   job          work that the lock's holder shares with groups that wait for the lock
///   contention   record of the launch in which a warp last came the cold way, and what it did there
///   generation   counter of a class that changes when waiting warps should look again
///
/// Call tree, downwards only; the file of a part has its name
///   malloc                                                          malloc.hpp
///   |- take_block              up to 64 KiB, lanes together
///   |  |- claims: claim_cached          the leader of each class
///   |  |- sharing: take_anywhere        one probe a lane -> probes: look_anywhere -> claims: claim_and_cache
///   |  |- take_elsewhere       cold                                 elsewhere.hpp
///   |  |  |- hints: put_back_of         a stale claim
///   |  |  |- take_uncached            no cache entry yet, in the launch in which a class begins
///   |  |  |  |- rounds: look_at_older       warps after the grid's first 2^18 threads -> probes, sharing: take_seen
///   |  |  |  '- tickets: take_for_one_class one class of whole words; else take
///   |  |  |- rounds: look_on            probes: look_around -> sharing: take_seen; headroom: make_room -> tickets
///   |  |  |- tickets: take              ledger: draw, entry_of; maker: make_slab_at; claims: claim_drawn
///   |  |  '- take_along_hints           in turns:
///   |  |     |- rounds: look_again      the home word, the latest slabs
///   |  |     |- search: follow_hints    walk: pass -> sharing: share, hints: hide
///   |  |     |- tickets: take
///   |  |     '- extension: extend       growth: slabs_wanted; maker: add_slabs; reclamation: reclaim -> reclaim_job,
///   |  |                                compaction; help, while it waits; search: find, exact, before a refusal
///   |  '- take_without_slab    in a heap below one slab             large.hpp
///   '- malloc_run              above 64 KiB                         large.hpp
///      '- runs: take_run_at_once, take_run_by_turns -> reclamation: reclaim
///   free                                                            free.hpp
///   |- hints: put_back         bits of one word, for all lanes -> show
///   '- store: free_run         a run
///
/// Parts, from the lowest: each has the one before it as its only member, and calls only earlier ones
///   store        units, headers, words, tables, cache entries: where each lies
///   hints        blocks that come back; slabs are shown and hidden       calls store, as all do
///   claims       blocks of one word, and the cache entry                 hints
///   probes       reads of words that are scattered over a class
///   sharing      what lanes saw becomes blocks of their group            probes, claims
///   ledger       tickets of a class, and when they count                 hints
///   compaction   slabs move to gaps of a table                           ledger, hints
///   reclaim_job  leaves that waiting groups share with the lock's holder
///   reclamation  slabs without a block in use become units               reclaim_job, compaction, hints
///   runs         blocks of whole units                                   reclamation
///   maker        units become slabs                                      hints
///   tickets      blocks of slabs that those make who ask first           maker, ledger, claims
///   growth       how many slabs a class is given
///   headroom     slabs for a class that is crowded                       growth, maker, probes
///   rounds       probes of a whole group                                 headroom, sharing, probes, claims
///   walk         one pass along the hints                                sharing, probes, hints
///   search       passes for a few slabs, or until there is proof         walk, hints
///   extension    waits for the lock; more slabs, or a refusal            search, growth, maker, reclamation
/// Those that claim blocks come before those that make and take back slabs: the lower end is what the hot part needs.
///
/// The lanes that call `malloc` of one heap together return together.
///
/// With WARPHEAP_COLD_LINKED a translation unit compiles the hot part alone (<warpheap/device_hot.hpp>). It then calls
/// five functions that the device library has: `take_elsewhere`, `take_without_slab`, `malloc_run`, `free_run_of`, and
/// `show_of` of `slab_hints`.
///
/// Blocks are aligned to 16 bytes, and those of a power of two up to 4 KiB to their size. Null means that at one moment
/// of the call no block of the class was free and no slab of it fitted; of a larger block, that no units fitted.
class warp_slab {
 public:
  static constexpr const char* name = "warp_slab";
  static constexpr bool coalesces_in_parallel = true;
  static constexpr allocator_capabilities capabilities{.individual_free = true,
                                                       .knows_size = true,
                                                       .reset = true,
                                                       .grow = true,
                                                       .relocate = true,
                                                       .host_copy = true,
                                                       .counts_live = true,
                                                       .uses_arena = true,
                                                       .trim_bytes = slab_classes::unit_bytes,
                                                       .stack_bytes = 2816};

  WARPHEAP_FN static constexpr std::uint64_t metadata_bytes(std::uint64_t bytes) {
    return warp_slab_layout::metadata_bytes(bytes);
  }

  WARPHEAP_FN explicit warp_slab(const arena& from) : extension_(from) {}

  WARPHEAP_FN void initialise() const { store().initialise(); }
  WARPHEAP_FN void grow(std::uint64_t bytes) const { store().grow(bytes); }

#if WARPHEAP_COMPILES_HOST
  void relocate(const arena& from, const arena& to) const;
  warp_slab_statistics statistics() const;
#endif

  /// The least bytes of an arena that begins where this one does and has room for a block: one whole unit.
  WARPHEAP_FN std::uint64_t least_bytes() const { return store().lead() + classes::unit_bytes; }
  WARPHEAP_FN std::uint64_t trim_begin() const { return store().lead(); }
  WARPHEAP_FN void coalesce() const;
  WARPHEAP_FN void withdraw(std::uint64_t* units) const;
  WARPHEAP_FN void restore(const std::uint64_t* units) const;

  WARPHEAP_FN void* malloc(std::uint64_t bytes) const;
  WARPHEAP_FN void* aligned_malloc(std::uint64_t alignment, std::uint64_t bytes) const;
  WARPHEAP_FN void free(void* block) const;
  WARPHEAP_FN std::uint64_t usable_size(const void* block) const;
  WARPHEAP_FN void count(allocator_counts& counts) const;
  WARPHEAP_FN void tally(warp_slab_tally& sums) const;
  WARPHEAP_COLD_FN block_location locate(const void* pointer) const;

 private:
  friend struct warp_slab_cold_part;  // src/device/cold.cu

  using layout = warp_slab_layout;
  using classes = slab_classes;
  using unit_section = layout::unit_section;
  using look_kind = detail::slab_probes::look_kind;
  using outcome = detail::slab_extension::outcome;

  // The parts. The lower ones are members of the upper ones.
  WARPHEAP_FN const detail::slab_extension& extension() const { return extension_; }
  WARPHEAP_FN const detail::slab_search& search() const { return extension_.search(); }
  WARPHEAP_FN const detail::slab_rounds& rounds() const { return extension_.rounds(); }
  WARPHEAP_FN const detail::slab_tickets& tickets() const { return extension_.growth().tickets(); }
  WARPHEAP_FN const detail::slab_runs& runs() const { return extension_.runs(); }
  WARPHEAP_FN const detail::slab_reclamation& reclamation() const { return extension_.reclamation(); }
  WARPHEAP_FN const detail::slab_sharing& sharing() const { return extension_.sharing(); }
  WARPHEAP_FN const detail::slab_claims& claims() const { return extension_.claims(); }
  WARPHEAP_FN const detail::slab_hints& hints() const { return extension_.hints(); }
  WARPHEAP_FN const detail::slab_store& store() const { return extension_.store(); }

  // malloc.hpp
  WARPHEAP_FN void* take_block(lane_mask group, classes::fit fit) const;

  // elsewhere.hpp
  WARPHEAP_COLD_FN void* take_elsewhere(lane_mask group, std::uint32_t c, slab_claim got, void* found) const;
  WARPHEAP_COLD_FN void* take_uncached(lane_mask group, std::uint32_t c, void* found) const;
  WARPHEAP_COLD_FN bool lacks_slabs(lane_mask group, std::uint32_t c, bool wants) const;
  WARPHEAP_COLD_FN void* take_along_hints(lane_mask group, std::uint32_t c, void* found) const;
  WARPHEAP_COLD_FN outcome take_or_extend(lane_mask group, std::uint32_t c, std::uint32_t turn, bool wants,
                                          void*& found) const;

  // large.hpp
  WARPHEAP_COLD_FN void* take_without_slab(std::uint32_t c) const;
  // Linked by name: std::uint64_t is `unsigned long` to nvcc and `unsigned long long` to NVRTC.
  WARPHEAP_COLD_FN void* malloc_run(unsigned long long bytes, unsigned long long alignment) const;
  WARPHEAP_COLD_FN static void free_run_of(warp_slab self, std::uint32_t unit, std::uint32_t units);

  // statistics.hpp
  template <class OfSlab, class OfRun>
  WARPHEAP_FN void visit_units(OfSlab of_slab, OfRun of_run) const;

  // locate.hpp
  WARPHEAP_COLD_FN block_location locate_in_slab(std::uint64_t offset, std::uint32_t unit, unit_owner owner) const;
  WARPHEAP_COLD_FN block_location locate_in_run(std::uint32_t unit) const;

  detail::slab_extension extension_;
};

static_assert(sizeof(warp_slab) == sizeof(detail::slab_store));  // all parts have the same bytes
static_assert(device_allocator<warp_slab>);
static_assert(locates_blocks<warp_slab>);

}  // namespace warpheap

#include <warpheap/designs/warp_slab/detail/free.hpp>
#include <warpheap/designs/warp_slab/detail/malloc.hpp>
#if !defined(WARPHEAP_COLD_LINKED)
#include <warpheap/designs/warp_slab/detail/elsewhere.hpp>
#include <warpheap/designs/warp_slab/detail/large.hpp>
#include <warpheap/designs/warp_slab/detail/locate.hpp>
#include <warpheap/designs/warp_slab/detail/statistics.hpp>
#include <warpheap/designs/warp_slab/detail/trim.hpp>
#if WARPHEAP_COMPILES_HOST
#include <warpheap/designs/warp_slab/detail/host.hpp>
#endif
#endif
