// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/halloc/detail/slabs.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::detail {

/// Permits of a slab that a group drew, and where it looks for their blocks.
struct halloc_draw {
  std::uint32_t page;     // where the slab begins
  std::uint32_t permits;  // 0: nothing was drawn, and the rest is unspecified
  std::uint32_t start;    // slot of the bitmap to look at first
  bool crossed;           // the draw took the head below its threshold: the caller is to replace it
};

/// The head slabs of each class: where requests draw permits, and how a head is replaced.
///
/// Invariant: a head's tickets above 0 are permits that the entry of its slab lacks. A draw moves tickets to the
/// caller; an exchange of the word moves what is left to the thread that made it, which gives it back to the slab.
///
/// Invariant: of all draws from one head, one crosses its threshold: all change one word, each from what the one before
/// left. Its caller replaces the head while others draw on. A head without tickets is replaced by any thread that needs
/// one. `replacing` lets one thread in; others never wait for it here, but draw elsewhere and come again.
template <class Layout>
class halloc_heads {
 public:
  using classes = typename Layout::classes;
  using head_state = typename Layout::head_state;
  enum class outcome : std::uint32_t {
    replaced,  // the head has a new slab
    waits,     // another thread is about to make one
    nothing    // no slab has a permit, and none can be made
  };

  WARPHEAP_FN explicit halloc_heads(const arena& from) : slabs_(from) {}
  WARPHEAP_FN const halloc_slabs<Layout>& slabs() const { return slabs_; }
  WARPHEAP_FN const halloc_pages<Layout>& pages() const { return slabs_.pages(); }

  /// The head of the caller's multiprocessor.
  WARPHEAP_FN std::uint32_t home() const { return multiprocessor_index() & slabs_.control().head_mask; }
  WARPHEAP_FN head_state& head(std::uint32_t c, std::uint32_t h) const { return slabs_.control().heads[c][h]; }
  WARPHEAP_FN halloc_head look(std::uint32_t c, std::uint32_t h) const {
    // Relaxed: tells whether a draw is worth the while; the draw decides.
    return halloc_head{atomic_view{head(c, h).word}.load(memory_order::relaxed, thread_scope::device)};
  }

  /// True while a thread replaces a head. A hint.
  WARPHEAP_FN bool is_locked(std::uint32_t c, std::uint32_t h) const {
    // Relaxed: tells whether to come again.
    return atomic_view{head(c, h).replacing}.load(memory_order::relaxed, thread_scope::device) != 0;
  }

  /// Draws up to `wanted` permits from a head. One lane.
  WARPHEAP_FN halloc_draw draw(std::uint32_t c, std::uint32_t h, std::uint32_t wanted) const {
    // A look first: a head without tickets is left alone, so its tickets do not fall without end.
    if (look(c, h).tickets() <= 0) return {0, 0, 0, false};
    const std::uint64_t tickets = std::uint64_t{wanted} << halloc_head::tickets_shift;
    // Acquires the bitmap, which was made before the word was written.
    const halloc_head before{
        atomic_view{head(c, h).word}.fetch_sub(tickets, memory_order::acquire, thread_scope::device)};
    const std::int32_t had = before.tickets();
    if (had <= 0) return {0, 0, 0, false};
    const std::uint32_t permits = static_cast<std::uint32_t>(had) < wanted ? static_cast<std::uint32_t>(had) : wanted;
    const auto threshold = static_cast<std::int32_t>(slabs_.figures(c).replace_at);
    const bool crossed = had >= threshold && had - static_cast<std::int32_t>(permits) < threshold;
    return drawn(c, before, static_cast<std::uint32_t>(had) - permits, permits, crossed);
  }

