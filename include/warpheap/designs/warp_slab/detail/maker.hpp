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
/// lanes write side by side. One slab is made by a lane that drew the first ticket of its place.
///
/// Invariant: a slab's header is written before its words, and both before what leads to them: the table, the set of
/// places and `places`. A search that finds no block must not miss those of a slab in the making. A change of the class
/// covers the time in between for the lock's holder. A search for proof comes with the ledger closed, when no ticket's
/// slab is in the making.
///
/// Orders: a fence between two steps stands for the releases of all stores of the second.
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
    while (left != 0 && add_neighbours(group, c, left)) {  // not a spin: each turn adds slabs
    }
    return left != slabs;
  }
  /// A slab of class `c` at `place`, by the lane that drew its first ticket; false if it came upon no units. One lane,
  /// beside others.
  WARPHEAP_COLD_FN bool make_slab_at(std::uint32_t c, std::uint32_t place) const {
    using enum memory_order;
    using enum thread_scope;
    std::uint32_t unit = 0;
    if (place >= store().control().units || !take_units_for(c, place, unit)) return false;
    count_slabs(c, 1);
    make_header(c, unit, place);
    fence(release, device);
    WARPHEAP_ROLLED for (std::uint32_t w = 0; w < store().words_of(c); ++w) {
      make_word(c, word_number::make(unit, w), store().all_blocks(c, w));
    }
    // Those who wait for the slab claim of its words as soon as they see its entry.
    fence(release, device);
    store().table(c, place).store(unit + 1, after_release_fence, device);
    store().hinted(c).mark(place);
    atomic_view{store().of_class(c).places}.fetch_max(place + 1, release, device);
    return true;
  }

 private:
  // Takes the units of a slab at `place`. One lane.
  //
  // The slabs of a ledger lie side by side in the order of their places, from a leaf on that its opener chose. So
  // makers that work at once take units of different leaves, and nobody searches. Where other classes or runs have the
  // units, the class goes on from the leaf at which a maker ended.
  WARPHEAP_COLD_FN bool take_units_for(std::uint32_t c, std::uint32_t place, std::uint32_t& unit) const {
    using enum memory_order;
    using enum thread_scope;
    const std::uint32_t size = store().units_of(c);
    // Those that surely begin and end in one leaf.
    const std::uint32_t each = bit_tree::leaf_bits / size * size == bit_tree::leaf_bits
                                   ? bit_tree::leaf_bits / size
                                   : (bit_tree::leaf_bits + 1 - size) / size;
    const slab_store::class_state& state = store().of_class(c);
    const std::uint32_t nth = place - state.opened;
    const atomic_view passed{store().of_class(c).passed};
    const std::uint32_t before = passed.load(relaxed, device);
    const std::uint32_t own = state.first_leaf + nth / each;
    const std::uint32_t from = own < before ? before : own;
    std::uint32_t leaf = from;
    const bool got = store().free_units().try_take_from(size, nth % each, leaf, unit);
    if (leaf != from) passed.store(leaf, relaxed, device);
    return got;
  }
  // Counts slabs that are about to be made. One lane.
  WARPHEAP_COLD_FN void count_slabs(std::uint32_t c, std::uint32_t slabs) const {
    using enum memory_order;
    using enum thread_scope;
    const atomic_view used{store().control().used_classes};
    const std::uint64_t bit = std::uint64_t{1} << c;
    if ((used.load(relaxed, device) & bit) == 0) used.fetch_or(bit, relaxed, device);
    atomic_view{store().control().slab_units}.fetch_add(slabs * store().units_of(c), relaxed, device);
  }
  // Adds up to `slabs` slabs that lie side by side, and subtracts them; false if there are no units. Collective.
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
    using enum memory_order;
    using enum thread_scope;
    const std::uint32_t places = atomic_view{store().of_class(c).places}.load(relaxed, device);
    if (is_leader(group)) {
      count_slabs(c, slabs);
      hints().begin_change(c);
    }
    sync(group);
    make_headers(group, c, unit, places, slabs);
    open_slabs(group, c, unit, places, slabs);
    if (!is_leader(group)) return;
    atomic_view{store().of_class(c).newest}.store(places, relaxed, device);
    atomic_view{store().of_class(c).places}.store(places + slabs, release, device);
    hints().end_change(c);
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
    mark_places(group, c, place, place + slabs);
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
  WARPHEAP_COLD_FN void mark_places(lane_mask group, std::uint32_t c, std::uint32_t begin, std::uint32_t end) const {
    constexpr std::uint32_t leaf = bit_tree::leaf_bits;
    const auto lanes = static_cast<std::uint32_t>(group_size(group));
    const bit_tree places = store().hinted(c);
    for (auto i = begin / leaf + static_cast<std::uint32_t>(group_rank(group)); i * leaf < end; i += lanes) {
      const std::uint32_t from = i * leaf < begin ? begin : i * leaf;
      const std::uint32_t to = (i + 1) * leaf < end ? (i + 1) * leaf : end;
      if (from < to) places.mark(i, bit_range(from % leaf, to - from));
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
