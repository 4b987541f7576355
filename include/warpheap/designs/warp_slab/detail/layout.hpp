// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/warp_slab/size_classes.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>
#include <warpheap/sync.hpp>

namespace warpheap {

// One word of a slab's bitmap: 32 blocks, a set bit for each that is free, and above them the class of the slab plus 1
// and whether a hint leads to the slab. So whoever clears or sets bits learns in the same step whether the slab is
// still of the class that was expected, and whether there is anything left to do.
struct slab_word {
  static constexpr std::uint64_t shown_bit = std::uint64_t{1} << 63;
  std::uint64_t value;

  WARPHEAP_FN static slab_word make(std::uint32_t of_class, std::uint32_t free) {
    return {shown_bit | std::uint64_t{of_class + 1} << 32 | free};
  }
  WARPHEAP_FN constexpr std::uint32_t free() const { return static_cast<std::uint32_t>(value); }
  WARPHEAP_FN constexpr bool is_of(std::uint32_t of_class) const { return tag() == of_class + 1; }
  WARPHEAP_FN std::uint32_t of_class() const { return tag() - 1; }
  WARPHEAP_FN constexpr std::uint32_t free_of(std::uint32_t of_class) const { return is_of(of_class) ? free() : 0; }
  WARPHEAP_FN bool shown() const { return (value & shown_bit) != 0; }
  WARPHEAP_FN slab_word unshown() const { return {value & ~shown_bit}; }

  WARPHEAP_FN constexpr std::uint32_t tag() const { return static_cast<std::uint32_t>((value & ~shown_bit) >> 32); }

  // An operand of fetch_and that clears `bits` and keeps the rest.
  WARPHEAP_FN static std::uint64_t all_but(std::uint32_t bits) { return ~std::uint64_t{bits}; }
};

// The numbers of words. Words of one index in neighbouring units have neighbouring numbers, and addresses: slabs that
// lie together have it in one sector of memory, and those of one word each touch no more memory than their words need.
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

// Where blocks were claimed: bits of one word, named by its number. Those of another class than was meant are foreign,
// and are to be put back.
struct slab_claim {
  static constexpr std::uint32_t foreign_bit = 1u << 31;
  static constexpr std::uint32_t nowhere = 1u << 30;  // no word has this number
  std::uint32_t word = nowhere;
  std::uint32_t blocks = 0;  // none: nothing was claimed

  WARPHEAP_FN bool foreign() const { return (word & foreign_bit) != 0; }
  // True if the claim covers this rank.
  WARPHEAP_FN bool serves(int rank) const { return (rank < popcount(blocks)) & !foreign(); }
};

// Where a warp found blocks last, and which: a word, below it the bits that were taken there, and above it what the
// number of the class leaves by 4. 0: nowhere yet. It is where to begin, and may be stale, or be of another class: the
// word tells.
struct slab_seat {
  static constexpr int word_bits = 30;
  static constexpr int word_shift = 32;
  std::uint64_t value;

  WARPHEAP_FN static slab_seat make(std::uint32_t of_class, slab_claim found) {
    return {std::uint64_t{found.word | of_class << word_bits} << word_shift | found.blocks};
  }
  // True if it may be a seat of the class; a seat of the next three is not.
  WARPHEAP_FN bool is_of(std::uint32_t of_class) const {
    return (blocks() != 0) & (word(of_class) < std::uint32_t{1} << word_bits);  // no branch between the two
  }
  // The word, if it is of the class; else no word.
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
              std::uint64_t{1} << slab_seat::word_bits);

// When a warp last looked at more words than one for each lane: the launch, and whether it did so there before. 0:
// never. It decides how much room a class is given and nothing else, so it may be wrong: warps of a small heap share
// one, and launch numbers wrap around.
struct slab_visit {
  static constexpr std::uint32_t again_bit = 1;
  static constexpr std::uint32_t ever_bit = 2;
  static constexpr int launch_shift = 2;
  std::uint32_t value;