  /// Draws up to `wanted` permits from some head of the class that has tickets: the caller's own if `h` is it, else the
  /// nearest from `h` on. Collective over `group`; all lanes get the draw.
  WARPHEAP_COLD_FN halloc_draw draw_anywhere(lane_mask group, std::uint32_t c, std::uint32_t h,
                                             std::uint32_t wanted) const {
    const std::uint32_t heads = slabs_.control().head_mask + 1;
    const auto lanes = static_cast<std::uint32_t>(group_size(group));
    halloc_draw got{0, 0, 0, false};
    for (std::uint32_t from = 0; from < heads; from += lanes) {
      const std::uint32_t distance = from + static_cast<std::uint32_t>(group_rank(group));
      const std::uint32_t mine = (h + distance) & (heads - 1);
      const lane_mask seen = ballot(group, distance < heads && look(c, mine).tickets() > 0);
      if (seen == 0) continue;
      const std::uint32_t chosen = shuffle(group, mine, lowest_bit(seen));
      if (is_leader(group)) got = draw(c, chosen, wanted);
      got = broadcast(group, got);
      if (got.permits == 0) continue;
      if (got.crossed) {
        outcome ignored{};
        replace(group, c, chosen, 0, ignored);
      }
      break;
    }
    return got;
  }

  /// Draws up to `wanted` permits from a busy slab of class `c`, which is no head. Collective over `group`; all lanes
  /// get the draw.
  WARPHEAP_COLD_FN halloc_draw draw_busy(lane_mask group, std::uint32_t c, std::uint32_t wanted) const {
    halloc_draw got{0, 0, 0, false};
    if (is_leader(group)) {
      const std::uint32_t seed = grid_warp_index();
      const halloc_permits at = slabs_.take_some(Layout::set_of(Layout::busy, c), c, wanted, seed);
      got = {at.page, at.permits, slabs_.figures(c).words.place(spread(seed)) * slot_bits<>::word_bits, false};
    }
    return broadcast(group, got);
  }

  /// Makes another slab the head `h` of class `c`, and takes up to `wanted` of its permits for the caller first.
  /// Returns these; `how` tells what happened. Collective over `group`.
  WARPHEAP_COLD_FN halloc_draw replace(lane_mask group, std::uint32_t c, std::uint32_t h, std::uint32_t wanted,
                                       outcome& how) const {
    found at{outcome::waits, false, {slab_sets::none, 0, 0}};
    if (is_leader(group)) at = find(c, h);
    sync(group);  // what the leader acquired, all lanes did: they write to the bitmap
    const int first = leader(group);
    how = shuffle(group, at.how, first);
    if (how != outcome::replaced) return {0, 0, 0, false};
    halloc_permits slab{shuffle(group, at.slab.slab, first), shuffle(group, at.slab.page, first),
                        shuffle(group, at.slab.permits, first)};
    if (slab.permits == 0) slab = slabs_.assign(group, c, slab);
    halloc_draw got{0, 0, 0, false};
    if (is_leader(group)) got = publish(c, h, slab, wanted, at.made);
    return broadcast(group, got);
  }

  /// Takes the slab of each head back. One lane.
  WARPHEAP_COLD_FN void flush() const {
    const std::uint32_t heads = slabs_.control().head_mask + 1;
    WARPHEAP_ROLLED
    for (std::uint32_t i = 0; i < classes::count * heads; ++i) take_back(i / heads, i % heads);
  }
  /// Takes the slab of each head back that hands out none of its blocks, so that another class or a large block can
  /// have it; but of class `keep`, which is `classes::count` for none. Other heads stay: what they have is of no use to
  /// anyone else. With `shared` a slab that several heads share is found as well, for which each head reads the others
  /// of its class. True if there was one. Collective over `group`.
  WARPHEAP_COLD_FN bool flush_unused(lane_mask group, std::uint32_t keep, bool shared) const {
    const std::uint32_t heads = slabs_.control().head_mask + 1;
    bool moved = false;
    for (auto i = static_cast<std::uint32_t>(group_rank(group)); i < classes::count * heads;
         i += static_cast<std::uint32_t>(group_size(group))) {
      if (i / heads == keep || !is_unused(i / heads, look(i / heads, i % heads), shared)) continue;
      moved = take_back(i / heads, i % heads) || moved;
    }
    return any(group, moved);
  }

  /// True if a head of class `c` has tickets, or one of another class has a slab all of whose blocks are free.
  /// Collective over `group`.
  WARPHEAP_COLD_FN bool any_serves(lane_mask group, std::uint32_t c) const {
    const std::uint32_t heads = slabs_.control().head_mask + 1;
    bool found = false;
    for (auto i = static_cast<std::uint32_t>(group_rank(group)); i < classes::count * heads;
         i += static_cast<std::uint32_t>(group_size(group))) {
      const halloc_head seen = look(i / heads, i % heads);
      found = found || (seen.tickets() > 0 && (i / heads == c || is_unused(i / heads, seen, true)));
    }
    return any(group, found);
  }

