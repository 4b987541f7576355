// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/warp_slab/warp_slab.hpp>

// The cold way of a request: blocks that the hot way did not find, neither in the cached word nor by one probe of each
// lane.
//
// A warp that asks for the first time in the launch in which its classes begin draws tickets at once: others do so,
// too, and hardly any block is free, unless threads have ended before. Probes would find blocks that others made for
// their tickets. A group without a cache entry that gets no block by tickets begins with a look of each lane at several
// words, in place of the hot way's probe. Then each lane probes one word: few lanes lack a block afterwards, unless
// hardly any block is free. As long as some lanes see free blocks, a few looks at several words follow. If they see
// none, tickets are drawn. Then comes a look at several words of the latest slabs, which are the likeliest to have
// blocks where a class has just grown. Then hints lead on, in turns. A turn that finds nothing draws tickets, or ends
// with the class extended or refused.

namespace warpheap {

// A block for each lane of `group`: `found` or, if that is null, a block of class `c`, or null if the class is refused.
// `got` is the lane's claim on the hot way. If that is stale, the lane puts its blocks back. If its word is
// `slab_claim::nowhere` for all lanes of the group, their warp had no cache entry and has not probed yet. Collective.
WARPHEAP_COLD_FN inline void* warp_slab::take_elsewhere(lane_mask group, std::uint32_t c, slab_claim got,
                                                        void* found) const {
  group = reconverge(group);
  constexpr std::uint32_t most = 3;
  if (got.stale()) hints().put_back_of(hints(), got);
  found = take_uncached(group, c, found);
  if (!any(group, found == nullptr)) return found;
  if (!any(group, got.word != slab_claim::nowhere)) {  // it had no cache entry, so it has not probed yet
    rounds().look_on(group, look_kind::anywhere, most, c, found);
    if (!any(group, found == nullptr)) return found;
  }
  bool more = rounds().look_on(group, look_kind::quick, 0, c, found);
  for (std::uint32_t round = 0; more && round < most; ++round) {
    more = rounds().look_on(group, look_kind::anywhere, round, c, found);
  }
  if (!any(group, found == nullptr)) return found;
  if (!more) {
    bool there = false;
    found = tickets().take(group, c, lacks_slabs(group, c, found == nullptr), found, there);
    if (!any(group, found == nullptr)) return found;
  }
  rounds().look_on(group, look_kind::latest, 0, c, found);
  if (!any(group, found == nullptr)) return found;
  return take_along_hints(group, c, found);
}

// Blocks by tickets, for a warp that has no cache entry in any class that its lanes want, if all these classes begin,
// and the warp has not come the cold way in this launch before: `found`, or a block, or null. So a warp draws without a
// probe once a launch, also if it wants many sizes, or loses its cache entries to others in a small heap. Warps that
// run after others first look at the blocks that came back. Collective.
WARPHEAP_COLD_FN inline void* warp_slab::take_uncached(lane_mask group, std::uint32_t c, void* found) const {
  using enum memory_order;
  using enum thread_scope;
  bool asks = found == nullptr;
  // None of these loads depends on another one: a first kernel waits for all of them once.
  const slab_contention last{store().contention().load(relaxed, device)};
  const slab_cache_entry named{store().cache_entry(c).load(relaxed, device)};
  const detail::slab_ledger& ledger = tickets().ledger();
  const bool begins = asks && ledger.begins(c);
  const bool first = begins && !named.is_of(c) && ledger.serves(c) && !last.came_now();
  if (!all(group, !asks || first)) return found;
  if (is_leader(group)) store().contention().store(last.after_draw().value, relaxed, device);
  if (!runs_from_the_start()) found = rounds().look_at_older(group, c, asks, found);
  const lane_mask asking = ballot(group, asks);
  if (asking == 0) return found;
  const std::uint32_t of_one = shuffle(group, c, leader(asking));
  if (ballot(group, asks && c == of_one) == asking && ledger.has_whole_words(of_one)) {
    return tickets().take_for_one_class(group, asking, of_one, found);
  }
  bool there = false;
  return tickets().take(group, c, asks, found, there);
}

// True for a lane whose `wants` is true if its class `c` seems to be full. The last look saw no free block, so that
// holds if the probes of the class were many, counted as two for each lane of `group`, or if the class has no slab. Few
// probes prove little: they may have read some words twice and others not at all, and hints lead to all words.
// Collective.
WARPHEAP_COLD_FN inline bool warp_slab::lacks_slabs(lane_mask group, std::uint32_t c, bool wants) const {
  using enum memory_order;
  using enum thread_scope;
  constexpr std::uint32_t many = 32;  // probes for a class
  const lane_mask peers = match(group, wants ? c : classes::count);
  const int wanted = group_size(ballot(group, wants && is_leader(peers)));
  if (!wants) return false;
  const std::uint32_t probes = 2 * static_cast<std::uint32_t>(group_size(group) / wanted);
  return probes >= many || atomic_view{store().of_class(c).places}.load(relaxed, device) == 0;
}

// A block for each lane of `group`: `found` or, if that is null, a block of class `c`, or null if the class is refused.
// Collective.
WARPHEAP_COLD_FN inline void* warp_slab::take_along_hints(lane_mask group, std::uint32_t c, void* found) const {
  bool wants = found == nullptr;
  // Not a spin: for each class that is wanted a turn serves a lane, or waits until the class is extended or refused.
  for (std::uint32_t turn = 0; any(group, wants); ++turn) {
    if (take_or_extend(group, c, turn, wants, found) == outcome::refused) wants = false;
    wants = wants && found == nullptr;
    sync(group);
  }
  return found;
}

// One turn of `take_along_hints`, for lanes whose `wants` is true: `found` becomes a block or stays null. Returns
// `refused` to a lane whose class has none for it. Collective.
WARPHEAP_COLD_FN inline auto warp_slab::take_or_extend(lane_mask group, std::uint32_t c, std::uint32_t turn, bool wants,
                                                       void*& found) const -> outcome {
  // Acquired before the looks, so that they see the slabs of the extensions that it counts.
  const std::uint32_t generation =
      atomic_view{store().of_class(c).generation}.load(memory_order::acquire, thread_scope::device);
  sync(group);
  const lane_mask peers = match(group, wants ? c : classes::count);
  if (turn != 0) found = rounds().look_again(group, c, turn, found);
  bool lost = false;
  found = search().follow_hints(group, c, wants && found == nullptr, found, lost);
  wants = wants && found == nullptr;
  // If a lane of the class was served, or others had the blocks first, there may be more: the class is not exhausted.
  const lane_mask rest = ballot(group, wants);
  bool exhausted = wants && (peers & ~rest) == 0 && !lost;
  if (!any(group, exhausted)) return outcome::served;
  bool there = false;
  found = tickets().take(group, c, exhausted, found, there);
  exhausted = exhausted && !there && found == nullptr;
  return any(group, exhausted) ? extension().extend(group, c, exhausted, generation, found) : outcome::served;
}

}  // namespace warpheap
