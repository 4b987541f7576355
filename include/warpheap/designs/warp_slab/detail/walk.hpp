// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/warp_slab/detail/rounds.hpp>
#include <warpheap/designs/warp_slab/size_classes.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::detail {

/// One pass along the hints of a class, by all lanes of a group, each at a slab of its own.
///
/// Warps begin at scattered places. A pass ends when slabs have blocks, or when as many slabs as its limit allows had
/// none. It clears the hints that it followed in vain, so later passes soon come to the slabs that it did not reach.
///
/// Orders: `places` and entries of the table are acquired, so the slabs that they name are visible. A hint is hidden by
/// `slab_hints`, whose changes tell a search what it may have missed.
class slab_walk {
 public:
  using classes = slab_classes;

  WARPHEAP_FN explicit slab_walk(const arena& from) : rounds_(from) {}
  WARPHEAP_FN const slab_rounds& rounds() const { return rounds_; }
  WARPHEAP_FN const slab_growth& growth() const { return rounds_.growth(); }
  WARPHEAP_FN const slab_maker& maker() const { return rounds_.maker(); }
  WARPHEAP_FN const slab_runs& runs() const { return rounds_.runs(); }
  WARPHEAP_FN const slab_reclamation& reclamation() const { return rounds_.reclamation(); }
  WARPHEAP_FN const slab_sharing& sharing() const { return rounds_.sharing(); }
  WARPHEAP_FN const slab_probes& probes() const { return rounds_.probes(); }
  WARPHEAP_FN const slab_claims& claims() const { return rounds_.claims(); }
  WARPHEAP_FN const slab_hints& hints() const { return rounds_.hints(); }
  WARPHEAP_FN const slab_store& store() const { return rounds_.store(); }

  /// Where a pass is, and what it met.
  struct walk_part {           // in memory, so that it needs no registers
    std::uint32_t from, to;    // places [from, to) are left of the present part
    std::uint32_t slabs_left;  // how many more slabs the pass may look through
    bool met;                  // whether there was a hint
    bool lost;                 // whether blocks were seen that others had first
  };
  /// One pass along the hints, cyclic from a scattered place on, until slabs have blocks or `part` has no slabs
  /// left. Returns blocks for some of the lanes `wanting` of `group`, and null for all others. `part` tells all lanes
  /// what the pass met. Collective over `group`.
  WARPHEAP_COLD_FN void* pass(lane_mask group, lane_mask wanting, std::uint32_t c, walk_part& part) const {
    using enum memory_order;
    using enum thread_scope;
    std::uint32_t places = 0;
    if (is_leader(group)) places = atomic_view{store().of_class(c).places}.load(acquire, device);
    places = shuffle(group, places, leader(group));
    if (places == 0) return nullptr;
    // Warps spread over all slabs. If neighbours began side by side, all warps of a large grid would go after each
    // other, and thousands would follow each hint in vain.
    const std::uint32_t begin = split(std::uint64_t{spread(grid_warp_index())} * places).high;
    part.from = begin;
    part.to = places;
    void* found = nullptr;
    while (walk_on(group, wanting, c, part, found)) {  // not a spin: each turn goes on to later places
    }
    if (begin != 0 && part.slabs_left != 0 && !any(group, found != nullptr)) {
      part.from = 0;
      part.to = begin;
      while (walk_on(group, wanting, c, part, found)) {  // not a spin: each turn goes on to later places
      }
    }
    return found;
  }

 private:
  static constexpr std::uint32_t no_unit = ~0u;

