// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocator/device.hpp>
#include <warpheap/designs/ouroboros/detail/partial_lists.hpp>
#include <warpheap/platform/device.hpp>

namespace warpheap::detail {

/// What a lane has yet to do after it counted a page of a chunk as free. All but `none` are
/// announced as moves, and end with an `end_move`.
enum class ouroboros_pending_action : std::uint32_t {
  none,
  queue,     ///< queue a hint to the chunk
  list,      ///< put the chunk on its partial list
  give_back  ///< add the chunk to the free ones: all of its pages are free
};

/// Deferred pages: the count of a chunk's free pages that wait in its bitmap, and the place of the
/// hint to them. Sizes that queue chunks (C) defer all frees; sizes that queue pages (P) defer
/// those for which the queue has no room.
///
/// All changes of a chunk's `state` are atomic on the whole word, and all of them are in this part.
/// A free sets the bit, then counts the page; a malloc takes from the count, then clears a bit.
///
/// Invariant of the count: the swap that would count the last page of a chunk sets the count to 0,
/// unless the chunk is listed. The thread that made the swap alone gives the chunk back; no other
/// thread can take pages of the chunk then.
///
/// Invariant of the hint: a chunk with a count above 0 has a hint, and its hint field tells where:
/// in the queue of its size, or on the list of its size. The thread that sets the field puts the
/// hint there. The thread that takes the hint clears the field by the swap that leaves no count, or
/// puts the hint back. A hint is out of date, and is dropped, if the field differs or the count is
/// 0. A chunk on the list keeps its size until it is taken off, because it has one link.
///
/// Invariant of the moves: a move is counted from before the swap until the hint or the free chunk
/// can be found. So a search that begins while nothing moves sees all pages that were freed before.
template <class Layout>
class ouroboros_deferral {
 public:
  using pending_action = ouroboros_pending_action;

  WARPHEAP_FN explicit ouroboros_deferral(const arena& from) : lists_(from) {}
  WARPHEAP_FN const ouroboros_partial_lists<Layout>& lists() const { return lists_; }
  WARPHEAP_FN const ouroboros_page_bits<Layout>& bits() const { return lists_.bits(); }
  WARPHEAP_FN const ouroboros_queues<Layout>& queues() const { return lists_.queues(); }
  WARPHEAP_FN const ouroboros_chunks<Layout>& chunks() const { return lists_.chunks(); }

  /// Sets the bits of the pages at `offset` of the lanes of `group`, all of size q, and counts
  /// them. Returns what the lane has to do for all lanes that freed pages of its chunk.
  /// `gives_back`: the lane is to give the chunk back. Collective.
  WARPHEAP_FN pending_action count_pages(lane_mask group, std::uint32_t q, std::uint64_t offset,
                                         bool& gives_back) const {
    using enum memory_order;
    using enum thread_scope;
    const std::uint64_t chunk = offset >> Layout::chunk_shift;
    const warp_request mine{match(group, chunk)};
    const std::uint32_t freed = mine.size();
    // The bits and the count release the accesses of all lanes whose pages they are. The bits do so
    // too, since a refiller may take them before they are counted.
    sync(mine.lanes);
    if (freed == Layout::pages(q)) {
      gives_back = mine.leads();
      if (gives_back) end_life(chunk);
      return pending_action::none;
    }
    bits().set_bits(mine.lanes, q, offset);
    sync(mine.lanes);
    stop_point("ouroboros.count_pages.bits_set");
    const pending_action action = mine.leads() ? add_to_count(q, chunk, freed) : pending_action::none;
    gives_back = action == pending_action::give_back;
    return action;
  }

  /// Does what `action` and `gives_back` say, except that the caller queues hints. Collective.
  WARPHEAP_FN void finish_pending_action(std::uint32_t q, lane_mask group, std::uint64_t chunk, pending_action action,
                                         bool gives_back) const {
    if (action == pending_action::list) lists().list(q, chunk);
    if (action == pending_action::give_back) bits().clear_bits(chunk);
    const lane_mask givers = ballot(group, gives_back);
    if (gives_back) chunks().give_back_together(givers, chunk);
    if (action != pending_action::none) end_move(q);
  }

  /// Ends a move of size q: the hint or the free chunk can be found. Releases it.
  WARPHEAP_FN void end_move(std::uint32_t q) const { chunks().of_class(q).moves.end(); }

  /// True if no free page of any size is on its way: a search that begins now sees all pages that
  /// were freed before. One lane.
  WARPHEAP_COLD_FN bool nothing_moves() const {
    for (std::uint32_t q = 0; q < Layout::chunk_classes; ++q) {
      if (!chunks().of_class(q).moves.quiescence().quiescent) return false;
    }
    return true;
  }

