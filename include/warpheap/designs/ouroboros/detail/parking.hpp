// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/ouroboros/ouroboros.hpp>

// A free page that is in no queue waits in the bitmap of its chunk: it is *parked*. For page sizes that queue chunks
// this is the rule, for those that queue pages it is what happens when the queue has no room.
//
// Order in which things change. Freeing: bit, then count; so at least as many bits are set as are counted. Taking:
// count, then bits, and any of them will do. A chunk is given back by whoever counts its last page, by the
// same compare-and-swap, so nobody else can give it back or take its pages.
//
// Invariant: a chunk with a count above 0 has a hint, and its hint field tells where that lies: in the queue of its own
// size, or in the list of its size. The thread that sets the field puts the hint there; the thread that takes the hint
// clears the field by the same change that leaves no count, or puts the hint back. A hint whose chunk says otherwise is
// out of date and is dropped. A chunk in the list keeps its size until it is taken off, because it has one link only.

namespace warpheap {

// Frees the page at `offset` of each lane of `group`, all of size q. Collective.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN void basic_ouroboros<Items, Kind, Options>::park(lane_mask group, std::uint32_t q,
                                                             std::uint64_t offset) const {
  const std::uint64_t chunk = offset >> layout::chunk_shift;
  if (q >= layout::chunk_classes) return free_chunks().add({chunk, layout::chunks_of_page(q)});
  bool ends = false;
  const duty then = count_pages(group, q, offset, ends);
  sync(group);  // no lane returns before its leader has counted its page, and all see the count
  // What is to be done then happens to few lanes, or to one for many pages.
  if (!any(group, ends || then != duty::none)) return;
  cold_call([*this, q, group, chunk, then, ends] {
    const lane_mask queuers = ballot(group, then == duty::queue);
    if (then == duty::queue) push_hint(q, queuers, chunk);
    end_duty(q, group, chunk, then, ends);
    sync(group);  // nor before a chunk whose pages the group freed is free: that is no move, which renewers would see
  });
}

// Sets the bits of the pages and counts them. A lane has to do what it is told then, for the pages of all lanes that
// have some of the same chunk; `ends`: its chunk is to be given back. Collective.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN auto basic_ouroboros<Items, Kind, Options>::count_pages(lane_mask group, std::uint32_t q,
                                                                    std::uint64_t offset, bool& ends) const -> duty {
  using enum memory_order;
  using enum thread_scope;
  const std::uint64_t chunk = offset >> layout::chunk_shift;
  const lane_mask mine = match(group, chunk);
  const auto freed = static_cast<std::uint32_t>(group_size(mine));
  // The bits and the count release the accesses of all lanes whose pages they are; the bits too, since a renewer may
  // take them before they are counted.
  sync(mine);
  if (freed == layout::pages(q)) {
    ends = is_leader(mine);
    if (ends) end_life(chunk);
    return duty::none;
  }
  const std::uint32_t page = static_cast<std::uint32_t>(offset & (Options.chunk_bytes - 1)) >> (layout::page_shift + q);
  const lane_mask same_word = match(mine, page / 32);
  const std::uint32_t mask = reduce(same_word, 1u << page % 32, bit_or{});
  if (is_leader(same_word)) atomic_view{record(chunk).bits[page / 32]}.fetch_or(mask, release, device);
  sync(mine);
  const duty then = is_leader(mine) ? settle(q, chunk, freed) : duty::none;
  ends = then == duty::give_back;
  return then;
}

// The rest of a lane's duty, when hints are where they belong. Collective.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN void basic_ouroboros<Items, Kind, Options>::end_duty(std::uint32_t q, lane_mask group, std::uint64_t chunk,
                                                                 duty then, bool ends) const {
  if (then == duty::list) list(q, chunk);
  if (then == duty::give_back) clear_bits(chunk);
  const lane_mask enders = ballot(group, ends);
  if (ends) give_back_together(enders, chunk);
  if (then != duty::none) end_move(q);
}

template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN void basic_ouroboros<Items, Kind, Options>::end_move(std::uint32_t q) const {
  of_class(q).moves.end();
}

// True if no free page of any size is on its way. With it, a search that begins now sees all that was freed before. One
// lane.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_COLD_FN bool basic_ouroboros<Items, Kind, Options>::nothing_moves() const {
  for (std::uint32_t q = 0; q < layout::chunk_classes; ++q) {
    if (!of_class(q).moves.quiescence().quiet) return false;
  }
  return true;
}

