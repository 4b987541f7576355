// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/warp_slab/size_classes.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>

// What words, cache entries, hints and headers say: the values that travel between the parts.

namespace warpheap {

// One word of a slab's bitmap: 32 blocks, a set bit for each that is free, and above them the class of the slab plus 1
// and whether a hint leads to the slab. So a thread that clears or sets bits learns in the same step whether the slab
// is still of the expected class, and whether it must set a hint.
struct slab_word {
  static constexpr std::uint64_t shown_bit = std::uint64_t{1} << 63;
  std::uint64_t value;

  WARPHEAP_FN static slab_word make(std::uint32_t of_class, std::uint32_t free_bits) {
    return {shown_bit | std::uint64_t{of_class + 1} << 32 | free_bits};
  }
  WARPHEAP_FN constexpr std::uint32_t free_bits() const { return static_cast<std::uint32_t>(value); }
  WARPHEAP_FN constexpr bool is_of(std::uint32_t of_class) const { return tag() == of_class + 1; }
  WARPHEAP_FN std::uint32_t of_class() const { return tag() - 1; }
  WARPHEAP_FN constexpr std::uint32_t free_of(std::uint32_t of_class) const {
    return is_of(of_class) ? free_bits() : 0;
  }
  WARPHEAP_FN bool shown() const { return (value & shown_bit) != 0; }
  WARPHEAP_FN slab_word unshown() const { return {value & ~shown_bit}; }

  WARPHEAP_FN constexpr std::uint32_t tag() const { return static_cast<std::uint32_t>((value & ~shown_bit) >> 32); }

  // An operand of fetch_and that clears `bits` and keeps the rest.
  WARPHEAP_FN static std::uint64_t all_but(std::uint32_t bits) { return ~std::uint64_t{bits}; }
};

// The numbers of words. Words of one index in neighbouring units have neighbouring numbers, and addresses. So words of
// one index, of slabs that lie together, share a sector of memory, and slabs of one word each touch no memory between.
struct word_number {
  static constexpr int unit_bits = 6;   // units of a section
  static constexpr int index_bits = 5;  // words of a unit
  static constexpr std::uint32_t section_units = 1u << unit_bits;
  static constexpr std::uint32_t section_words = 1u << (unit_bits + index_bits);

  // Word `index` of the slab that begins at `unit`.
  WARPHEAP_FN static constexpr std::uint32_t make(std::uint32_t unit, std::uint32_t index) {
    return unit / section_units * section_words + index * section_units + unit % section_units;
  }
  WARPHEAP_FN static constexpr std::uint32_t unit(std::uint32_t number) {
    return number / section_words * section_units + number % section_units;
  }
  WARPHEAP_FN static constexpr std::uint32_t index(std::uint32_t number) {
    return number / section_units % (1u << index_bits);
  }
};
static_assert(slab_classes::most_words == 1u << word_number::index_bits);

// Blocks that were claimed: bits of one word, which is named by its number. A claim of blocks of another class than
// was meant is stale, and the claimer puts them back.
struct slab_claim {
  static constexpr std::uint32_t stale_bit = 1u << 31;
  static constexpr std::uint32_t nowhere = 1u << 30;      // no word has this number
  static constexpr std::uint32_t searched = nowhere | 1;  // nor this one: probes found nothing for the lane
  std::uint32_t word = nowhere;
  std::uint32_t blocks = 0;  // a bit for each block; 0: nothing was claimed

  WARPHEAP_FN bool stale() const { return (word & stale_bit) != 0; }
  // True if the claim covers this rank.
  WARPHEAP_FN bool serves(int rank) const { return (rank < popcount(blocks)) & !stale(); }
};

// Where a warp found blocks of a class last: the bits that it took there (bits 0 to 31), the number of the word (32 to
// 61), and the class modulo 4 (62 and 63). 0: it found none yet. A cache entry tells where to begin. It may be
// outdated, or of another class; the word itself decides.
struct slab_cache_entry {
  static constexpr int word_bits = 30;
  static constexpr int word_shift = 32;
  std::uint64_t value;