  /// Counts pages of `chunk` as free again that a refiller took from the count and cannot use;
  /// their bits are still set. One lane.
  WARPHEAP_COLD_FN void count_free(std::uint32_t q, std::uint64_t chunk, std::uint32_t freed) const {
    const pending_action action = add_to_count(q, chunk, freed);
    if (action == pending_action::queue) list_instead(q, chunk);
    if (action == pending_action::list) lists().list(q, chunk);
    if (action == pending_action::give_back) give_back(chunk);
    if (action != pending_action::none) end_move(q);
  }

  /// Counts `freed` more pages of `chunk`, whose bits are set, and leaves the hint as it is: for a compaction, which
  /// lists the chunk afterwards. Relaxed: the counter `arrived` orders it before the listing. One lane.
  WARPHEAP_COLD_FN void count_unhinted(std::uint64_t chunk, std::uint32_t freed) const {
    atomic_view{chunks().record(chunk).state}.fetch_add(freed, memory_order::relaxed, thread_scope::device);
  }

  /// Says that the hint to `chunk` lies on the list of its size, as a compaction puts it there; or, with `gives_back`,
  /// that its pages are counted no more, since it is given back. Relaxed, as `count_unhinted`.
  WARPHEAP_COLD_FN void settle_hint(std::uint64_t chunk, bool gives_back) const {
    const atomic_view state{chunks().record(chunk).state};
    chunk_state now{state.load(memory_order::relaxed, thread_scope::device)};
    chunk_state next{};
    do {  // not a spin: another size drops its hint to the chunk, once
      next = gives_back ? now.with_count(0).with_hint(chunk_state::no_hint).next_life()
                        : now.with_hint(chunk_state::in_list);
    } while (!state.compare_exchange(now.word, next.word, memory_order::relaxed, thread_scope::device));
  }

  /// Says that no hint to `chunk` is in the queue of size q, which a compaction has emptied; whichever size the chunk
  /// is of. Relaxed, as `count_unhinted`.
  WARPHEAP_COLD_FN void drop_hint(std::uint32_t q, std::uint64_t chunk) const {
    const atomic_view state{chunks().record(chunk).state};
    chunk_state now{state.load(memory_order::relaxed, thread_scope::device)};
    while (now.hint() == q + 1) {  // not a spin: it ends when the size of the chunk has counted what it frees
      const chunk_state next = now.with_hint(chunk_state::no_hint);
      if (state.compare_exchange(now.word, next.word, memory_order::relaxed, thread_scope::device)) return;
    }
  }

  /// Puts a chunk on the list whose hint the queue had no room for, or whose hint a sweep took from
  /// the queue. Drops a hint that is out of date.
  WARPHEAP_COLD_FN void list_instead(std::uint32_t q, std::uint64_t chunk) const {
    using enum memory_order;
    using enum thread_scope;
    const atomic_view state{chunks().record(chunk).state};
    chunk_state now{state.load(relaxed, device)};
    while (now.hint() == q + 1) {
      // A count of 0 means that the chunk was given back since, and needs no hint.
      const chunk_state next = now.with_hint(now.count() != 0 ? chunk_state::in_list : chunk_state::no_hint);
      if (!state.compare_exchange(now.word, next.word, acq_rel, device)) continue;
      if (now.count() != 0) lists().list(q, chunk);
      return;
    }
  }

  /// Takes up to `most` pages of size q from the count of `chunk`, whose bits are still set, and
  /// returns how many. `last`: the caller answers for the hint. `more`: the caller is to put the
  /// hint back. One lane.
  WARPHEAP_FN std::uint32_t take_counted(std::uint32_t q, std::uint64_t chunk, std::uint32_t most, bool last,
                                         bool& more) const {
    using enum memory_order;
    using enum thread_scope;
    const atomic_view state{chunks().record(chunk).state};
    chunk_state now{state.load(relaxed, device)};
    for (;;) {
      // A count belongs to our size: a chunk of another size that has one would have another hint.
      if (now.hint() != q + 1 || (now.count() == 0 && !last)) return 0;  // out of date
      const std::uint32_t taken = now.count() < most ? now.count() : most;
      chunk_state next = now.with_count(now.count() - taken);
      if (last && next.count() == 0) next = next.with_hint(chunk_state::no_hint);
      // Acquires the bits that were counted.
      if (!state.compare_exchange(now.word, next.word, acq_rel, device)) continue;
      more = last && next.count() != 0;
      return taken;
    }
  }

