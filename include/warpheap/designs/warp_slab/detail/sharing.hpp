// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/warp_slab/detail/probes.hpp>
#include <warpheap/designs/warp_slab/size_classes.hpp>
#include <warpheap/platform/device.hpp>

namespace warpheap::detail {

/// Turns what lanes of a group saw free into blocks of the lanes that lack one.
///
/// Lanes that have their block probe for those that lack one, by equal parts. A word that has enough for all peers is
/// preferred: it goes into the cache entry, so warps that take whole words come to have words of their own. Else each
/// lane that saw free blocks claims a part.
///
/// Invariant: a stale claim serves no lane, and stays with one lane, which puts it back.
///
/// The functions are collective, but for `whom_to_help`. A `reconverge` of the group passes on what the claiming lanes
/// acquired.
///
/// `take_anywhere` and what it calls have no loop; malloc.hpp says why.
class slab_sharing {
 public:
  using classes = slab_classes;

  WARPHEAP_FN explicit slab_sharing(const arena& from) : probes_(from) {}
  WARPHEAP_FN const slab_probes& probes() const { return probes_; }
  WARPHEAP_FN const slab_claims& claims() const { return probes_.claims(); }
  WARPHEAP_FN const slab_hints& hints() const { return probes_.hints(); }
  WARPHEAP_FN const slab_store& store() const { return probes_.store(); }

  /// Probes one word by each lane of `group`, and claims what was seen for the lanes whose `block` is null. Sets
  /// `block` of each lane that is served. Collective.
  ///
  /// `got` comes in as the claim of the word in the lane's cache entry. A lane whose `got` is stale keeps it, and is
  /// not served: it has to put these blocks back first. For another lane that lacks a block, `got` becomes the claim
  /// that the lane answers for, which may be stale, or else `slab_claim::searched`. `c` is unspecified for lanes that
  /// had their block before.
  ///
  /// Lanes that have their block probe for those that lack one, by equal parts. So this takes one look and one claim,
  /// however many classes are wanted, and the fewer lanes lack a block, the more words are read for each. The looks are
  /// scattered over all slabs, and a warp updates its cache entry to a word that has spare blocks. So warps that share
  /// a crowded word part, and the words of a class fill evenly.
  WARPHEAP_FN void take_anywhere(lane_mask group, std::uint32_t& c, slab_claim& got, void*& block) const {
    const lane_mask lacking = ballot(group, block == nullptr && !got.stale());
    if (lacking == 0) return;
    const slab_look look = look_for(group, lacking, block == nullptr, got.word, c);
    take_seen<true>(group, lacking, c, look, got, block);
  }
  /// Probes a word: of the caller's class `c` if it `looks` for itself, else of the class of one of the lanes `lacking`
  /// a block, which `c` becomes. `salt` is a number that differs from look to look. Collective.
  WARPHEAP_FN slab_look look_for(lane_mask group, lane_mask lacking, bool looks, std::uint32_t salt,
                                 std::uint32_t& c) const {
    const int whom = whom_to_help(lacking, looks);
    salt = shuffle(group, salt, whom);
    c = shuffle(group, c, whom);
    return probes().look_anywhere(c, salt + grid_warp_index() * warp_width + static_cast<std::uint32_t>(lane_index()));
  }
  /// The lane for which the caller looks: its own, or one of those that are `lacking` a block, by equal parts.
  WARPHEAP_FN static int whom_to_help(lane_mask lacking, bool looks) {
    const auto lane = static_cast<std::uint32_t>(lane_index());
    const auto part = static_cast<int>(lane * static_cast<std::uint32_t>(group_size(lacking)) / warp_width);
    return looks ? static_cast<int>(lane) : nth_set_bit(lacking, part);
  }
  /// Claims blocks for the lanes `lacking` one, of the words that the lanes saw: `look` is of each lane, for its class
  /// `c`. The blocks are of one word, if one has enough for all that want the class, else each of another word. `hot`:
  /// a stale claim stays in `got`; else its blocks go back at once. Collective.
  template <bool hot>
  WARPHEAP_FN void take_seen(lane_mask group, lane_mask lacking, std::uint32_t c, slab_look look, slab_claim& got,
                             void*& block) const {
    constexpr int room_to_spare = 12;  // blocks beyond those wanted: some for a few more warps
    const lane_mask helpers = match(group, c);
    const lane_mask wanting = helpers & lacking;
    const int wanted = group_size(wanting);
    const int spare = popcount(look.free_bits) - wanted;
    lane_mask finders = ballot(group, look.free_bits != 0) & helpers;
    lane_mask best = ballot(group, spare >= 0) & helpers;
    // Not where few words have enough: all warps would then crowd into the same few that have more.
    const lane_mask plenty = ballot(group, spare >= room_to_spare) & helpers;
    if (plenty != 0 && 2 * group_size(best) > group_size(helpers)) best = plenty;
    if (best != 0) finders = lowest_alone(best);
    slab_claim found;
    if ((finders & lane_bit()) != 0 && group_rank(finders) < wanted) {
      const std::uint32_t asked = best != 0 ? static_cast<std::uint32_t>(wanted) : 1;
      if constexpr (hot) {
        found = claims().claim_and_cache(c, look, asked);
      } else {
        found = claims().claim_cold(c, look, asked);  // on the cold way what is stale goes back at once
      }
    }
    const lane_mask reconverged = reconverge(group);  // what the finders acquired is acquired for all
    const int rank = group_rank(wanting);
    // The source lane of the caller's block, and the block's index in that claim: of one claim each lane takes the
    // next, or each lane has a claim of its own.
    const int turn = best != 0 ? 0 : rank;
    const int nth = best != 0 ? rank : 0;
    const bool is_there = turn < group_size(finders);
    const int source = is_there ? nth_set_bit(finders, turn) : lane_index();
    found = {shuffle(reconverged, found.word, source), shuffle(reconverged, found.blocks, source)};
    if ((lacking & lane_bit()) == 0) return;
    constexpr slab_claim none{slab_claim::searched, 0};
    if (!is_there) found = none;
    if (found.serves(nth)) block = claims().block_of(classes::bytes(c), found, nth);
    got = nth == 0 ? found : none;  // one lane for each claim
  }
  /// Claims blocks of class `c` of the words in which lanes of `group` saw free ones, for the lanes `wanting` of it; a
  /// block for each of these that got one, and null for all others. Collective.
  ///
  /// One word for all if there is one that has enough: it goes into the cache entry, so warps that take whole words
  /// come to have words of their own. Else each finder takes what some of them want, since few may see much.
  WARPHEAP_COLD_FN void* share(lane_mask group, lane_mask wanting, std::uint32_t c, slab_look look) const {
    const int wanted = group_size(wanting);
    const int room = popcount(look.free_bits);
    const lane_mask enough = ballot(group, room >= wanted);
    const lane_mask some = ballot(group, room != 0);
    const lane_mask finders = enough != 0 ? lowest_alone(enough) : some;
    const int rank = group_rank(finders);
    slab_claim got;
    if ((finders & lane_bit()) != 0 && rank < wanted) {
      // `wanted` blocks are dealt by turns among the finders, and this finder claims one for each turn that reaches it.
      const int turns = part_of(wanted - rank - 1, group_size(finders)).turn + 1;
      got = claims().claim_cold(c, look, static_cast<std::uint32_t>(turns));
    }
    return deal(group, finders, wanting, c, got);
  }

