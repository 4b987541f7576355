// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/warp_slab/detail/reclaim_job.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>
#include <warpheap/sync.hpp>

namespace warpheap::detail {

/// Takes back slabs without a block in use: their units become free, for any class and for runs.
///
/// It takes back about as many slabs as are wanted, since each costs time. Slabs at the highest places come first, so
/// that few others have to move when the table's gaps are closed. Groups that wait for the heap's lock help its holder:
/// see `slab_reclaim_job`.
///
/// Invariant: a slab is taken back only by a swap of all its words for zero, class included. If one of them is not
/// fully free, the others are restored. So no block of it is in use, and no thread mistakes it for a slab of its former
/// class.
///
/// Orders: two fences order the swaps of all words. They acquire the accesses of the threads that had the blocks, and
/// the set of free units passes these on.
class slab_reclamation {
 public:
  WARPHEAP_FN explicit slab_reclamation(const arena& from) : job_(from) {}
  WARPHEAP_FN const slab_reclaim_job& job() const { return job_; }
  WARPHEAP_FN const slab_compaction& compaction() const { return job_.compaction(); }
  WARPHEAP_FN const slab_ledger& ledger() const { return job_.ledger(); }
  WARPHEAP_FN const slab_sharing& sharing() const { return job_.sharing(); }
  WARPHEAP_FN const slab_probes& probes() const { return job_.probes(); }
  WARPHEAP_FN const slab_claims& claims() const { return job_.claims(); }
  WARPHEAP_FN const slab_hints& hints() const { return job_.hints(); }
  WARPHEAP_FN const slab_store& store() const { return job_.store(); }

  /// Takes back fully free slabs of the first class that has any, of about `units` units together; false if no class
  /// had one. The lock's holder. Collective.
  WARPHEAP_COLD_FN bool reclaim(lane_mask group, std::uint32_t units) const {
    bool found = false;
    for (std::uint64_t left = classes_with_whole(group); left != 0 && !found; left &= left - 1) {  // a turn a class
      found = reclaim_class(group, static_cast<std::uint32_t>(lowest_bit(left)), units);
    }
    sync(group);
    if (found && is_leader(group)) ++store().control().reclaims;
    return found;
  }

  /// As `reclaim`, for a caller whose request began when `earlier` attempts had begun: false at once if a later attempt
  /// found no class with such a slab. So one sweep serves all sizes that are asked for meanwhile. The lock's holder.
  /// Collective.
  WARPHEAP_COLD_FN bool reclaim_since(lane_mask group, std::uint32_t units, std::uint64_t earlier) const {
    if (any(group, is_leader(group) && store().control().swept > earlier)) return false;
    if (reclaim(group, units)) return true;
    if (is_leader(group)) store().control().swept = attempts_begun();
    return false;
  }

  /// True if the lock's holder has work to share. For groups that wait for the lock. Collective.
  WARPHEAP_COLD_FN bool has_work(lane_mask group) const { return any(group, is_leader(group) && job().has_leaves()); }
  /// Helps the lock's holder until no leaf is left to draw. It waits for no lane outside of `group`. Collective.
  WARPHEAP_COLD_FN void help(lane_mask group) const { take_leaves(group); }

 private:
  // The number of the latest attempt, which is the caller's: only the lock's holder begins one.
  WARPHEAP_FN std::uint64_t attempts_begun() const {
    return atomic_view{store().control().attempts}.load(memory_order::relaxed, thread_scope::device);
  }
  struct reclaimed {
    std::uint32_t slabs;
    std::uint32_t lowest;  // the lowest of their places, or ~0
  };

