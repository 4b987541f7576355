// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/warp_slab/detail/growth.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>
#include <warpheap/sync.hpp>

namespace warpheap::detail {

/// More slabs for a class before it is out of blocks.
///
/// Where threads malloc and free by turns, a warp finds what it wants in its cached word as long as enough of the class
/// is free. A class that grows only when nothing is found comes to be all but full, and then most claims of cached
/// words fail. So a class whose words are seen to be crowded is given more slabs, if the warp that sees it has come
/// this way before: in the same launch or, in a grid of more than 2^18 threads, in an earlier one. No request depends
/// on that: it only makes later calls quicker. It ends when a class has a 16th of the heap, or all classes together
/// half of it, so that one class does not keep in store what others lack. Beyond that, and for warps that come for the
/// first time, only tickets and `slab_extension` add slabs.
///
/// The slabs are made for tickets that nobody holds, with the ledger open: others go on drawing. For warps that came in
/// an earlier launch, one group of a launch grows a class. For warps that came in the same launch, the heap's lock
/// keeps groups from growing a class side by side, and no group waits for it. The lock's holder closes the ledger of a
/// class of which no tickets are drawn, and then waits for threads that make slabs for earlier tickets. These wait for
/// no other thread.
///
/// All lanes of a group call together.
class slab_headroom {
 public:
  using look_kind = slab_probes::look_kind;

  WARPHEAP_FN explicit slab_headroom(const arena& from) : growth_(from) {}
  WARPHEAP_FN const slab_growth& growth() const { return growth_; }
  WARPHEAP_FN const slab_maker& maker() const { return growth_.maker(); }
  WARPHEAP_FN const slab_runs& runs() const { return growth_.runs(); }
  WARPHEAP_FN const slab_reclamation& reclamation() const { return growth_.reclamation(); }
  WARPHEAP_FN const slab_sharing& sharing() const { return growth_.sharing(); }
  WARPHEAP_FN const slab_probes& probes() const { return growth_.probes(); }
  WARPHEAP_FN const slab_claims& claims() const { return growth_.claims(); }
  WARPHEAP_FN const slab_hints& hints() const { return growth_.hints(); }
  WARPHEAP_FN const slab_store& store() const { return growth_.store(); }

  /// Adds slabs to a class that seems crowded to the lanes of `group`: `free_bits` has a bit for each free block that
  /// the caller saw in a word of class `c`. Collective.
  WARPHEAP_COLD_FN void make_room(lane_mask group, std::uint32_t c, std::uint32_t free_bits) const {
    const auto seen = static_cast<std::uint32_t>(popcount(free_bits));
    if (!any(group, seen < room_within_launch)) return;
    const std::uint32_t enough = enough_room(group);
    const lane_mask peers = match(group, c);
    const int seldom = group_size(ballot(group, seen < enough) & peers);
    const bool asks = 2 * seldom > group_size(peers) && is_leader(peers) && may_have_room(c);
    const lane_mask askers = ballot(group, asks);
    if (askers == 0) return;
    c = shuffle(group, c, leader(askers));
    if (is_crowded(group, c, enough)) add_room(group, c, enough == room_within_launch);
  }

 private:
  static constexpr std::uint32_t room_within_launch = 8;  // free blocks a word, of 32
  static constexpr std::uint32_t room_between_launches = 4;

