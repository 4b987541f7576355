// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/warp_slab/detail/headroom.hpp>
#include <warpheap/designs/warp_slab/size_classes.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/sync.hpp>

namespace warpheap::detail {

/// Rounds of probes by all lanes of a group, where one probe of each lane found too little. They promise nothing: a
/// block that they miss costs only time.
///
/// All lanes that called together, with the same heap, stay together. Lanes that have their block help those that lack
/// one, since the probes are much work for one lane and little for a warp. A round writes nothing but claims and cache
/// entries. What it saw also tells how crowded a class is (`slab_headroom`).
class slab_rounds {
 public:
  using classes = slab_classes;
  using look_kind = slab_probes::look_kind;

  WARPHEAP_FN explicit slab_rounds(const arena& from) : headroom_(from) {}
  WARPHEAP_FN const slab_headroom& headroom() const { return headroom_; }
  WARPHEAP_FN const slab_growth& growth() const { return headroom_.growth(); }
  WARPHEAP_FN const slab_maker& maker() const { return headroom_.maker(); }
  WARPHEAP_FN const slab_runs& runs() const { return headroom_.runs(); }
  WARPHEAP_FN const slab_reclamation& reclamation() const { return headroom_.reclamation(); }
  WARPHEAP_FN const slab_sharing& sharing() const { return headroom_.sharing(); }
  WARPHEAP_FN const slab_probes& probes() const { return headroom_.probes(); }
  WARPHEAP_FN const slab_claims& claims() const { return headroom_.claims(); }
  WARPHEAP_FN const slab_hints& hints() const { return headroom_.hints(); }
  WARPHEAP_FN const slab_store& store() const { return headroom_.store(); }

  /// One look of each lane, and a claim for each lane whose `found` is null, which becomes its block or stays null.
  /// True if another look is worth while: a lane still lacks its block, and free blocks were seen. `round` is a number
  /// that differs among looks of one kind. Collective.
  WARPHEAP_COLD_FN bool look_on(lane_mask group, look_kind kind, std::uint32_t round, std::uint32_t c,
                                void*& found) const {
    const lane_mask lacking = ballot(group, found == nullptr);
    const slab_look look = look_alone(group, lacking, kind, round, c);
    found = take_seen_alone(group, lacking, c, look, found);
    if (kind == look_kind::quick) headroom().make_room(group, c, look.free_bits);
    group = reconverge(group);
    return any(group, found == nullptr) && any(group, look.free_bits != 0);
  }
  /// One look of each lane at the older half of the slabs, for lanes that ask while their classes begin. Returns a
  /// block that was found for the lane, else `found`. `asks` stays true for a lane whose class is to grow for it: it
  /// lacks its block, and less than a quarter is free of most words that were seen. Collective.
  ///
  /// So threads that run after others have ended take the blocks that these gave back, and where threads malloc and
  /// free by turns, claims of cached words seldom fail.
  WARPHEAP_COLD_FN void* look_at_older(lane_mask group, std::uint32_t c, bool& asks, void* found) const {
    constexpr int enough = 8;  // free blocks of a word
    const lane_mask lacking = ballot(group, asks);
    c = shuffle(group, c, slab_sharing::whom_to_help(lacking, asks));
    const std::uint32_t number = grid_warp_index() * warp_width + static_cast<std::uint32_t>(lane_index());
    slab_look look = probes().look_at_older(c, number);
    const lane_mask helpers = match(group, c);
    const lane_mask roomy = ballot(group, popcount(look.free_bits) >= enough) & helpers;
    const bool has_room = 2 * group_size(roomy) >= group_size(helpers);
    if (!has_room) look.free_bits = 0;
    found = take_seen_alone(group, lacking, c, look, found);
    asks = asks && found == nullptr && !has_room;
    return found;
  }
  /// The looks of a later turn, at home words and at the latest slabs: `found`, or what is found if that is null.
  /// Collective.
  WARPHEAP_COLD_FN void* look_again(lane_mask group, std::uint32_t c, std::uint32_t turn, void* found) const {
    found = take_at_home(group, c, found);
    if (any(group, found == nullptr)) look_on(group, look_kind::latest, turn, c, found);
    return found;
  }

 private:
  // Claims blocks of the home word for lanes that lack one and whose warp has no cache entry in the class: `found`, or
  // what was found. Collective.
  WARPHEAP_COLD_FN void* take_at_home(lane_mask group, std::uint32_t c, void* found) const {
    using enum memory_order;
    using enum thread_scope;
    const bool goes = found == nullptr && !slab_cache_entry{store().cache_entry(c).load(relaxed, device)}.is_of(c);
    const lane_mask goers = ballot(group, goes);
    if (goes) {
      const warp_request peers{match(goers, c)};
      slab_claim got;
      if (peers.leads()) got = claims().claim_home(c, peers.size());
      sync(goers);  // what the leaders acquired is acquired for all
      got = slab_claims::broadcast(goers, peers, got);
      const auto rank = static_cast<int>(peers.rank());
      if (rank < popcount(got.blocks)) found = claims().block_of(classes::bytes(c), got, rank);
    }
    sync(group);
    return found;
  }
  // The probe of `look_on`, with registers of its own: a kernel has as many as the largest function needs.
  WARPHEAP_COLD_FN slab_look look_alone(lane_mask group, lane_mask lacking, look_kind kind, std::uint32_t round,
                                        std::uint32_t& c) const {
    constexpr std::uint32_t far = 0x200000;  // above the numbers of all lanes in a grid of 2^21 threads
    const bool looks = (lacking & lane_bit()) != 0;
    if (kind == look_kind::quick) return sharing().look_for(group, lacking, looks, far, c);
    c = shuffle(group, c, slab_sharing::whom_to_help(lacking, looks));
    std::uint32_t free_blocks = 0;
    return probes().look_around(c, kind, round, free_blocks);
  }
  // The claims of `look_on`, with registers of their own.
  WARPHEAP_COLD_FN void* take_seen_alone(lane_mask group, lane_mask lacking, std::uint32_t c, slab_look look,
                                         void* found) const {
    slab_claim got;
    sharing().take_seen<false>(group, lacking, c, look, got, found);
    return found;
  }

  slab_headroom headroom_;
};

}  // namespace warpheap::detail
