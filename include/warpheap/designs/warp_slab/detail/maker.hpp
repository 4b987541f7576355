// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/warp_slab/detail/runs.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>
#include <warpheap/sync.hpp>

namespace warpheap::detail {

/// New slabs of a class, made of free units. All of their blocks are free and listed.
///
/// Several slabs are made by the group of the heap's lock holder, with the ledger of the class closed, and all of its
/// lanes write side by side. While units are likely to be found, each lane takes the units of a slab of its own. Then
/// the slabs are of neighbouring units or, where few lie side by side, of another leaf for each lane. Slabs for tickets
/// are made by lanes of the group that drew the first tickets of their places, with the ledger open.
///
/// Invariant: a slab's header is written before its words, and both before what leads to them: the table, the set of
/// places and `places`. A search that finds no block must not miss those of a slab in the making. A change of the class
/// covers the time in between for the lock's holder. A search for proof comes with the ledger closed, when no ticket's
/// slab is in the making.
///
/// Invariant of a region: each draw of its word gives another slot, room for one slab. The one thread that draws the
/// slot right past the last one stores the next region. A slot reserves nothing: the set of free units decides which
/// thread gets its units.
///
/// Orders: a fence between two steps stands for the releases of all stores of the second. Draws of regions and leaves
/// are relaxed, since they only say where to look, and taking the units acquires.
///
/// A maker waits a moment for the next region, and then searches; it depends on no other thread.
class slab_maker {
 public:
  WARPHEAP_FN explicit slab_maker(const arena& from) : runs_(from) {}
  WARPHEAP_FN const slab_runs& runs() const { return runs_; }
  WARPHEAP_FN const slab_reclamation& reclamation() const { return runs_.reclamation(); }
  WARPHEAP_FN const slab_ledger& ledger() const { return runs_.ledger(); }
  WARPHEAP_FN const slab_sharing& sharing() const { return runs_.sharing(); }
  WARPHEAP_FN const slab_probes& probes() const { return runs_.probes(); }
  WARPHEAP_FN const slab_claims& claims() const { return runs_.claims(); }
  WARPHEAP_FN const slab_hints& hints() const { return runs_.hints(); }
  WARPHEAP_FN const slab_store& store() const { return runs_.store(); }

  /// Adds up to `slabs` slabs, at least one; false if there are no units. The lock's holder, with the ledger closed.
  /// Collective.
  WARPHEAP_COLD_FN bool add_slabs(lane_mask group, std::uint32_t c, std::uint32_t slabs) const {
    invariant(ledger().look(c).is_closed(), "warp_slab: slabs were added beside those of tickets");
    std::uint32_t left = slabs;
    // A lane that is alone is quicker with units that lie side by side.
    const bool several = group_size(group) > 1;
    while (several && left != 0 && may_draw_units(group, c) && add_drawn(group, c, left)) {  // not a spin: it adds some
    }
    while (left != 0) {  // not a spin: the same
      const std::uint32_t before = left;
      if (!add_neighbours(group, c, left)) break;
      if (several && before - left < few_neighbours && left != 0) add_apart(group, c, left);
    }
    return left != slabs;
  }
  /// Makes a slab of class `c` at `place`; false if it found no units. One lane, which drew the first ticket of the
  /// place or is of a group that did; beside others.
  WARPHEAP_COLD_FN bool make_slab_at(std::uint32_t c, std::uint32_t place) const {
    using enum memory_order;
    using enum thread_scope;
    const bool noted = is_noted(c);  // on its way while the caller waits for units
    std::uint32_t unit = 0;
    if (place >= store().control().units || !take_units_for(c, place, unit)) return false;
    if (!noted) note_used(c);
    make_slab(c, unit, place);
    // Others wait for the slab, and not for what follows. Its fence releases its words to those who see the place here.
    atomic_view{store().of_class(c).places}.fetch_max(place + 1, after_release_fence, device);
    store().hinted(c).insert(place);
    count_slabs(c, 1);
    return true;
  }

