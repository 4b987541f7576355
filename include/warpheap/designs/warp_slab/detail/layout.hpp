// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/warp_slab/detail/refused_run.hpp>
#include <warpheap/designs/warp_slab/detail/words.hpp>
#include <warpheap/designs/warp_slab/size_classes.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>
#include <warpheap/sync.hpp>

namespace warpheap {

// What a grid counts for `statistics`, each thread a part of it.
struct warp_slab_tally {
  std::uint64_t free_units;
  std::uint64_t large_blocks;
  std::uint64_t large_units;
  std::uint64_t slabs[slab_classes::count];
  std::uint64_t free_blocks[slab_classes::count];
};

struct warp_slab_layout {
  using classes = slab_classes;

  // What a unit is part of, and the hint of the slab that begins there.
  struct unit_header {
    std::uint32_t owner;  // unit_owner
    std::uint32_t hint;   // slab_hint
  };

  // A section: the metadata of 64 units.
  struct unit_section {
    static constexpr std::uint32_t units = word_number::section_units;
    static constexpr std::uint32_t section_cache_entries = 512;
    static constexpr std::uint32_t class_cache_entries = 64;  // at least as many as classes
    std::uint64_t free_units;                                 // leaf of the set of free units
    std::uint64_t hints[classes::count];                      // leaves of the sets of places
    std::uint32_t table[classes::count][units];               // by class and place: first unit of the slab plus 1, or 0
    alignas(16) unit_header header[units];
    std::uint64_t cache_entries[section_cache_entries];                     // slab_cache_entry, by warp and class
    std::uint32_t contention[section_cache_entries / class_cache_entries];  // slab_contention, by warp
    alignas(128) std::uint64_t word[classes::most_words][units];            // by word_number
  };

  // What all threads read of a class, and what only those who search and extend it touch, on lines of their own.
  struct class_state {
    // Probes and searches read the table below this place. Each place there has a slab while the ledger is closed and
    // no slab is being taken back. With the ledger open, some may wait for their ticket's slab, or have got none.
    alignas(128) std::uint32_t places;
    std::uint32_t newest;                   // the first place of the latest slabs that a lock holder added
    std::uint32_t slab_units;               // units of a slab, as `initialise` wrote them
    std::uint32_t slab_blocks;              // blocks of a slab, as `initialise` wrote them
    std::uint32_t began;                    // 1 + the launch in which a ticket made the first slab, or 0
    alignas(128) std::uint32_t generation;  // changes when waiting warps should look again
    std::uint64_t refused;                  // the attempt whose sweep the latest refusal rests on
    alignas(128) std::uint64_t ledger;      // slab_ledger_word: blocks that tickets were drawn for
    alignas(128) std::uint32_t settled;     // places that have a slab, or had a ticket and could not get one
    alignas(128) std::uint32_t failed;      // those without a slab, since the ledger was opened
    std::uint32_t opened_places;            // the places that there were then
    std::uint32_t grown;                    // 1 + the latest launch that made slabs ahead of need, or 0
    std::uint32_t grown_by_half;            // the same, for warps that malloc and free by turns
    std::uint32_t no_units;                 // 1 + `reclaims` when a maker found no units, or 0; the lock's holder's
    alignas(128) std::uint64_t demand;      // slab_demand
    std::uint32_t launch;                   // the launch that extended the class last; the lock's holder's
    std::uint32_t places_before_launch;     // `places` when that launch first did so; the lock's holder's
    change_counter<std::uint32_t> changes;  // hints of slabs that are about to be set, or cleared to look again
    bit_tree::levels hints;
  };

  // A job that the lock's holder shares with groups that wait for the lock: leaves of a class's set of hinted places,
  // or sections of the heap to look at.
  struct reclaim_job {
    alignas(128) std::uint64_t leaves;    // slab_job_word
    alignas(128) std::uint32_t done;      // leaves that were drawn and are done with
    std::uint32_t slabs;                  // that were taken back
    std::uint64_t whole;                  // classes that have fully free slabs, of a job that only looks
    std::uint32_t lowest;                 // place of one of them, or ~0
    alignas(128) std::uint32_t of_class;  // the holder's: what the job is
    std::uint32_t enough;                 // slabs that are wanted; ~0 where the job only looks
    std::uint32_t end;                    // the highest leaf on offer is right below this
    std::uint32_t offered;                // how many leaves are on offer, from that one on downwards
    std::uint32_t all_at_once;            // whether all leaves are offered at once
  };

  // Where makers take units for slabs of one size, on a line of its own.
  struct slab_region {
    alignas(128) std::uint64_t word;  // slab_region_word
  };

  struct control {
    std::uint64_t units;
    alignas(128) spin_lock lock;
    std::uint64_t used_classes;  // those that ever had a slab, a bit for each
    std::uint32_t slab_units;    // units that are part of slabs
    std::uint64_t attempts;      // attempts to find memory that have begun; the first has number 1
    std::uint64_t swept;         // the latest attempt that found no slab to take back; the lock's holder's
    refused_run refused_runs;
    alignas(128) std::uint32_t frontier;           // leaves that regions were given, counted on past the last leaf
    slab_region regions[classes::most_units + 1];  // by units of a slab; large heaps use them
    alignas(128) std::uint64_t front;              // slab_front; the lock's holder's
    std::uint32_t reclaims;                        // times that slabs were taken back; the lock's holder's
    alignas(128) std::uint64_t coalesced;          // 1 + the latest launch that took all fully free slabs back, or 0
    reclaim_job job;
    alignas(128) bit_tree::levels free_units;
    alignas(128) bit_tree::groups groups;  // of that set, so that large blocks are taken 64 leaves at a time
    class_state of_class[warp_slab_layout::classes::count];
  };

  WARPHEAP_FN static constexpr std::uint64_t sections_at() { return align_up(sizeof(control), 128); }
  WARPHEAP_FN static constexpr std::uint64_t metadata_bytes(std::uint64_t bytes) {
    return sections_at() + divide_up(bytes, unit_section::units << classes::unit_shift) * sizeof(unit_section);
  }
  // Cache entries in a heap that begins with so many units: a power of two, so that finding one is no division.
  WARPHEAP_FN static std::uint32_t cache_entries(std::uint32_t units) {
    const std::uint64_t most = divide_up(units, unit_section::units) * unit_section::section_cache_entries;
    return most == 0 ? 1 : 1u << highest_bit(most);
  }
  // A heap that begins with fewer units is small: a sixteenth of it may be less than the seven units of a slab.
  static constexpr std::uint32_t small_heap = 128;

  // The bits of word `index` of a slab of so many blocks that stand for blocks.
  WARPHEAP_FN static constexpr std::uint32_t all_blocks(std::uint32_t blocks, std::uint32_t index) {
    const std::uint32_t before = index * 32;
    return before + 32 <= blocks ? ~0u : low_bits(static_cast<int>(blocks - before));
  }
};

}  // namespace warpheap