  WARPHEAP_FN static slab_cache_entry make(std::uint32_t of_class, slab_claim found) {
    return {std::uint64_t{found.word | of_class << word_bits} << word_shift | found.blocks};
  }
  // True if it may be an entry of the class: false for an entry of any of the next three classes.
  WARPHEAP_FN bool is_of(std::uint32_t of_class) const {
    return (blocks() != 0) & (word(of_class) < std::uint32_t{1} << word_bits);  // no branch between the two
  }
  // The number of the word if the entry is of the class; else a number that no word has.
  WARPHEAP_FN std::uint32_t word(std::uint32_t of_class) const { return word_and_class() - (of_class << word_bits); }
  // The `wanted` bits of the word that are tried first: those that were taken there, if they were as many, since they
  // are likely free again together.
  WARPHEAP_FN std::uint32_t guess(std::uint32_t wanted) const {
    if (wanted == 1) return blocks() & (0u - blocks());
    if (static_cast<std::uint32_t>(popcount(blocks())) == wanted) return blocks();
    return rotate_left(low_bits(static_cast<int>(wanted)), static_cast<std::uint32_t>(lowest_bit(blocks())));
  }

 private:
  WARPHEAP_FN std::uint32_t blocks() const { return split(value).low; }
  WARPHEAP_FN std::uint32_t word_and_class() const { return split(value).high; }
};
static_assert(bit_tree::most_leaves * std::uint64_t{bit_tree::leaf_bits} * slab_classes::most_words <=
              std::uint64_t{1} << slab_cache_entry::word_bits);

// How many blocks of a class tickets were drawn for, and above them the epoch of the count and whether it is closed. A
// draw is one addition, which tells whether it counts: what is drawn of a closed ledger is void.
//
//   63      62 ........ 40   39 ......... 0
// | closed |    epoch      |    blocks     |
//
// Void draws go on adding to a closed ledger. At worst they carry into the epoch, which opening it changes anyway.
struct slab_ledger_word {
  static constexpr int epoch_shift = 40;
  static constexpr std::uint64_t closed_bit = std::uint64_t{1} << 63;
  std::uint64_t value;

  WARPHEAP_FN bool is_closed() const { return (value & closed_bit) != 0; }
  WARPHEAP_FN std::uint64_t blocks() const { return value & ((std::uint64_t{1} << epoch_shift) - 1); }
  // True if a ticket drawn of `drawn`, which was open, still counts: nobody has closed the ledger since.
  WARPHEAP_FN bool counts(slab_ledger_word drawn) const { return value >> epoch_shift == drawn.value >> epoch_shift; }
  // The open ledger of the next epoch, in which `blocks` blocks are there already.
  WARPHEAP_FN slab_ledger_word opened(std::uint64_t blocks) const {
    const std::uint64_t epoch = ((value & ~closed_bit) >> epoch_shift) + 1;
    return {(epoch << epoch_shift & ~closed_bit) | blocks};
  }
};

// How many leaves a job of reclamation offers, and how many of them are drawn. A draw is one addition, which tells
// whether it counts: what is drawn beyond the leaves is void. Zero: nothing is offered.
//
//   63 ....... 32   31 ....... 0
// |    leaves     |    drawn     |
//
// A group begins to draw only if it has seen leaves left. So void draws add at most 32 for each warp, and do not carry.
struct slab_job_word {
  std::uint64_t value;

  WARPHEAP_FN static slab_job_word make(std::uint32_t leaves) { return {std::uint64_t{leaves} << 32}; }
  // The word whose leaves are all drawn: no smaller than any of this job with leaves left.
  WARPHEAP_FN slab_job_word exhausted() const { return {make(split(value).high).value | split(value).high}; }
  WARPHEAP_FN std::uint32_t drawn() const { return split(value).low; }
  WARPHEAP_FN std::uint32_t left() const { return drawn() < split(value).high ? split(value).high - drawn() : 0; }
};

// A word, and which blocks of it a lane saw free.
struct slab_look {
  std::uint32_t word;
  std::uint32_t free_bits;
};

// The hint of a slab, kept with its first unit: whether it may have free blocks, and which slab it is: the class plus 1
// and the place in the table of the class; 0 if no slab begins there. So a thread that comes late, after the slab was
// taken back, sees that it was.
struct slab_hint {
  static constexpr int class_bits = 6;
  static constexpr std::uint32_t shown_bit = 1u << class_bits;
  std::uint32_t value;