 private:
  struct dealt {
    int turn, finder;
  };

  // Turn in which the `rank`-th block is dealt when `count` finders deal by turns, and the index of the finder that
  // deals it.
  WARPHEAP_COLD_FN static dealt part_of(int rank, int count) {
    if (count == 1) return {rank, 0};
    if (rank < count) return {0, rank};
    return {rank / count, rank % count};
  }
  // A block for each lane of `wanting`, as far as the claims of `finders` go; null for all others. The wanting lanes
  // are dealt to the finders by turns. Collective over `group`.
  WARPHEAP_COLD_FN void* deal(lane_mask group, lane_mask finders, lane_mask wanting, std::uint32_t c,
                              slab_claim got) const {
    const lane_mask reconverged = reconverge(group);  // what the finders acquired is acquired for all
    dealt mine{0, 0};
    if (finders != 0) mine = part_of(group_rank(wanting), group_size(finders));
    const int source = finders != 0 ? nth_set_bit(finders, mine.finder) : lane_index();
    got.word = shuffle(reconverged, got.word, source);
    got.blocks = shuffle(reconverged, got.blocks, source);
    const bool wants = (wanting & lane_bit()) != 0;
    return wants && mine.turn < popcount(got.blocks) ? claims().block_of(classes::bytes(c), got, mine.turn) : nullptr;
  }

  slab_probes probes_;
};

}  // namespace warpheap::detail