  // How many free blocks of 32 a word should have for the caller's warp: 8 if the warp has come this way in this
  // launch, since its threads malloc and free by turns, and where a quarter is free, claims of cached words seldom
  // fail. 4 if it came in an earlier launch, in a grid of which only a part runs at once. Else 0: where threads ask for
  // the first time, the class is crowded because they fill it themselves. Notes the look in the warp's contention
  // record. Collective.
  WARPHEAP_COLD_FN std::uint32_t enough_room(lane_mask group) const {
    using enum memory_order;
    using enum thread_scope;
    slab_contention last{};
    if (is_leader(group)) {
      last = {store().contention().load(relaxed, device)};
      const slab_contention next = last.after_look();
      if (next.value != last.value) store().contention().store(next.value, relaxed, device);
    }
    last.value = shuffle(group, last.value, leader(group));
    if (last.looked_now()) return room_within_launch;
    const bool came_before = last.value != 0 && !last.came_now();
    return came_before && has_more_threads_than_run() ? room_between_launches : 0;
  }
  // True if the caller's warp is one of those that look closer at class `c`, and the class may grow ahead of need: it
  // has less than a 16th of the heap, and all slabs less than half. One lane.
  WARPHEAP_COLD_FN bool may_have_room(std::uint32_t c) const {
    using enum memory_order;
    using enum thread_scope;
    constexpr std::uint32_t share_of_heap = 16;
    // A warp without a cache entry asks for the first time.
    const slab_cache_entry named{store().cache_entry(c).load(relaxed, device)};
    if (!named.is_of(c) || !is_picked(named.word(c))) return false;
    const std::uint64_t places = atomic_view{store().of_class(c).places}.load(relaxed, device);
    return places * store().units_of(c) * share_of_heap < store().control().units && store().has_room();
  }
  // True if the words of a sample of the class have fewer than `enough` free blocks each, and more than an eighth of
  // that. With fewer the class is full, and `extend` knows better what it needs. Collective.
  WARPHEAP_COLD_FN bool is_crowded(lane_mask group, std::uint32_t c, std::uint32_t enough) const {
    constexpr std::uint32_t sample = 24;  // words
    constexpr std::uint32_t unused = 8;   // other looks have lower round numbers
    std::uint32_t free_blocks = 0;
    std::uint32_t words = 0;
    for (std::uint32_t round = unused; words < sample; ++round) {
      probes().look_around(c, look_kind::anywhere, round, free_blocks);
      words += slab_probes::looks_at_once * static_cast<std::uint32_t>(group_size(group));
    }
    const std::uint32_t all = reduce(group, free_blocks, plus{});
    return all < words * enough && all > words * enough / 8;
  }
  // Adds slabs that no thread waits for. `within_launch`: half as many as the class has, by one group of the heap at a
  // time. Else a smaller part, by the first group that asks in a launch. All other groups go on. Collective.
  WARPHEAP_COLD_FN void add_room(lane_mask group, std::uint32_t c, bool within_launch) const {
    std::uint32_t slabs = 0;
    if (is_leader(group)) slabs = within_launch ? half_of(c) : maker().ledger().slabs_ahead(c, false, 1);
    slabs = shuffle(group, slabs, leader(group));
    if (slabs == 0) return;
    if (!within_launch && growth().tickets().make_ahead(group, c, slabs)) {
      announce(group, c);
    } else {
      store().control().lock.try_hold(group, [&] { add_slabs(group, c, slabs); });
    }
  }
  // Adds slabs: for tickets that nobody holds or, if none are drawn of the class, with its ledger closed. The lock's
  // holder. Collective.
  WARPHEAP_COLD_FN void add_slabs(lane_mask group, std::uint32_t c, std::uint32_t slabs) const {
    bool added = growth().tickets().make_ahead(group, c, slabs);
    if (!added) {
      const bool was_open = reclamation().compaction().close_ledger(group, c);
      added = maker().add_slabs(group, c, slabs);
      sync(group);  // the leader releases with the generation what all lanes did
      if (was_open && is_leader(group)) maker().ledger().open(c);
    }
    if (added) announce(group, c);
  }
  // Tells waiting warps to look again, after a `sync` of all lanes that added slabs. Releases. Collective.
  WARPHEAP_COLD_FN void announce(lane_mask group, std::uint32_t c) const {
    if (!is_leader(group)) return;
    atomic_view{store().of_class(c).generation}.fetch_add(1, memory_order::release, thread_scope::device);
  }
  // Half as many slabs as the class has, but no more than a warp makes within some ten microseconds.
  WARPHEAP_COLD_FN std::uint32_t half_of(std::uint32_t c) const {
    constexpr std::uint32_t most = 2048;  // steps
    const std::uint32_t steps = store().words_of(c) > store().units_of(c) ? store().words_of(c) : store().units_of(c);
    const std::uint32_t places =
        atomic_view{store().of_class(c).places}.load(memory_order::relaxed, thread_scope::device);
    const std::uint32_t half = places / 2 + 1;
    return half < most / steps ? half : most / steps;
  }
  // True for one of eight pairs of a warp and its cached word: few warps look closer, since that takes time.
  WARPHEAP_FN static bool is_picked(std::uint32_t word) {
    constexpr std::uint32_t one_in = 8;
    return (spread(word + grid_warp_index()) >> 16) % one_in == 0;
  }

  slab_growth growth_;
};

}  // namespace warpheap::detail