  WARPHEAP_FN bool is_now() const { return (value | again_bit) == (now() | again_bit); }
  WARPHEAP_FN bool is_again() const { return value == (now() | again_bit); }
  // After one more.
  WARPHEAP_FN slab_visit next() const { return {now() | (is_now() ? again_bit : 0)}; }

 private:
  WARPHEAP_FN static std::uint32_t now() {
    return static_cast<std::uint32_t>(launch_number() << launch_shift) | ever_bit;
  }
};

// How far a grid has come: the launch, and below it how many of its blocks have begun at least.
struct slab_front {
  std::uint64_t value;

  // With the news that block `block` of a launch has.
  WARPHEAP_FN slab_front with(std::uint32_t launch, std::uint32_t block) const {
    const std::uint64_t begun = block + 1;
    return {this->launch() == launch && blocks() >= begun ? value : std::uint64_t{launch} << 32 | begun};
  }
  WARPHEAP_FN std::uint32_t launch() const { return static_cast<std::uint32_t>(value >> 32); }
  WARPHEAP_FN std::uint32_t blocks() const { return static_cast<std::uint32_t>(value); }
};

// What a grid will want of which some threads have begun, if the others want as much each.
struct slab_forecast {
  std::uint64_t begun;    // threads, at least one
  std::uint64_t threads;  // of the grid

  // How many slabs of `blocks` blocks all will want together, as the first wanted `slabs`: for a block each, no more,
  // since a class may have more than was asked for.
  WARPHEAP_FN std::uint64_t slabs(std::uint64_t slabs, std::uint32_t blocks) const {
    const std::uint64_t most = begun / blocks + 1;
    const std::uint64_t used = slabs < most ? slabs : most;
    return used + used * (threads - begun) / begun;
  }
};

// A word, and which blocks of it a lane saw free.
struct slab_look {
  std::uint32_t word;
  std::uint32_t free;
};

// The hint of a slab, kept with its first unit: whether it may have free blocks, and which slab it is: the class plus 1
// and the place in the table of the class, and 0 if no slab begins there. A thread that comes late, to a slab that was
// taken back meanwhile, sees that.
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

// Blocks that waiting threads want of a class that is to be extended, and above them how often a lock holder took all
// of that demand. A thread that stops waiting sees by it whether its own part is still in there.
//
// It changes by additions alone, but for the one who takes it: of a class that begins, or of a heap that is full, all
// warps may come and go at once, and of many compare-and-swaps all but one fail.
struct slab_demand {
  std::uint64_t value;

  WARPHEAP_FN std::int32_t blocks() const { return static_cast<std::int32_t>(value); }
  // How often it was taken, modulo 2^32. A waiting lane compares it with what it was: each time takes the heap's lock
  // and an extension, so it is not taken 2^32 times within one wait; and a part that is left over only makes a class
  // larger. A sum of changes to both is one change to the word, so blocks below zero have borrowed from here.
  WARPHEAP_FN std::uint32_t times() const {
    return static_cast<std::uint32_t>((value - static_cast<std::uint64_t>(std::int64_t{blocks()})) >> 32);
  }
  WARPHEAP_FN std::uint64_t taken() const { return std::uint64_t{times() + 1} << 32; }
};

// The latest attempt to find a run that found none, and how many units it was for. The holder of the heap's lock writes
// it, any thread reads it. Zero bytes: none yet.
//
// Invariant: while `attempt_` is not 0, `units_` belongs to it. A writer sets `attempt_` to 0 before it writes
// `units_`, and attempts are numbered from 1 in 64 bits, so no number returns.
//
// Orders: a release of `units_` publishes the 0 before it, so a reader that acquired a later writer's units does not
// read the earlier attempt again. The release of `attempt_` publishes the units, and what the attempt saw.
class refused_run {
 public:
  // Attempt `attempt`, for `units` units, found none. The lock's holder.
  WARPHEAP_FN void note(std::uint64_t attempt, std::uint32_t units) {
    using enum memory_order;
    using enum thread_scope;
    atomic_view{attempt_}.store(0, relaxed, device);
    atomic_view{units_}.store(units, release, device);
    atomic_view{attempt_}.store(attempt, release, device);
  }
  // True if an attempt after number `earlier`, for `units` units or fewer, is known to have found none.
  WARPHEAP_FN bool since(std::uint64_t earlier, std::uint32_t units) {
    using enum memory_order;
    using enum thread_scope;
    const atomic_view attempt{attempt_};
    const std::uint64_t seen = attempt.load(acquire, device);
    if (seen <= earlier) return false;
    const std::uint32_t of = atomic_view{units_}.load(acquire, device);
    return of <= units && attempt.load(relaxed, device) == seen;
  }

