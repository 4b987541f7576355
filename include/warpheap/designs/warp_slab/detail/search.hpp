// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/warp_slab/detail/walk.hpp>
#include <warpheap/designs/warp_slab/size_classes.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>
#include <warpheap/sync.hpp>

namespace warpheap::detail {

/// Searches along the hints: at a few slabs as long as the class can be extended, and at all before a refusal.
///
/// Invariant: `find` returns null for all lanes only if at one moment of the call no slab of the class had a free
/// block. A pass that met no hint at all, while none was about to change, saw all of them cleared at one moment.
///
/// All functions are collective. `find` waits for changes under way, which wait for no other thread.
class slab_search {
 public:
  using classes = slab_classes;
  using walk_part = slab_walk::walk_part;

  WARPHEAP_FN explicit slab_search(const arena& from) : walk_(from) {}
  WARPHEAP_FN const slab_walk& walk() const { return walk_; }
  WARPHEAP_FN const slab_rounds& rounds() const { return walk_.rounds(); }
  WARPHEAP_FN const slab_growth& growth() const { return walk_.growth(); }
  WARPHEAP_FN const slab_maker& maker() const { return walk_.maker(); }
  WARPHEAP_FN const slab_runs& runs() const { return walk_.runs(); }
  WARPHEAP_FN const slab_reclamation& reclamation() const { return walk_.reclamation(); }
  WARPHEAP_FN const slab_sharing& sharing() const { return walk_.sharing(); }
  WARPHEAP_FN const slab_claims& claims() const { return walk_.claims(); }
  WARPHEAP_FN const slab_hints& hints() const { return walk_.hints(); }
  WARPHEAP_FN const slab_store& store() const { return walk_.store(); }

  /// Goes along the hints for each lane that `looks`: returns a block that was found for the lane, else `found`. `lost`
  /// becomes true if free blocks were seen that others had first, and no units are free to make a slab of. Collective
  /// over `group`; the lanes of each class go by themselves, side by side with those of other classes.
  WARPHEAP_COLD_FN void* follow_hints(lane_mask group, std::uint32_t c, bool looks, void* found, bool& lost) const {
    using enum memory_order;
    using enum thread_scope;
    // So many slabs without blocks are looked through as long as there is memory for more slabs. That bounds the wait
    // of a warp that comes after many others. Each pass clears the hints that it followed in vain, so later searches
    // come to the slabs that it did not reach.
    constexpr std::uint32_t most_slabs = 4;
    // One lane tells, since all have to go the same way.
    const std::uint32_t in_slabs =
        is_leader(group) ? atomic_view{store().control().slab_units}.load(relaxed, device) : 0;
    const bool full = any(group, in_slabs >= store().control().units);
    walk_part part{0, 0, full ? ~0u : most_slabs, false, false};
    lane_mask peers = match(group, looks ? c : classes::count);
    if (looks) found = walk().pass(peers, peers, c, part);
    const lane_mask reconverged = reconverge(group);
    const lane_mask served = ballot(reconverged, found != nullptr);
    const bool again = looks && (served & peers) == 0 && (part.slabs_left == 0 || part.lost);
    if (!any(reconverged, again)) return found;
    if (!is_without_place(reconverged, c, again)) peers = 0;
    return follow_all(group, peers, c, part, found, lost);
  }
  /// A block for at least one of the lanes `wanting` of `group`, and null for the others; null for all if at one moment
  /// of the call no slab of the class had a free block. Collective over `group`.
  ///
  /// A pass that met no hint at all, while none was about to change, saw all of them cleared at one moment. A thread
  /// that released a block before that would have set one.
  WARPHEAP_COLD_FN void* find(lane_mask group, lane_mask wanting, std::uint32_t c) const {
    void* found = nullptr;
    while (!search_once(group, wanting, c, found)) backoff{}.pause();  // not a spin: it searches anew
    sync(group);
    return found;
  }

 private:
  // One pass of `find`; false if it found no block and may have missed one. Collective.
  WARPHEAP_COLD_FN bool search_once(lane_mask group, lane_mask wanting, std::uint32_t c, void*& found) const {
    bit_tree::quiescence_snapshot before{};
    if (is_leader(group)) before = hints().begin_snapshot(c);
    sync(group);
    walk_part part{0, 0, ~0u, false, false};
    found = walk().pass(group, wanting, c, part);
    bool exact = found != nullptr;
    if (is_leader(group)) exact = exact || (!part.met && hints().was_quiescent(c, before));
    const lane_mask reconverged = reconverge(group);
    return any(reconverged, exact);
  }
  // A second pass for `peers`, along all hints, if the first one reached its limit and no units for a slab are free.
  // Tells whether blocks were `lost`. Without peers the caller has no part in it. Collective over `group`.
  WARPHEAP_COLD_FN void* follow_all(lane_mask group, lane_mask peers, std::uint32_t c, walk_part& part, void* found,
                                    bool& lost) const {
    if (peers != 0 && part.slabs_left == 0) {
      part.slabs_left = ~0u;
      found = walk().pass(peers, peers, c, part);
    }
    lost = peers != 0 && part.lost;
    sync(group);
    return found;
  }
  // True for each lane that `asks` if no units seem to be free for a slab of its class `c`; false for others.
  // Collective.
  WARPHEAP_COLD_FN bool is_without_place(lane_mask group, std::uint32_t c, bool asks) const {
    bool without = false;
    for (lane_mask rest = ballot(group, asks); rest != 0;) {  // not a spin: one turn a class
      const std::uint32_t of = shuffle(group, c, leader(rest));
      if (!has_place(group, of) && asks && c == of) without = true;
      rest &= ~ballot(reconverge(group), c == of);
    }
    return without;
  }
  // True if units seem to be free for a slab of class `c`, which is the same for all lanes. Collective.
  WARPHEAP_COLD_FN bool has_place(lane_mask group, std::uint32_t c) const {
    return store().free_units().has_block(group, store().units_of(c));
  }

  slab_walk walk_;
};

}  // namespace warpheap::detail