  /// The state of `chunk`, relaxed: a guess while other threads change it.
  WARPHEAP_FN chunk_state state_of(std::uint64_t chunk) const {
    return chunk_state{atomic_view{chunks().record(chunk).state}.load(memory_order::relaxed, thread_scope::device)};
  }

  /// Takes a listed chunk off the list for good, if all of its pages are counted; they are the
  /// caller's then, their bits still set, and the caller counts the chunk off `fully_free`. Else
  /// returns false. One lane of the refiller's group.
  WARPHEAP_FN bool take_fully_free(std::uint32_t q, std::uint64_t chunk) const {
    using enum memory_order;
    using enum thread_scope;
    const atomic_view state{chunks().record(chunk).state};
    chunk_state now{state.load(relaxed, device)};
    bool fully_free = now.count() == Layout::pages(q);
    while (fully_free) {
      const chunk_state next = now.with_count(0).with_hint(chunk_state::no_hint).next_life();
      if (state.compare_exchange(now.word, next.word, acq_rel, device)) break;
    }
    return fully_free;
  }

  /// Takes a listed chunk off the list for good, with all pages of its count, and returns how many;
  /// their bits are still set. One lane of the refiller's group.
  WARPHEAP_FN std::uint32_t collect_chunk(std::uint32_t q, std::uint64_t chunk) const {
    using enum memory_order;
    using enum thread_scope;
    const atomic_view state{chunks().record(chunk).state};
    chunk_state now{state.load(relaxed, device)};
    while (!state.compare_exchange(now.word, now.with_count(0).with_hint(chunk_state::no_hint).word, acq_rel, device)) {
    }
    if (now.count() == Layout::pages(q)) atomic_view{chunks().of_class(q).fully_free}.fetch_sub(1, relaxed, device);
    return now.count();
  }

  /// Adds a chunk to the free ones whose pages are all free and no longer counted; their bits are
  /// still set.
  WARPHEAP_FN void give_back(std::uint64_t chunk) const {
    bits().clear_bits(chunk);
    chunks().free_chunks().add({chunk, 1});
  }

 private:
  /// Counts `freed` more pages of `chunk` as free, for all lanes that freed them. One lane.
  WARPHEAP_FN pending_action add_to_count(std::uint32_t q, std::uint64_t chunk, std::uint32_t freed) const {
    using enum memory_order;
    using enum thread_scope;
    const atomic_view state{chunks().record(chunk).state};
    const std::uint64_t own_hint = q + 1;
    bool announced = false;
    chunk_state now{state.load(relaxed, device)};
    for (;;) {
      const std::uint32_t count = now.count() + freed;
      const bool listed = now.hint() == chunk_state::in_list;
      chunk_state next = now.with_count(count);
      pending_action action = pending_action::none;
      if (count == Layout::pages(q) && !listed) {
        next = now.with_count(0).next_life();
        action = pending_action::give_back;
      } else if (!listed && now.hint() != own_hint) {
        action = Layout::stores_pages(q) ? pending_action::list : pending_action::queue;
        next = next.with_hint(Layout::stores_pages(q) ? chunk_state::in_list : own_hint);
      }
      if (!announced && action != pending_action::none) {
        // A refiller that finds no page searches again until the hint is where the field says, or
        // the chunk is in the set of free ones. Else it would miss pages that other threads freed.
        // The swap below releases the count of moves.
        chunks().of_class(q).moves.begin();
        announced = true;
      }
      // Releases our bits and the callers' accesses. Acquires those of all threads that freed pages
      // of the chunk before, so that the thread that gives it back passes them on.
      if (state.compare_exchange(now.word, next.word, acq_rel, device)) {
        if (listed && count == Layout::pages(q))
          atomic_view{chunks().of_class(q).fully_free}.fetch_add(1, relaxed, device);
        if (announced && action == pending_action::none) end_move(q);
        return action;
      }
    }
  }

  /// Ends the use of a chunk whose pages one group frees all at once. No page of it is counted or
  /// has a bit, so no hint is needed and there is nothing to acquire. Adding the chunk to the free
  /// ones releases what the callers did. One lane.
  WARPHEAP_FN void end_life(std::uint64_t chunk) const {
    const atomic_view state{chunks().record(chunk).state};
    chunk_state now{state.load(memory_order::relaxed, thread_scope::device)};
    // A refiller may be dropping a hint that is out of date.
    while (!state.compare_exchange(now.word, now.next_life().word, memory_order::relaxed, thread_scope::device)) {
    }
    invariant(now.count() == 0 && now.hint() != chunk_state::in_list, "ouroboros: a page was freed twice");
  }

  ouroboros_partial_lists<Layout> lists_;
};

}  // namespace warpheap::detail