 private:
  // Makes units from `unit` on a slab at `place`, all of its blocks free, that no hint leads to. One lane.
  WARPHEAP_COLD_FN void make_slab(std::uint32_t c, std::uint32_t unit, std::uint32_t place) const {
    using enum memory_order;
    using enum thread_scope;
    make_header(c, unit, place);
    fence(release, device);
    make_words_of(c, unit);
    // A thread that waits for the slab claims of its words as soon as it sees the entry.
    fence(release, device);
    store().table(c, place).store(unit + 1, after_release_fence, device);
  }
  // Takes the units of a slab of class `c` at `place`: at a multiple of their number, so that a class fills a heap
  // whatever was where before. One lane.
  //
  // In a heap of 256 MiB or more, makers of slabs of one size draw their units from a region of leaves that they share.
  // So makers that work at once take different units, and no maker searches. In a smaller heap, where that would leave
  // no room for runs, and where the draws find no units, a maker searches a few leaves.
  WARPHEAP_COLD_FN bool take_units_for(std::uint32_t c, std::uint32_t place, std::uint32_t& unit) const {
    constexpr std::uint32_t bits = bit_tree::leaf_bits;
    constexpr std::uint32_t large = 256;  // leaves
    const std::uint32_t size = store().units_of(c);
    const auto leaves = static_cast<std::uint32_t>((store().control().units + bits - 1) / bits);
    std::uint32_t leaf = place / (bits / size) % leaves;
    if (leaves >= large && draw_units(size, leaves, leaf, unit)) return true;
    return store().free_units().try_take_from(size, place, leaf, unit);
  }
  // Takes the units of the next slot of the region for slabs of `size` units, or of a later one if these are not free.
  // False after `most` draws: `leaf` is then the leaf that was drawn last. One lane.
  WARPHEAP_COLD_FN bool draw_units(std::uint32_t size, std::uint32_t leaves, std::uint32_t& leaf,
                                   std::uint32_t& unit) const {
    using enum memory_order;
    using enum thread_scope;
    constexpr std::uint32_t bits = bit_tree::leaf_bits;
    constexpr std::uint32_t most = 16;
    const std::uint32_t each = bits % size == 0 ? bits / size : (bits + 1 - size) / size;  // in any leaf
    const atomic_view region{store().control().regions[size].word};
    for (std::uint32_t draws = 0; draws < most; ++draws) {  // not a spin: they are bounded
      slab_region_word drawn{region.fetch_add(1, relaxed, device)};
      const std::uint32_t slots = drawn.leaves() * each;
      if (drawn.drawn() == slots) {
        drawn = next_region(drawn, leaves, each);
        region.store(drawn.value + 1, relaxed, device);
      } else if (drawn.drawn() > slots) {
        wait_for_region(region, each);
        continue;
      }
      leaf = (drawn.leaf() + drawn.drawn() / each) % leaves;
      unit = (leaf * bits + size - 1) / size * size + drawn.drawn() % each * size;
      if (std::uint64_t{unit} + size <= store().control().units && store().free_units().try_take({unit, size})) {
        return true;
      }
    }
    return false;
  }
  // The region after `before`, which is used up, in a heap of `leaves` leaves with `each` slots each. One lane, the one
  // that drew the slot right past the last one.
  WARPHEAP_COLD_FN slab_region_word next_region(slab_region_word before, std::uint32_t leaves,
                                                std::uint32_t each) const {
    const std::uint32_t log2_leaves = before.next_log2_leaves(leaves, each);
    const std::uint32_t dealt = atomic_view{store().control().frontier}.fetch_add(
        1u << log2_leaves, memory_order::relaxed, thread_scope::device);
    std::uint32_t leaf = (dealt + 1) % leaves;  // not the first one, which all sizes begin with
    std::uint32_t shown = leaf;
    if (store().free_units().next_leaf(leaf, shown)) leaf = shown;
    return slab_region_word::make(leaf, log2_leaves, 0);
  }
  // Waits a moment for the next region: not for long, so that no lane depends on another one of its warp. One lane.
  WARPHEAP_COLD_FN static void wait_for_region(atomic_view<std::uint64_t> region, std::uint32_t each) {
    constexpr int most = 8;
    backoff wait;
    for (int looks = 0; looks < most; ++looks) {  // not a spin: they are bounded
      wait.pause();
      const slab_region_word seen{region.load(memory_order::relaxed, thread_scope::device)};
      if (seen.drawn() < seen.leaves() * each) return;
    }
  }
  // Whether class `c` is noted as used, which it stays. Relaxed: a thread that reads an older word notes it again.
  WARPHEAP_FN bool is_noted(std::uint32_t c) const {
    const std::uint64_t used =
        atomic_view{store().control().used_classes}.load(memory_order::relaxed, thread_scope::device);
    return (used >> c & 1) != 0;
  }
  // Notes that the class has a slab, before there is one: so a lock holder that wants to take slabs back finds the
  // class among the used ones. The release of the slab's entry releases the note. One lane.
  WARPHEAP_COLD_FN void note_used(std::uint32_t c) const {
    atomic_view{store().control().used_classes}.fetch_or(std::uint64_t{1} << c, memory_order::relaxed,
                                                         thread_scope::device);
  }
  // Counts units of slabs that are made. The maker of a ticket's slab settles its place after it, so nobody takes the
  // slab back before it is counted. One lane.
  WARPHEAP_COLD_FN void count_slabs(std::uint32_t c, std::uint32_t slabs) const {
    atomic_view{store().control().slab_units}.fetch_add(slabs * store().units_of(c), memory_order::relaxed,
                                                        thread_scope::device);
  }
  // What `slab_ledger::may_draw_units` tells the leader, for all lanes. Collective.
  WARPHEAP_COLD_FN bool may_draw_units(lane_mask group, std::uint32_t c) const {
    return any(group, is_leader(group) && ledger().may_draw_units(c));
  }
  // Adds up to `slabs` slabs, one a lane, of units that the lanes draw as makers for tickets do, and subtracts from
  // `slabs` how many it added; false if no lane got units. Collective.
  WARPHEAP_COLD_FN bool add_drawn(lane_mask group, std::uint32_t c, std::uint32_t& slabs) const {
    const auto rank = static_cast<std::uint32_t>(group_rank(group));
    const std::uint32_t place =
        atomic_view{store().of_class(c).places}.load(memory_order::relaxed, thread_scope::device) + rank;
    std::uint32_t unit = 0;
    const bool made = rank < slabs && place < store().control().units && take_units_for(c, place, unit);
    const lane_mask makers = ballot(group, made);
    const auto count = static_cast<std::uint32_t>(group_size(makers));
    if (count == 0 && is_leader(group)) ledger().note_no_units(c);
    sync(group);
    if (count == 0) return false;
    const std::uint32_t places = begin_slabs(group, c, count);
    if (made) {
      const std::uint32_t mine = places + static_cast<std::uint32_t>(group_rank(makers));
      make_slab(c, unit, mine);
      store().hinted(c).insert(mine);
    }
    sync(group);
    if (is_leader(group)) end_slabs(c, places, count);
    slabs -= count;
    return true;
  }
  // Begins to make `slabs` slabs: returns the place of the first. The lock's holder. Collective.
  WARPHEAP_COLD_FN std::uint32_t begin_slabs(lane_mask group, std::uint32_t c, std::uint32_t slabs) const {
    if (is_leader(group)) {
      if (!is_noted(c)) note_used(c);
      count_slabs(c, slabs);
      hints().begin_change(c);
    }
    sync(group);
    return atomic_view{store().of_class(c).places}.load(memory_order::relaxed, thread_scope::device);
  }
  // Tells of `slabs` slabs that were made from `place` on. One lane, for all.
  WARPHEAP_COLD_FN void end_slabs(std::uint32_t c, std::uint32_t place, std::uint32_t slabs) const {
    using enum memory_order;
    using enum thread_scope;
    atomic_view{store().of_class(c).newest}.store(place, relaxed, device);
    atomic_view{store().of_class(c).places}.store(place + slabs, release, device);
    hints().end_change(c);
  }
  static constexpr std::uint32_t few_neighbours = 8;  // slabs; where fewer lie side by side, others lie apart
  // Adds up to `slabs` slabs of the lowest units that suffice, of another leaf for each lane, and subtracts from
  // `slabs` how many it added. Collective.
  WARPHEAP_COLD_FN void add_apart(lane_mask group, std::uint32_t c, std::uint32_t& slabs) const {
    std::uint32_t leaf = 0;
    const std::uint64_t mine = store().free_units().take_blocks_apart(group, store().units_of(c), slabs, leaf);
    const auto own = static_cast<std::uint32_t>(popcount(mine));
    const std::uint32_t upto = inclusive_scan(group, own, plus{});
    const std::uint32_t count = reduce(group, own, plus{});
    if (count == 0) return;
    const std::uint32_t places = begin_slabs(group, c, count);
    make_slabs_of(c, leaf * bit_tree::leaf_bits, mine, places + upto - own);
    sync(group);
    insert_places(group, c, places, places + count);
    sync(group);
    if (is_leader(group)) end_slabs(c, places, count);
    slabs -= count;
  }
  // Makes a slab for each bit of `begins`, from unit `first` plus the number of the bit on, at places from `place` on,
  // with all blocks free. A fence between two steps stands for the releases of all stores of the second. One lane.
  WARPHEAP_COLD_FN void make_slabs_of(std::uint32_t c, std::uint32_t first, std::uint64_t begins,
                                      std::uint32_t place) const {
    std::uint32_t at = place;
    WARPHEAP_ROLLED for (std::uint64_t left = begins; left != 0; left &= left - 1) {  // a turn a slab
      make_header(c, first + static_cast<std::uint32_t>(lowest_bit(left)), at++);
    }
    fence(memory_order::release, thread_scope::device);
    at = place;
    WARPHEAP_ROLLED for (std::uint64_t left = begins; left != 0; left &= left - 1) {  // a turn a slab
      open_slab(c, first + static_cast<std::uint32_t>(lowest_bit(left)), at++);
    }
  }
  // The words of a slab whose header is there. One lane.
  WARPHEAP_COLD_FN void make_words_of(std::uint32_t c, std::uint32_t unit) const {
    WARPHEAP_ROLLED for (std::uint32_t w = 0; w < store().words_of(c); ++w) {
      make_word(c, word_number::make(unit, w), store().all_blocks(c, w));
    }
  }
  // The words of a slab whose header is there, and its entry in the table. One lane.
  WARPHEAP_COLD_FN void open_slab(std::uint32_t c, std::uint32_t unit, std::uint32_t place) const {
    make_words_of(c, unit);
    store().table(c, place).store(unit + 1, after_release_fence, thread_scope::device);
  }
  // Adds up to `slabs` slabs that lie side by side, and subtracts from `slabs` how many it added; false if at one
  // moment of the call no units for a slab were free. Collective.
  WARPHEAP_COLD_FN bool add_neighbours(lane_mask group, std::uint32_t c, std::uint32_t& slabs) const {
    // At multiples of their size, so that those of one class fill a heap whatever was where before.
    const index_run run = store().free_units().take_blocks(group, store().units_of(c), slabs);
    const auto count = static_cast<std::uint32_t>(run.count) / store().units_of(c);
    if (count == 0) return false;
    slabs -= count;
    make_slabs(group, c, static_cast<std::uint32_t>(run.first), count);
    return true;
  }
  // Makes units from `unit` on slabs of class `c`, all of their blocks free. The lock's holder. Collective.
  //
  // Step by step, each for all slabs, with the lanes side by side: what a word tells of must be there before the word.
  // A fence between two steps stands for the releases of all stores of the second.
  WARPHEAP_COLD_FN void make_slabs(lane_mask group, std::uint32_t c, std::uint32_t unit, std::uint32_t slabs) const {
    const std::uint32_t places = begin_slabs(group, c, slabs);
    make_headers(group, c, unit, places, slabs);
    open_slabs(group, c, unit, places, slabs);
    if (is_leader(group)) end_slabs(c, places, slabs);
  }
  // The headers of slabs from `unit` on, at places from `place` on. Collective.
  WARPHEAP_COLD_FN void make_headers(lane_mask group, std::uint32_t c, std::uint32_t unit, std::uint32_t place,
                                     std::uint32_t slabs) const {
    const auto lanes = static_cast<std::uint32_t>(group_size(group));
    for (auto i = static_cast<std::uint32_t>(group_rank(group)); i < slabs; i += lanes) {
      make_header(c, unit + i * store().units_of(c), place + i);
    }
    sync(group);
  }
  // The words of slabs whose headers are there, and all that leads to them. Collective.
  WARPHEAP_COLD_FN void open_slabs(lane_mask group, std::uint32_t c, std::uint32_t unit, std::uint32_t place,
                                   std::uint32_t slabs) const {
    fence(memory_order::release, thread_scope::device);
    make_words(group, c, unit, slabs);
    fill_table(group, c, unit, place, slabs);
    sync(group);
    insert_places(group, c, place, place + slabs);
    sync(group);
  }
  // The words of slabs, all of their blocks free. Each lane of `group` does its share.
  WARPHEAP_COLD_FN void make_words(lane_mask group, std::uint32_t c, std::uint32_t unit, std::uint32_t slabs) const {
    // Lane by lane along the slabs or, where there are more of them, along the words of each.
    const auto lanes = static_cast<std::uint32_t>(group_size(group));
    const auto rank = static_cast<std::uint32_t>(group_rank(group));
    const bool few = slabs < store().words_of(c);
    WARPHEAP_ROLLED for (std::uint32_t slab = few ? 0 : rank; slab < slabs; slab += few ? 1 : lanes) {
      const std::uint32_t first = unit + slab * store().units_of(c);
      WARPHEAP_ROLLED for (std::uint32_t w = few ? rank : 0; w < store().words_of(c); w += few ? lanes : 1) {
        make_word(c, word_number::make(first, w), store().all_blocks(c, w));
      }
    }
  }
  // The entries of slabs in the table, from `place` on. Each lane of `group` does its share.
  WARPHEAP_COLD_FN void fill_table(lane_mask group, std::uint32_t c, std::uint32_t unit, std::uint32_t place,
                                   std::uint32_t slabs) const {
    const auto lanes = static_cast<std::uint32_t>(group_size(group));
    for (auto i = static_cast<std::uint32_t>(group_rank(group)); i < slabs; i += lanes) {
      store().table(c, place + i).store(unit + i * store().units_of(c) + 1, after_release_fence, thread_scope::device);
    }
  }
  // The bits of the places [begin, end) in the set of hints. Each lane of `group` does its share.
  WARPHEAP_COLD_FN void insert_places(lane_mask group, std::uint32_t c, std::uint32_t begin, std::uint32_t end) const {
    constexpr std::uint32_t leaf = bit_tree::leaf_bits;
    const auto lanes = static_cast<std::uint32_t>(group_size(group));
    const bit_tree places = store().hinted(c);
    for (auto i = begin / leaf + static_cast<std::uint32_t>(group_rank(group)); i * leaf < end; i += lanes) {
      const std::uint32_t from = i * leaf < begin ? begin : i * leaf;
      const std::uint32_t to = (i + 1) * leaf < end ? (i + 1) * leaf : end;
      if (from < to) places.insert(i, bit_range(from % leaf, to - from));
    }
  }
  // The header of the slab that begins at `unit`, at `place` of the table. Before its words, by which the first block
  // is handed out. One lane.
  WARPHEAP_COLD_FN void make_header(std::uint32_t c, std::uint32_t unit, std::uint32_t place) const {
    using enum memory_order;
    using enum thread_scope;
    WARPHEAP_ROLLED for (std::uint32_t u = 0; u < store().units_of(c); ++u) {
      atomic_view{store().header(unit + u).owner}.store(unit_owner::slab(c, u).value, memory_order::relaxed,
                                                        thread_scope::device);
    }
    atomic_view{store().header(unit).hint}.store(slab_hint::make(c, place).value, relaxed, device);
  }
  // Word `at` of a slab, with the blocks `all`. A fence has released the header, and what threads did that had the
  // units.
  WARPHEAP_FN void make_word(std::uint32_t c, std::uint32_t at, std::uint32_t all) const {
    store().word(at).store(slab_word::make(c, all).value, after_release_fence, thread_scope::device);
  }

  slab_runs runs_;
};

}  // namespace warpheap::detail