  WARPHEAP_FN static halloc_draw broadcast(lane_mask group, halloc_draw got) {
    sync(group);  // what the leader acquired, all lanes did
    const int first = leader(group);
    return {shuffle(group, got.page, first), shuffle(group, got.permits, first), shuffle(group, got.start, first),
            shuffle(group, got.crossed, first)};
  }

 private:
  // What the leader of a replacement has found.
  struct found {
    outcome how;
    bool made;  // it went through the gate of threads that make slabs
    halloc_permits slab;
  };

  // The draw of tickets [from, from + permits) of a head. Requests are numbered by the tickets that are left, as by
  // Halloc's counter: groups of a word are neighbours, and successive words lie `hash_step` apart; heads of different
  // turns begin elsewhere.
  WARPHEAP_FN halloc_draw drawn(std::uint32_t c, halloc_head head, std::uint32_t from, std::uint32_t permits,
                                bool crossed) const {
    constexpr std::uint32_t bits = slot_bits<>::word_bits;
    const auto& of = slabs_.figures(c);
    const std::uint32_t hash = from / bits * Layout::options.hash_step + head.turn() * of.probe_step;
    return {head.page(), permits, of.words.place(hash) * bits + from % bits, crossed};
  }

  WARPHEAP_FN halloc_head exchange(std::uint32_t c, std::uint32_t h, halloc_head next) const {
    // Releases the bitmap to those who draw. Acquires the name of the slab whose tickets come back.
    return halloc_head{atomic_view{head(c, h).word}.exchange(next.value, memory_order::acq_rel, thread_scope::device)};
  }

  // Gives the tickets of a head back that was exchanged. One lane, within a change.
  WARPHEAP_FN bool give_back(halloc_head old) const {
    if (old.tickets() <= 0) return false;
    slabs_.give(pages().name_at(old.page()), static_cast<std::uint32_t>(old.tickets()));
    return true;
  }

  // Takes the slab of a head back; true if it had tickets. One lane.
  WARPHEAP_COLD_FN bool take_back(std::uint32_t c, std::uint32_t h) const {
    if (look(c, h).tickets() <= 0) return false;
    slabs_.quiescence().begin_change();
    const bool moved = give_back(exchange(c, h, halloc_head::make(0, look(c, h).turn() + 1, 0)));
    slabs_.quiescence().end_change();
    return moved;
  }

  // True if the tickets of a head of class `c` and the permits of its slab's entry are all blocks of the slab; with
  // `shared` together with the tickets of other heads that share the slab. Exact where nothing moves and nothing is
  // freed, but for draws, by which tickets only fall: the tickets are read before the entry.
  WARPHEAP_COLD_FN bool is_unused(std::uint32_t c, halloc_head seen, bool shared) const {
    if (seen.tickets() <= 0) return false;
    std::uint32_t permits = static_cast<std::uint32_t>(seen.tickets());
    if (shared) {
      permits = 0;
      for (std::uint32_t h = 0; h <= slabs_.control().head_mask; ++h) {
        const halloc_head other = look(c, h);
        if (other.page() == seen.page() && other.tickets() > 0) permits += static_cast<std::uint32_t>(other.tickets());
      }
    }
    fence(memory_order::acquire, thread_scope::device);  // the entry is read after the tickets
    const halloc_slab_name of = pages().name_at(seen.page());
    if (!of.is_slab()) return false;  // another thread has taken it back since
    const slab_entry::contents entry = slabs_.entry(of.slab()).look();
    return entry.is_assigned() && entry.free + permits >= entry.capacity;
  }

  // Lets the caller in if nobody replaces the head.
  WARPHEAP_FN bool try_lock(std::uint32_t c, std::uint32_t h) const {
    const atomic_view lock{head(c, h).replacing};
    // Acquires what the one before did to the head.
    return lock.load(memory_order::relaxed, thread_scope::device) == 0 &&
           lock.exchange(1, memory_order::acquire, thread_scope::device) == 0;
  }
  WARPHEAP_FN void unlock(std::uint32_t c, std::uint32_t h) const {
    atomic_view{head(c, h).replacing}.store(0, memory_order::release, thread_scope::device);
  }