 private:
  std::uint64_t attempt_;
  std::uint32_t units_;
};

// What a grid counts for `statistics`, each thread a part of it.
struct warp_slab_tally {
  std::uint64_t free_units;
  std::uint64_t large_blocks;
  std::uint64_t large_units;
  std::uint64_t slabs[slab_classes::count];
  std::uint64_t free_blocks[slab_classes::count];
};

// What a unit is part of: a slab of a class, of which so many units lie below it, or a run that begins with it; 0:
// neither. With a slab comes how to divide by the size of its blocks, so that free need not work it out.
//
//   31     30 ........ 15   14 ... 11   10 ............. 6   5 ...... 0
// | run |   reciprocal    |   power   |  units below it   |  class + 1  |
//
// Of a run, the bits below the top one are a number of units.
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
  // The byte of the slab that is byte `offset` of the heap's units, if that lies in this one.
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
    static constexpr std::uint32_t section_seats = 512;
    static constexpr std::uint32_t class_seats = 64;  // at least as many as classes: warps have a seat for each
    std::uint64_t free;                               // leaf of the set of free units
    std::uint64_t hints[classes::count];              // leaves of the sets of places
    std::uint32_t table[classes::count][units];       // by class and place: first unit of the slab plus 1, or 0
    alignas(16) unit_header header[units];
    std::uint64_t seats[section_seats];                           // slab_seat, by warp and class
    std::uint32_t visits[section_seats / class_seats];            // slab_visit, by warp
    alignas(128) std::uint64_t word[classes::most_words][units];  // by word_number
  };

  // What all threads read of a class, and what only those who search and extend it touch, on lines of their own.
  struct class_state {
    alignas(128) std::uint32_t places;  // of the table that have slabs: all below it, but while slabs are taken back
    std::uint32_t newest;               // the first place of the latest extension
    std::uint32_t slab_units;           // of a slab, and its blocks: as `initialise` wrote them
    std::uint32_t slab_blocks;
    alignas(128) std::uint32_t news;    // times that there was reason to look again, the extensions among them
    std::uint64_t refused;              // the latest attempt that found nothing
    alignas(128) std::uint64_t demand;  // slab_demand
    std::uint32_t launch;               // that extended it last, and the places before that; the lock's holder's
    std::uint32_t before;
    change_counter<std::uint32_t> changes;  // hints of slabs that are about to be set, or cleared to look again
    bit_tree::levels hints;
  };

  struct control {
    std::uint64_t units;
    alignas(128) spin_lock lock;
    std::uint64_t used_classes;  // those that ever had a slab, a bit for each; the lock's holder's
    std::uint32_t slab_units;    // units that are part of slabs; only the lock's holder changes it
    std::uint64_t attempts;      // to find memory, from 1; each began when its number was drawn
    refused_run refused_runs;
    std::uint64_t front;  // slab_front; the lock's holder's
    alignas(128) bit_tree::levels free_units;
    class_state of_class[warp_slab_layout::classes::count];
  };

  WARPHEAP_FN static constexpr std::uint64_t sections_at() { return align_up(sizeof(control), 128); }
  WARPHEAP_FN static constexpr std::uint64_t metadata_bytes(std::uint64_t bytes) {
    return sections_at() + divide_up(bytes, unit_section::units << classes::unit_shift) * sizeof(unit_section);
  }
  // Seats in a heap that begins with so many units: a power of two, so that finding one is no division.
  WARPHEAP_FN static std::uint32_t seats(std::uint32_t units) {
    const std::uint64_t most = divide_up(units, unit_section::units) * unit_section::section_seats;
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