  WARPHEAP_FN static slab_hint make(std::uint32_t of_class, std::uint32_t place) {
    return {place << (class_bits + 1) | shown_bit | (of_class + 1)};
  }
  WARPHEAP_FN bool shown() const { return (value & shown_bit) != 0; }
  WARPHEAP_FN bool is_of(std::uint32_t of_class) const { return (value & (shown_bit - 1)) == of_class + 1; }
  WARPHEAP_FN std::uint32_t place() const { return value >> (class_bits + 1); }
  // The hint of this slab at another place.
  WARPHEAP_FN slab_hint at(std::uint32_t place) const { return {value % (2 * shown_bit) | place << (class_bits + 1)}; }
  WARPHEAP_FN std::uint32_t with() const { return value | shown_bit; }
  WARPHEAP_FN std::uint32_t without() const { return value & ~shown_bit; }
};
static_assert(slab_classes::count < slab_hint::shown_bit);
static_assert(bit_tree::most_leaves * std::uint64_t{bit_tree::leaf_bits} <= 1u << (31 - slab_hint::class_bits));

// What a unit is part of: a slab of a class, of which so many units lie below it, or a run that begins with it; 0:
// neither. With a slab comes how to divide by the size of its blocks, so that free need not work it out.
//
//   31     30 ........ 15   14 ... 11   10 ............. 6   5 ...... 0
// | run |   reciprocal    |   power   |  units below it   |  class + 1  |
//
// Of a run, the bits below the top one are the number of its units.
struct unit_owner {
  static constexpr int below_shift = 6;
  static constexpr int power_shift = 11;
  static constexpr int reciprocal_shift = 15;
  static constexpr std::uint32_t run_bit = 1u << 31;
  std::uint32_t value;

  WARPHEAP_FN static unit_owner slab(std::uint32_t of_class, std::uint32_t below) {
    const slab_classes::divisor by = slab_classes::divisor_of(of_class);
    return {by.reciprocal << reciprocal_shift | by.power << power_shift | below << below_shift | (of_class + 1)};
  }
  WARPHEAP_FN static unit_owner run(std::uint32_t units) { return {run_bit | units}; }

  WARPHEAP_FN bool is_run() const { return value >= run_bit; }
  WARPHEAP_FN bool is_slab() const { return value != 0 && !is_run(); }
  WARPHEAP_FN std::uint32_t run_units() const { return value & ~run_bit; }
  WARPHEAP_FN std::uint32_t of_class() const { return (value & low_bits(below_shift)) - 1; }
  WARPHEAP_FN std::uint32_t below() const { return value >> below_shift & low_bits(power_shift - below_shift); }
  // Offset within the slab, in bytes, of byte `offset` of the heap's units, which lies in this unit.
  WARPHEAP_FN std::uint32_t in_slab(std::uint64_t offset) const {
    return (static_cast<std::uint32_t>(offset) & (slab_classes::unit_bytes - 1)) | below() << slab_classes::unit_shift;
  }
  // The block that byte `offset` of the slab lies in.
  WARPHEAP_FN std::uint32_t block_at(std::uint32_t offset) const {
    return slab_classes::divisor{value >> power_shift & low_bits(reciprocal_shift - power_shift),
                                 value >> reciprocal_shift}
        .quotient(offset);
  }
};
static_assert(slab_classes::count < 1u << unit_owner::below_shift);
static_assert(slab_classes::most_units <= 1u << (unit_owner::power_shift - unit_owner::below_shift));

// Leaves of units that makers of slabs of one size share, and how many slots in them were drawn, each with room for a
// slab: so each draw is one addition. A region has twice the leaves of the one before, up to a quarter of the heap and
// to 4,096 slots. So a size with few slabs has few such leaves, and regions end seldom where slabs are many. Zero: a
// region of the first leaf, of which nothing was drawn.
struct slab_region_word {
  static constexpr int leaf_shift = 32;
  static constexpr int log2_shift = 56;
  std::uint64_t value;

  WARPHEAP_FN static slab_region_word make(std::uint32_t leaf, std::uint32_t log2_leaves, std::uint32_t drawn) {
    return {std::uint64_t{log2_leaves} << log2_shift | std::uint64_t{leaf} << leaf_shift | drawn};
  }
  WARPHEAP_FN std::uint32_t drawn() const { return static_cast<std::uint32_t>(value); }
  WARPHEAP_FN std::uint32_t leaf() const { return static_cast<std::uint32_t>(value >> leaf_shift) & 0xffffff; }
  WARPHEAP_FN std::uint32_t leaves() const { return 1u << log2_leaves(); }
  WARPHEAP_FN std::uint32_t log2_leaves() const { return static_cast<std::uint32_t>(value >> log2_shift); }
  // `log2_leaves` of the next region, in a heap of `leaves` leaves, each with room for `each` slabs.
  WARPHEAP_FN std::uint32_t next_log2_leaves(std::uint32_t leaves, std::uint32_t each) const {
    constexpr std::uint32_t most_slots = 4096;
    const std::uint32_t room = leaves / 4 < most_slots / each ? leaves / 4 : most_slots / each;
    return 2u << log2_leaves() <= room ? log2_leaves() + 1 : log2_leaves();
  }
};

}  // namespace warpheap