  // The classes that may have a fully free slab: those seen by a look at all units, which helpers share, and those of
  // which slabs are in the making. With more than 8,192 units a lane of `group`, all classes that ever had slabs: to go
  // along their hints is quicker then. The lock's holder. Collective.
  WARPHEAP_COLD_FN std::uint64_t classes_with_whole(lane_mask group) const {
    constexpr std::uint64_t most = 8192;  // units for each lane
    const std::uint64_t used = used_classes(group);
    if (used == 0 || store().control().units > most * static_cast<std::uint64_t>(group_size(group))) return used;
    const std::uint64_t growing = growing_classes(group, used);  // first: the look sees what is made in between
    return growing | look_at_all(group);
  }
  // The classes among `used` of which slabs are being made for tickets: all blocks of such a slab may be free.
  // Collective.
  WARPHEAP_COLD_FN std::uint64_t growing_classes(lane_mask group, std::uint64_t used) const {
    const auto lanes = static_cast<std::uint32_t>(group_size(group));
    std::uint64_t growing = 0;
    for (auto c = static_cast<std::uint32_t>(group_rank(group)); c < slab_classes::count; c += lanes) {
      if ((used >> c & 1) != 0 && !ledger().is_settled(c)) growing |= std::uint64_t{1} << c;
    }
    return join(reconverge(group), growing);
  }
  // The classes of which a slab was fully free when it was looked at. Collective.
  WARPHEAP_COLD_FN std::uint64_t look_at_all(lane_mask group) const {
    constexpr std::uint32_t each = slab_store::unit_section::units;
    if (is_leader(group)) {
      job().begin_look(static_cast<std::uint32_t>((store().control().units + each - 1) / each));
    }
    sync(group);
    while (any(group, is_leader(group) && job().offer_next())) {  // not a spin: it offers all at once
      take_leaves(group);
    }
    std::uint64_t whole = 0;
    if (is_leader(group)) whole = job().end_look();
    return shuffle(reconverge(group), whole, leader(group));
  }
  // The classes that ever had a slab, a bit for each. Collective.
  WARPHEAP_COLD_FN std::uint64_t used_classes(lane_mask group) const {
    using enum memory_order;
    using enum thread_scope;
    return shuffle(group, atomic_view{store().control().used_classes}.load(relaxed, device), leader(group));
  }
  // The classes that have fully free slabs in sections that were drawn. All lanes look, at units side by side.
  // Collective.
  WARPHEAP_COLD_FN std::uint64_t look_at_sections(lane_mask group, slab_reclaim_job::drawn sections) const {
    constexpr std::uint32_t each = slab_store::unit_section::units;
    const auto lanes = static_cast<std::uint32_t>(group_size(group));
    const std::uint32_t end = (sections.leaf + 1) * each;
    std::uint32_t unit = end - sections.count * each + static_cast<std::uint32_t>(group_rank(group));
    std::uint64_t whole = 0;
    for (; unit < end; unit += units_at_once * lanes) whole |= whole_among(unit, end, lanes);
    return join(reconverge(group), whole);
  }
  // The classes that any lane of `group` has seen, each lane its own `whole`: by halves, for which there are
  // instructions. Collective.
  WARPHEAP_COLD_FN std::uint64_t join(lane_mask group, std::uint64_t whole) const {
    const std::uint32_t low = reduce(group, static_cast<std::uint32_t>(whole), bit_or{});
    const std::uint32_t high = reduce(group, static_cast<std::uint32_t>(whole >> 32), bit_or{});
    return std::uint64_t{high} << 32 | low;
  }
  static constexpr std::uint32_t units_at_once = 4;  // that a lane looks at before it waits for memory
  // The classes of which a slab seems to be fully free that begins at one of the next few units from `unit` on, each
  // `lanes` further, as far as there are `units`. One lane.
  WARPHEAP_COLD_FN std::uint64_t whole_among(std::uint32_t unit, std::uint32_t units, std::uint32_t lanes) const {
    std::uint64_t whole = 0;
    for (std::uint32_t some = full_words_among(unit, units, lanes); some != 0; some &= some - 1) {  // a turn a unit
      const std::uint32_t c = class_of_whole(unit + static_cast<std::uint32_t>(lowest_bit(some)) * lanes);
      if (c != slab_classes::count) whole |= std::uint64_t{1} << c;
    }
    return whole;
  }
  // Of these units, those whose first word may be of a slab without blocks in use: free blocks are its lowest bits.
  // One lane.
  WARPHEAP_COLD_FN std::uint32_t full_words_among(std::uint32_t unit, std::uint32_t units, std::uint32_t lanes) const {
    using enum memory_order;
    using enum thread_scope;
    std::uint32_t free_bits[units_at_once];
    for (std::uint32_t i = 0; i < units_at_once; ++i) {
      const std::uint32_t at = unit + i * lanes;
      free_bits[i] = at >= units || at >= store().control().units
                         ? 0
                         : slab_word{store().word(word_number::make(at, 0)).load(relaxed, device)}.free_bits();
    }
    std::uint32_t some = 0;
    for (std::uint32_t i = 0; i < units_at_once; ++i) {
      if (free_bits[i] != 0 && (free_bits[i] & (free_bits[i] + 1)) == 0) some |= 1u << i;
    }
    return some;
  }
  // The class of the slab that begins at `unit`, if it seems to be fully free; else their number. One lane.
  WARPHEAP_COLD_FN std::uint32_t class_of_whole(std::uint32_t unit) const {
    using enum memory_order;
    using enum thread_scope;
    const unit_owner owner{atomic_view{store().header(unit).owner}.load(relaxed, device)};
    if (!owner.is_slab() || owner.below() != 0 || !is_whole(owner.of_class(), unit)) return slab_classes::count;
    return owner.of_class();
  }
  // Takes slabs of one class back, while no tickets of it count. Collective.
  WARPHEAP_COLD_FN bool reclaim_class(lane_mask group, std::uint32_t c, std::uint32_t units) const {
    const bool was_open = compaction().close_ledger(group, c);
    const bool found = reclaim_closed(group, c, units);
    if (was_open && is_leader(group)) ledger().open(c);
    return found;
  }
  // As `reclaim_class`, with the ledger closed. A fully free slab has a shown hint, unless a hint is just changing.
  // After a pass that found no slab and overlapped a change, it pauses and looks once more. Each repetition means that
  // another thread claimed or released a block. Collective.
  WARPHEAP_COLD_FN bool reclaim_closed(lane_mask group, std::uint32_t c, std::uint32_t units) const {
    for (;;) {  // not a spin: it looks anew, and pauses in between
      bit_tree::quiescence_snapshot before{};
      if (is_leader(group)) before = hints().begin_snapshot(c);
      const reclaimed got = reclaim_once(group, c, units);
      if (got.slabs != 0) {
        compaction().compact(group, c, got.lowest, got.slabs);
        return true;
      }
      if (any(group, is_leader(group) && hints().was_quiescent(c, before))) return false;
      backoff{}.pause();  // a wait of its own each time, since a look is work
    }
  }
  // One pass along the hints from the highest places down, with all groups that help, until slabs of about `units`
  // units were taken back. Returns what all of them took together. Collective.
  WARPHEAP_COLD_FN reclaimed reclaim_once(lane_mask group, std::uint32_t c, std::uint32_t units) const {
    std::uint32_t leaves = 0;
    if (is_leader(group)) leaves = job().begin(c, units / store().units_of(c) + 1);
    sync(group);
    leaves = shuffle(group, leaves, leader(group));
    // A look at a few leaves takes less time than an offer of them.
    if (leaves == 0) return {0, ~0u};
    if (leaves <= static_cast<std::uint32_t>(group_size(group)) / 4) {
      const reclaimed got = reclaim_leaves(group, {leaves - 1, leaves});
      if (is_leader(group)) job().note(got.slabs);
      return got;
    }
    while (any(group, is_leader(group) && job().offer_next())) {  // not a spin: each turn offers other leaves
      take_leaves(group);
    }
    sync(group);  // what helpers wrote is visible to all lanes
    return {job().slabs(), job().lowest()};
  }
  // Draws leaves of the job until none is left, and takes back the fully free slabs there. It draws as many at a time
  // as keep the lanes busy: one, then twice as many after each turn that took back less than a slab a lane, and at
  // least a quarter of the lanes' number after a job that took nothing back. Collective.
  WARPHEAP_COLD_FN void take_leaves(lane_mask group) const {
    std::uint32_t most = 1;
    while (take_next(group, most)) {  // not a spin: each turn draws leaves
    }
  }
  // Draws up to `most` leaves, and takes back what is fully free there; false if none is left. `most` becomes what the
  // next turn draws. Collective.
  WARPHEAP_FN bool take_next(lane_mask group, std::uint32_t& most) const {
    slab_reclaim_job::drawn mine{0, 0};
    if (is_leader(group)) mine = job().draw(most);
    stop_point("warp_slab.take_next.drawn");
    sync(group);  // what the draw acquired is visible to all lanes
    mine.leaf = shuffle(group, mine.leaf, leader(group));
    mine.count = shuffle(group, mine.count, leader(group));
    if (mine.count == 0) return false;
    if (job().is_look()) return look_for_whole(group, mine, most);
    const reclaimed got = reclaim_leaves(group, mine);
    const auto lanes = static_cast<std::uint32_t>(group_size(group));
    const bool many =
        any(group, is_leader(group) && job().is_offered_at_once());  // before the holder may begin another
    if (is_leader(group)) job().finish(mine.count, got.slabs, got.lowest);
    if (many && most < lanes / 4) most = lanes / 4;
    most = got.slabs >= lanes ? 1 : 2 * most <= lanes ? 2 * most : most;
    return true;
  }
  // A turn of `take_next` in a job that only looks: a few sections keep the lanes busy. Collective.
  WARPHEAP_COLD_FN bool look_for_whole(lane_mask group, slab_reclaim_job::drawn mine, std::uint32_t& most) const {
    constexpr std::uint32_t few = 4;
    const std::uint64_t whole = look_at_sections(group, mine);
    if (is_leader(group)) job().finish_look(mine.count, whole);
    const auto lanes = static_cast<std::uint32_t>(group_size(group));
    if (most < few && 2 * most <= lanes) most *= 2;  // it counts for a job of the other kind, too
    return true;
  }
  // Takes back the fully free slabs of leaves that were drawn, no more than there are lanes. The lanes share each leaf
  // evenly. Collective.
  WARPHEAP_COLD_FN reclaimed reclaim_leaves(lane_mask group, slab_reclaim_job::drawn leaves) const {
    const std::uint32_t shares = static_cast<std::uint32_t>(group_size(group)) / leaves.count;
    invariant(shares != 0, "warp_slab: more leaves were drawn than there are lanes");
    const auto rank = static_cast<std::uint32_t>(group_rank(group));
    const std::uint32_t share = rank / leaves.count;
    reclaimed mine{0, ~0u};
    if (share < shares) reclaim_share(job().of_class(), leaves.leaf - rank % leaves.count, share, shares, mine);
    // If a change hid a slab from a look above, the holder sees that it had begun.
    fence(memory_order::acquire, thread_scope::device);
    group = reconverge(group);
    return {reduce(group, mine.slabs, plus{}), reduce(group, mine.lowest, minimum{})};
  }
  // Takes back the fully free slabs at places of one leaf: each `shares`-th, from number `share` on. One lane.
  WARPHEAP_COLD_FN void reclaim_share(std::uint32_t c, std::uint32_t leaf, std::uint32_t share, std::uint32_t shares,
                                      reclaimed& got) const {
    constexpr std::uint32_t bits = bit_tree::leaf_bits;
    const std::uint32_t first = leaf * bits;
    std::uint64_t mine = std::uint64_t{1} << share;
    for (std::uint32_t step = shares; step < bits; step *= 2) mine |= mine << step;
    std::uint64_t members = store().hinted(c).leaf_word(leaf) & mine;
    // Only the lock's holder changes `places`, and its offer passes the value on.
    const std::uint32_t places =
        atomic_view{store().of_class(c).places}.load(memory_order::relaxed, thread_scope::device);
    if (places - first < bits) members &= bit_range(0, places - first);
    while (members != 0) reclaim_some(c, first, members, got);  // not a spin: each turn drops members
  }
  // Takes back the fully free slabs among the next few places of `members`, a bit for each place from `first` on, and
  // clears those bits. Several at a time, since each look waits for memory. One lane.
  WARPHEAP_FN void reclaim_some(std::uint32_t c, std::uint32_t first, std::uint64_t& members, reclaimed& got) const {
    for (std::uint64_t whole = take_whole_members(c, first, members); whole != 0; whole &= whole - 1) {  // a turn each
      const std::uint32_t place = first + static_cast<std::uint32_t>(lowest_bit(whole));
      if (!reclaim_slab(c, place)) continue;
      ++got.slabs;
      if (place < got.lowest) got.lowest = place;
    }
  }
  // Drops the next few members, and returns those of them whose slab seems to have all blocks free. One lane.
  WARPHEAP_COLD_FN std::uint64_t take_whole_members(std::uint32_t c, std::uint32_t at, std::uint64_t& members) const {
    using enum memory_order;
    using enum thread_scope;
    constexpr std::uint32_t at_once = 4;
    std::uint32_t member[at_once];
    std::uint32_t entry[at_once];
    for (std::uint32_t i = 0, last = 0; i < at_once; ++i) {
      if (members != 0) last = static_cast<std::uint32_t>(lowest_bit(members));
      members &= members - 1;
      member[i] = last;
      entry[i] = store().table(c, at + last).load(relaxed, device);
    }
    slab_word first[at_once];
    for (std::uint32_t i = 0; i < at_once; ++i) {
      // A vacant place stands for unit 0, whose word says whether it is of the class.
      const std::uint32_t unit = entry[i] == 0 ? 0 : entry[i] - 1;
      first[i] = {store().word(word_number::make(unit, 0)).load(relaxed, device)};
    }
    std::uint64_t whole = 0;
    for (std::uint32_t i = 0; i < at_once; ++i) {
      if (store().is_whole_word(c, 0, first[i])) whole |= std::uint64_t{1} << member[i];
    }
    return whole;
  }
  // Takes the slab at `place` back, if all of its blocks are free. One lane.
  WARPHEAP_COLD_FN bool reclaim_slab(std::uint32_t c, std::uint32_t place) const {
    const std::uint32_t entry = store().table(c, place).load(memory_order::relaxed, thread_scope::device);
    if (entry == 0 || !is_whole(c, entry - 1)) return false;
    // A search that misses these blocks meanwhile sees the change.
    hints().begin_change(c);
    const bool all = take_words(c, entry - 1);
    if (all) retire(c, place, entry - 1);
    hints().end_change(c);
    return all;
  }
  // True if all words of the slab at `unit` were seen to be all free, a few at a time. One lane.
  WARPHEAP_COLD_FN bool is_whole(std::uint32_t c, std::uint32_t unit) const {
    const std::uint32_t words = store().words_of(c);
    std::uint32_t w = 0;
    while (w < words && are_whole(c, unit, w)) w += words_at_once;
    return w >= words;
  }
  static constexpr std::uint32_t words_at_once = 4;  // that a lane reads before it waits for memory
  // True if the next few words of the slab at `unit`, from `first` on, are all free. One lane.
  WARPHEAP_COLD_FN bool are_whole(std::uint32_t c, std::uint32_t unit, std::uint32_t first) const {
    using enum memory_order;
    using enum thread_scope;
    const std::uint32_t last = store().words_of(c) - 1;
    slab_word seen[words_at_once];
    for (std::uint32_t i = 0; i < words_at_once; ++i) {
      const std::uint32_t w = first + i < last ? first + i : last;
      seen[i] = {store().word(word_number::make(unit, w)).load(relaxed, device)};
    }
    bool whole = true;
    for (std::uint32_t i = 0; i < words_at_once; ++i) {
      const std::uint32_t w = first + i < last ? first + i : last;
      whole = whole && store().is_whole_word(c, w, seen[i]);
    }
    return whole;
  }
  // Swaps all words of the slab for zero, or none if one of them is not all free. One lane.
  //
  // It acquires the accesses of the threads that had the blocks. Zero has no class, so no thread mistakes the slab for
  // one of the class. Two fences order all words, each of which would wait by itself.
  WARPHEAP_COLD_FN bool take_words(std::uint32_t c, std::uint32_t unit) const {
    using enum memory_order;
    using enum thread_scope;
    const std::uint32_t words = store().words_of(c);
    std::uint32_t taken = 0;
    fence(acq_rel, device);
    while (taken < words && take_word(c, word_number::make(unit, taken), store().all_blocks(c, taken))) ++taken;
    stop_point("warp_slab.take_words.taken");
    fence(acq_rel, device);
    if (taken != words) restore_words(c, unit, taken);
    return taken == words;
  }
  // Restores the first `count` words of the slab at `unit`, after a fence. A hider may have come by meanwhile, so the
  // words are not shown. One lane.
  WARPHEAP_COLD_FN void restore_words(std::uint32_t c, std::uint32_t unit, std::uint32_t count) const {
    WARPHEAP_ROLLED while (count-- > 0) {
      const slab_word whole = slab_word::make(c, store().all_blocks(c, count)).unshown();
      store().word(word_number::make(unit, count)).store(whole.value, after_release_fence, thread_scope::device);
    }
  }
  // Swaps word `at` for zero, unless others than the `whole` blocks of it are free. One lane, between fences.
  WARPHEAP_COLD_FN bool take_word(std::uint32_t c, std::uint32_t at, std::uint32_t whole) const {
    using enum memory_order;
    using enum thread_scope;
    slab_word seen = slab_word::make(c, whole);           // as it mostly is
    while (seen.is_of(c) && seen.free_bits() == whole) {  // not a spin: it fails only when another change came first
      if (store().word(at).compare_exchange(seen.value, 0, relaxed, device)) return true;
    }
    return false;
  }
  // Makes the units of a slab free whose words are taken. One lane.
  WARPHEAP_COLD_FN void retire(std::uint32_t c, std::uint32_t place, std::uint32_t unit) const {
    using enum memory_order;
    using enum thread_scope;
    store().table(c, place).store(0, relaxed, device);
    atomic_view{store().control().slab_units}.fetch_sub(store().units_of(c), relaxed, device);
    atomic_view{store().header(unit).hint}.store(0, relaxed, device);  // late changes of the hint end here
    WARPHEAP_ROLLED for (std::uint32_t u = 0; u < store().units_of(c); ++u) {
      atomic_view{store().header(unit + u).owner}.store(0, relaxed, device);
    }
    store().hinted(c).erase(place);
    store().free_run(unit, store().units_of(c));
  }

  slab_reclaim_job job_;
};

}  // namespace warpheap::detail