  // Finds a slab for the head: a roomy one, a sparse one, a free one, a new one, a busy one that has many permits. If
  // `how` is `replaced` a change is under way and the head is locked; `publish` ends both. One lane.
  WARPHEAP_COLD_FN found find(std::uint32_t c, std::uint32_t h) const {
    const found waits{outcome::waits, false, {slab_sets::none, 0, 0}};
    // Looked at before the lock is taken, so that threads of a full heap do not come to the lock one after the other.
    // And a change begins only for a reason, so that searches that find nothing do not disturb each other.
    if (!may_find(c, grid_warp_index())) {
      found nothing = waits;
      if (!is_locked(c, h)) nothing.how = outcome::nothing;
      return nothing;
    }
    if (!try_lock(c, h)) return waits;
    const auto threshold = static_cast<std::int32_t>(slabs_.figures(c).replace_at);
    const std::int32_t tickets = look(c, h).tickets();
    if (tickets > 0 && tickets >= threshold) {  // another thread replaced it meanwhile
      unlock(c, h);
      return waits;
    }
    slabs_.quiescence().begin_change();
    const found got = find_listed(c, grid_warp_index());
    if (got.how == outcome::replaced) return got;
    slabs_.quiescence().end_change();
    unlock(c, h);
    return got;
  }

  WARPHEAP_COLD_FN bool may_find(std::uint32_t c, std::uint32_t seed) const {
    const slab_sets sets = slabs_.sets();
    return !pages().source().refuses(pages().slab_order()) || sets.find(Layout::free_set, 0) != sets.none ||
           sets.find(Layout::set_of(Layout::roomy, c), 0) != sets.none ||
           sets.find(Layout::set_of(Layout::sparse, c), 0) != sets.none || has_busy(c, seed);
  }
  // True if a busy slab has so many permits that several warps can draw of it. Others are no heads: each would be one
  // for a moment, and threads would come to the lock one after the other for a permit each.
  WARPHEAP_FN bool has_busy(std::uint32_t c, std::uint32_t seed) const {
    constexpr std::uint32_t least = 2 * warp_width;
    const std::uint32_t slab = slabs_.sets().find(Layout::set_of(Layout::busy, c), seed);
    return slab != slab_sets::none && slabs_.entry(slab).look().free >= least;
  }

  WARPHEAP_COLD_FN found find_listed(std::uint32_t c, std::uint32_t seed) const {
    const auto listed = set_order::of(Layout::set_of(Layout::roomy, c), Layout::set_of(Layout::sparse, c));
    halloc_permits at = slabs_.take_listed(listed, c, seed);
    if (at.permits != 0) return {outcome::replaced, false, at};
    at = slabs_.take_free(seed);
    if (at.slab != slab_sets::none) return {outcome::replaced, false, at};
    const occupancy_gate making{slabs_.figures(c).making};
    std::uint32_t others = 0;
    if (!making.try_enter(1, Layout::options.slabs_at_once, others)) return {outcome::waits, false, at};
    at = slabs_.take_new();
    if (at.slab != slab_sets::none) return {outcome::replaced, true, at};
    leave(making);
    if (has_busy(c, seed)) at = slabs_.take_listed(set_order::of(Layout::set_of(Layout::busy, c)), c, seed);
    return {at.permits != 0 ? outcome::replaced : outcome::nothing, false, at};
  }
  WARPHEAP_FN static void leave(occupancy_gate making) {
    if (making.leave(1)) making.reopen();
  }

  // Makes the slab, whose permits the caller has, the head, but for those that it draws itself. One lane.
  WARPHEAP_COLD_FN halloc_draw publish(std::uint32_t c, std::uint32_t h, halloc_permits slab, std::uint32_t wanted,
                                       bool made) const {
    const std::uint32_t own = slab.permits < wanted ? slab.permits : wanted;
    const halloc_head next = halloc_head::make(slab.page, look(c, h).turn() + 1, slab.permits - own);
    give_back(exchange(c, h, next));
    if (made) leave(occupancy_gate{slabs_.figures(c).making});
    slabs_.quiescence().end_change();
    unlock(c, h);
    return drawn(c, next, slab.permits - own, own, false);
  }

  halloc_slabs<Layout> slabs_;
};

}  // namespace warpheap::detail
