// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/warp_slab/detail/ledger.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/sync.hpp>

namespace warpheap::detail {

/// Closes gaps in a table of places. Probes read places at random, and a probe of a place without a slab is lost. If a
/// class had most of the heap once, and has little now, that would be nearly all probes.
///
/// Slabs at the last places move to the gaps that others have left. Only the place of a slab changes, and no memory of
/// its blocks. A thread that comes by the old place finds it vacant. A search along the hints may miss the slab in
/// between; the move is a change, so the search knows. A thread that sets or clears the slab's hint meanwhile reads the
/// place from the hint, in the same operation. So the bit that it sets is of the slab's present place, or the mover
/// sets that bit.
///
/// Invariant: afterwards the first `places` places have slabs. The group of the heap's lock holder calls it.
///
/// Orders: the lock passes on the headers of slabs that other holders made, and the close of the ledger those of
/// tickets. The new entry and `places` are released, so a walk that acquires them sees these headers. The hint changes
/// by an RMW that acquires and releases, as those of threads that show or hide the slab do: of two the later sees the
/// earlier. The old entry is cleared relaxed: a thread that still sees it comes to the slab by its old place, and one
/// that sees it vacant looks elsewhere.
class slab_compaction {
 public:
  WARPHEAP_FN explicit slab_compaction(const arena& from) : ledger_(from) {}
  WARPHEAP_FN const slab_ledger& ledger() const { return ledger_; }
  WARPHEAP_FN const slab_sharing& sharing() const { return ledger_.sharing(); }
  WARPHEAP_FN const slab_probes& probes() const { return ledger_.probes(); }
  WARPHEAP_FN const slab_claims& claims() const { return ledger_.claims(); }
  WARPHEAP_FN const slab_hints& hints() const { return ledger_.hints(); }
  WARPHEAP_FN const slab_store& store() const { return ledger_.store(); }

  /// Closes the ledger of class `c`, whose table has no gaps then; true if it was open. From then on, until the ledger
  /// is opened, only the caller adds slabs to the class. Waits for threads that make slabs for tickets, which wait for
  /// no other thread. The lock's holder. Collective.
  WARPHEAP_COLD_FN bool close_ledger(lane_mask group, std::uint32_t c) const {
    std::uint32_t gaps = 0;
    const bool closed = is_leader(group) && ledger().close(c, gaps);
    sync(group);  // the slabs of tickets are visible to all lanes
    gaps = shuffle(group, gaps, leader(group));
    if (gaps != 0) compact(group, c, ledger().opened_places(c), gaps);
    return any(group, closed);
  }

  /// Closes the gaps that `slabs` slabs have left, all of which lie at place `lowest` or above, and lowers `places` by
  /// `slabs`. The lock's holder, with the ledger closed. Collective.
  WARPHEAP_COLD_FN void compact(lane_mask group, std::uint32_t c, std::uint32_t lowest, std::uint32_t slabs) const {
    using enum memory_order;
    using enum thread_scope;
    const std::uint32_t places = atomic_view{store().of_class(c).places}.load(relaxed, device);
    const std::uint32_t left = places - slabs;
    const auto lanes = static_cast<std::uint32_t>(group_size(group));
    std::uint32_t gap = lowest;
    // As many slabs are above as gaps below, so none is left above when no gap is left.
    for (std::uint32_t from = left; from < places && gap < left; from += at_once * lanes) {
      fill_gaps(group, c, from, places, left, gap);
    }
    if (is_leader(group)) atomic_view{store().of_class(c).places}.store(left, release, device);
  }

 private:
  static constexpr std::uint32_t at_once = 8;  // entries that a lane reads before it waits for memory

  // Moves the slabs at the next places from `from` on, below `places`, to gaps below place `slabs`. From place `slabs`
  // on there are as many slabs as gaps below it, and no gap lies below `gap`. Collective.
  WARPHEAP_COLD_FN void fill_gaps(lane_mask group, std::uint32_t c, std::uint32_t from, std::uint32_t places,
                                  std::uint32_t slabs, std::uint32_t& gap) const {
    const auto lanes = static_cast<std::uint32_t>(group_size(group));
    from += static_cast<std::uint32_t>(group_rank(group));
    std::uint32_t some = slabs_among(c, from, places, lanes);
    while (any(group, some != 0)) {  // not a spin: each turn moves slabs, or goes on to later gaps
      const std::uint32_t to = next_gap(group, c, some != 0, slabs, gap);
      if (to < slabs) {
        move_place(c, from + static_cast<std::uint32_t>(lowest_bit(some)) * lanes, to);
        some &= some - 1;
      }
      sync(group);  // all see which gaps are filled
    }
  }
  // Which of the next few places below `places`, from `from` on and each `lanes` further, have slabs. One lane.
  WARPHEAP_COLD_FN std::uint32_t slabs_among(std::uint32_t c, std::uint32_t from, std::uint32_t places,
                                             std::uint32_t lanes) const {
    std::uint32_t entry[at_once];
    for (std::uint32_t i = 0; i < at_once; ++i) {
      const std::uint32_t place = from + i * lanes < places ? from + i * lanes : 0;
      entry[i] = store().table(c, place).load(memory_order::relaxed, thread_scope::device);
    }
    std::uint32_t some = 0;
    for (std::uint32_t i = 0; i < at_once; ++i) {
      if (entry[i] != 0 && from + i * lanes < places) some |= 1u << i;
    }
    return some;
  }
  // The place of a gap for each lane that `moves`; `slabs` for a lane that gets none, since there are too few among the
  // next places from `gap` on. Advances `gap` past places whose gaps are all used. Collective.
  WARPHEAP_COLD_FN std::uint32_t next_gap(lane_mask group, std::uint32_t c, bool moves, std::uint32_t slabs,
                                          std::uint32_t& gap) const {
    const std::uint32_t place = gap + static_cast<std::uint32_t>(group_rank(group));
    const bool vacant = place < slabs && store().table(c, place).load(memory_order::relaxed, thread_scope::device) == 0;
    const lane_mask gaps = ballot(group, vacant);
    const lane_mask movers = ballot(group, moves);
    if (group_size(gaps) <= group_size(movers)) gap += static_cast<std::uint32_t>(group_size(group));
    const bool served = moves && group_rank(movers) < group_size(gaps);
    const std::uint32_t to = shuffle(group, place, served ? nth_set_bit(gaps, group_rank(movers)) : lane_index());
    return served ? to : slabs;
  }
  // Moves the slab at place `from` to place `to`, which is vacant. One lane of the lock holder's group.
  WARPHEAP_COLD_FN void move_place(std::uint32_t c, std::uint32_t from, std::uint32_t to) const {
    using enum memory_order;
    using enum thread_scope;
    const std::uint32_t entry = store().table(c, from).load(relaxed, device);
    hints().begin_change(c);
    store().table(c, to).store(entry, release, device);
    const atomic_view view{store().header(entry - 1).hint};
    slab_hint seen{view.load(relaxed, device)};
    while (!view.compare_exchange(seen.value, seen.at(to).value, acq_rel,
                                  device)) {  // not a spin: another change came first
    }
    if (seen.shown()) store().hinted(c).insert(to);
    store().table(c, from).store(0, relaxed, device);
    store().hinted(c).erase(from);
    hints().end_change(c);
  }

  slab_ledger ledger_;
};

}  // namespace warpheap::detail