// Counts `freed` more pages of `chunk` as free. One lane, for all of them.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN auto basic_ouroboros<Items, Kind, Options>::settle(std::uint32_t q, std::uint64_t chunk,
                                                               std::uint32_t freed) const -> duty {
  using enum memory_order;
  using enum thread_scope;
  const atomic_view state{record(chunk).state};
  const std::uint64_t own_hint = q + 1;
  bool announced = false;
  chunk_state now{state.load(relaxed, device)};
  for (;;) {
    const std::uint32_t count = now.count() + freed;
    const bool listed = now.hint() == chunk_state::in_list;
    chunk_state next = now.with_count(count);
    duty then = duty::none;
    if (count == layout::pages(q) && !listed) {
      next = now.with_count(0).next_life();
      then = duty::give_back;
    } else if (!listed && now.hint() != own_hint) {
      then = layout::stores_pages(q) ? duty::list : duty::queue;
      next = next.with_hint(layout::stores_pages(q) ? chunk_state::in_list : own_hint);
    }
    if (!announced && then != duty::none) {
      // Until the hint is where the field says, or the chunk in the set of free ones, a renewer that finds nothing
      // looks again: what others freed there must not be out of sight. The swap below releases it.
      of_class(q).moves.begin();
      announced = true;
    }
    // Releases our bits and the callers' accesses; acquires those of all who freed pages of the chunk before, so that
    // who gives it back passes them on.
    if (state.compare_exchange(now.word, next.word, acq_rel, device)) {
      if (listed && count == layout::pages(q)) atomic_view{of_class(q).whole}.fetch_add(1, relaxed, device);
      if (announced && then == duty::none) end_move(q);
      return then;
    }
  }
}

// Ends the use of a chunk whose pages one group frees all at once: none of them is counted or has a bit, so nobody is
// to be told, and there is nothing to acquire. Adding it to the set of free chunks releases what the callers did. One
// lane.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN void basic_ouroboros<Items, Kind, Options>::end_life(std::uint64_t chunk) const {
  const atomic_view state{record(chunk).state};
  chunk_state now{state.load(memory_order::relaxed, thread_scope::device)};
  // A renewer may be dropping a hint that is out of date.
  while (!state.compare_exchange(now.word, now.next_life().word, memory_order::relaxed, thread_scope::device)) {
  }
  invariant(now.count() == 0 && now.hint() != chunk_state::in_list, "ouroboros: a page was freed twice");
}

// Moves the duty for a hint from the queue, which had no room, to the list.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_COLD_FN void basic_ouroboros<Items, Kind, Options>::list_instead(std::uint32_t q, std::uint64_t chunk) const {
  using enum memory_order;
  using enum thread_scope;
  const atomic_view state{record(chunk).state};
  chunk_state now{state.load(relaxed, device)};
  while (now.hint() == q + 1) {
    // A count of 0 means that the chunk was given back since, and needs no hint.
    const chunk_state next = now.with_hint(now.count() != 0 ? chunk_state::in_list : chunk_state::no_hint);
    if (!state.compare_exchange(now.word, next.word, acq_rel, device)) continue;
    if (now.count() != 0) list(q, chunk);
    return;
  }
}

// Puts `chunk` on the list of its size, which is only pushed to, and emptied as a whole: so no link is read too late.
// An exchange never has to be tried again, however many push; who empties the list may see the chunk before its link.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN void basic_ouroboros<Items, Kind, Options>::list(std::uint32_t q, std::uint64_t chunk) const {
  using enum memory_order;
  using enum thread_scope;
  const atomic_view link{record(chunk).link};
  link.store(chunk_record::link_pending, relaxed, device);
  const std::uint32_t first =
      atomic_view{of_class(q).parked}.exchange(static_cast<std::uint32_t>(chunk) + 1, release, device);
  link.store(first, release, device);
}

// The chunk after `chunk` in a list that was emptied, plus 1. The thread that pushed it runs, and waits for no other.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN std::uint32_t basic_ouroboros<Items, Kind, Options>::following(std::uint64_t chunk) const {
  const atomic_view link{record(chunk).link};
  std::uint32_t next = link.load(memory_order::acquire, thread_scope::device);
  for (backoff wait; next == chunk_record::link_pending;) {
    wait.pause();
    next = link.load(memory_order::acquire, thread_scope::device);
  }
  return next;
}

// Counts pages as free again that a renewer has taken from the count and cannot use; their bits are still set. One
// lane.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_COLD_FN void basic_ouroboros<Items, Kind, Options>::count_free(std::uint32_t q, std::uint64_t chunk,
                                                                        std::uint32_t freed) const {
  const duty then = settle(q, chunk, freed);
  if (then == duty::queue) list_instead(q, chunk);
  if (then == duty::list) list(q, chunk);
  if (then == duty::give_back) give_back(chunk);
  if (then != duty::none) end_move(q);
}