  // One turn of a pass, with the next hints of a part of the places; true if there is reason for another. Collective.
  WARPHEAP_COLD_FN bool walk_on(lane_mask group, lane_mask wanting, std::uint32_t c, walk_part& part,
                                void*& found) const {
    std::uint64_t members = 0;
    if (is_leader(group)) part.from = next_place(c, part.from, part.to, members);
    part.from = shuffle(group, part.from, leader(group));
    if (part.from >= part.to) return false;
    part.met = true;
    members = shuffle(group, members, leader(group));
    const int lanes = group_size(group);
    const int most = part.slabs_left < static_cast<std::uint32_t>(lanes) ? static_cast<int>(part.slabs_left) : lanes;
    const int count = popcount(members) < most ? popcount(members) : most;
    const int rank = group_rank(group);
    const std::uint32_t place = part.from + nth_mark(members, rank);
    part.from += nth_mark(members, count);
    part.slabs_left -= static_cast<std::uint32_t>(count);
    found = take_from_slabs(group, wanting, c, place, rank < count, part.lost);
    return part.slabs_left != 0 && !any(group, found != nullptr);
  }
  // Blocks for some of the lanes `wanting`, of the slabs at `place` of each lane whose `looks` is true, or null for
  // all. Sets `lost` if free blocks were seen: if none was got, others had them first. Hides slabs without blocks, and
  // drops places without a shown hint. Collective over `group`.
  WARPHEAP_COLD_FN void* take_from_slabs(lane_mask group, lane_mask wanting, std::uint32_t c, std::uint32_t place,
                                         bool looks, bool& lost) const {
    slab_look look{};
    std::uint32_t unit = no_unit;
    if (looks) look = look_through(c, place, unit);
    stop_point("warp_slab.take_from_slabs.looked");
    void* const found = sharing().share(group, wanting, c, look);
    lost = any(group, look.free_bits != 0) || lost;
    if (unit != no_unit && look.free_bits == 0) hints().hide(c, place, unit);
    return found;
  }
  // The first place in [from, to) whose bit is set, or `to`. `members` becomes the bits of the set from that place to
  // the end of its leaf, without those at `to` or above. One lane.
  WARPHEAP_COLD_FN std::uint32_t next_place(std::uint32_t c, std::uint32_t from, std::uint32_t to,
                                            std::uint64_t& members) const {
    constexpr std::uint32_t bits = bit_tree::leaf_bits;
    const bit_tree some = store().hinted(c);
    for (std::uint32_t leaf = 0; from < to && some.next_leaf(from / bits, leaf); from = (leaf + 1) * bits) {
      if (leaf != from / bits) from = leaf * bits;
      if (from >= to) break;
      members = some.leaf_word(leaf) >> from % bits;
      if (members == 0) continue;
      const int skipped = lowest_bit(members);
      from += static_cast<std::uint32_t>(skipped);
      members >>= skipped;
      if (from >= to) break;
      if (to - from < bits) members &= bit_range(0, to - from);
      return from;
    }
    members = 0;
    return to;
  }
  // Looks through the slab at `place` for a word with free blocks, and sets `unit` to the slab's first unit. If no slab
  // with a shown hint is there, it takes the place out of the set and leaves `unit` as it is. One lane.
  WARPHEAP_COLD_FN slab_look look_through(std::uint32_t c, std::uint32_t place, std::uint32_t& unit) const {
    using enum memory_order;
    using enum thread_scope;
    const std::uint32_t entry = store().table(c, place).load(acquire, device);
    if (entry == 0 || !slab_hint{atomic_view{store().header(entry - 1).hint}.load(relaxed, device)}.shown()) {
      hints().drop_place(c, place);
      return {};
    }
    unit = entry - 1;
    slab_look look{};
    for (std::uint32_t w = 0; w < store().words_of(c) && look.free_bits == 0; w += slab_probes::looks_at_once) {
      look = look_from(c, unit, w);
    }
    return look;
  }
  // Looks at the next few words of a slab of which `looked` have been looked at. Warps that come to one slab begin at
  // different words. One lane.
  WARPHEAP_COLD_FN slab_look look_from(std::uint32_t c, std::uint32_t unit, std::uint32_t looked) const {
    return probes().look_at(c, unit, looked + grid_warp_index(), store().words_of(c) - looked);
  }

  slab_rounds rounds_;
};

}  // namespace warpheap::detail