// Clears the bits of a chunk whose pages are all free and counted no more.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN void basic_ouroboros<Items, Kind, Options>::clear_bits(std::uint64_t chunk) const {
  for (std::uint32_t& word : record(chunk).bits) {
    atomic_view{word}.store(0, memory_order::relaxed, thread_scope::device);
  }
}

// Makes such a chunk free, whose bits are still set.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN void basic_ouroboros<Items, Kind, Options>::give_back(std::uint64_t chunk) const {
  clear_bits(chunk);
  free_chunks().add({chunk, 1});
}

// Adds the chunk of each lane to the free ones, neighbours together: a warp that frees large pages frees many chunks at
// once. Collective.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_COLD_FN void basic_ouroboros<Items, Kind, Options>::give_back_together(lane_mask group,
                                                                                std::uint64_t chunk) const {
  const auto leaf = static_cast<std::uint32_t>(chunk / bit_tree::leaf_bits);
  const lane_mask mine = match(group, leaf);
  const std::uint32_t bit = 1u << chunk % 32;
  const bool high = (chunk & 32) != 0;
  const std::uint64_t lower = reduce(mine, high ? 0 : bit, bit_or{});
  const std::uint64_t upper = reduce(mine, high ? bit : 0, bit_or{});
  sync(mine);  // what each did to its chunk, the leader releases
  if (is_leader(mine)) free_chunks().add(leaf, upper << 32 | lower);
  sync(mine);
}

// The next chunk of the list for each lane, as far as there are that many; no_chunk for the others. The renewer's
// group.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_COLD_FN std::uint64_t basic_ouroboros<Items, Kind, Options>::next_parked(std::uint32_t q,
                                                                                  lane_mask group) const {
  using enum memory_order;
  using enum thread_scope;
  page_class& size = of_class(q);
  std::uint64_t mine = no_chunk;
  std::uint32_t at = size.chain;
  sync(group);
  for (int i = 0; i < group_size(group); ++i) {
    if (at == 0) {
      std::uint32_t first = 0;
      // Acquires the links.
      if (is_leader(group) && atomic_view{size.parked}.load(relaxed, device) != 0) {
        first = atomic_view{size.parked}.exchange(0, memory_order::acquire, device);
      }
      at = shuffle(group, first, leader(group));
      sync(group);
    }
    if (at == 0) break;
    if (group_rank(group) == i) mine = at - 1;
    at = following(at - 1);
  }
  if (is_leader(group)) size.chain = at;
  sync(group);
  return mine;
}

// Takes a chunk off the list for good, with all pages that are counted there: they are the caller's, their bits still
// set. One lane of the renewer's group.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN std::uint32_t basic_ouroboros<Items, Kind, Options>::harvest_chunk(std::uint32_t q,
                                                                               std::uint64_t chunk) const {
  using enum memory_order;
  using enum thread_scope;
  const atomic_view state{record(chunk).state};
  chunk_state now{state.load(relaxed, device)};
  while (!state.compare_exchange(now.word, now.with_count(0).with_hint(chunk_state::no_hint).word, acq_rel, device)) {
  }
  if (now.count() == layout::pages(q)) atomic_view{of_class(q).whole}.fetch_sub(1, relaxed, device);
  return now.count();
}

// Takes `count` set bits of `chunk` and writes the numbers of their pages from `to` on. One lane of the renewer's
// group, who has taken that many from the count. Others may take bits, too, but leave as many.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN void basic_ouroboros<Items, Kind, Options>::unpark(std::uint32_t q, std::uint64_t chunk,
                                                               std::uint32_t count, std::uint64_t* to) const {
  using enum memory_order;
  using enum thread_scope;
  constexpr std::uint32_t words = sizeof(chunk_record::bits) / sizeof(std::uint32_t);
  const std::uint64_t first = chunk * layout::pages(q);
  for (std::uint32_t word = 0; count != 0; word = (word + 1) % words) {
    const atomic_view bits{record(chunk).bits[word]};
    std::uint32_t wanted = 0;
    std::uint32_t left = count;
    // not a spin: each turn drops a bit of a word that was read once
    for (std::uint32_t there = bits.load(relaxed, device); there != 0 && left != 0; there &= there - 1, --left) {
      wanted |= there & (0u - there);
    }
    if (wanted == 0) continue;
    for (std::uint32_t got = bits.fetch_and(~wanted, acquire, device) & wanted; got != 0; got &= got - 1, --count) {
      *to++ = first + word * 32 + static_cast<std::uint64_t>(lowest_bit(got));
    }
  }
}

}  // namespace warpheap
