// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocators/ouroboros/ouroboros.hpp>

// A free page that is in no queue waits in the bitmap of its chunk: it is *parked*. For page sizes that queue chunks
// this is the rule, for those that queue pages it is what happens when the queue has no room.
//
// Order in which things change. Freeing: bit, then count; so at least as many bits are set as are counted. Taking,
// which only the size's renewer does: count, then bits. A chunk is given back by whoever counts its last page, by the
// same compare-and-swap, so nobody else can give it back or take its pages.
//
// Invariant: a chunk with a count above 0 has a hint, and its hint field tells where that lies: in the queue of its own
// size, or in the list of its size. Whoever sets the field puts the hint there; whoever takes the hint clears the field
// before it reads the count. A hint whose chunk says otherwise is out of date and is dropped. A chunk in the list keeps
// its size until it is taken off, because it has one link only.

namespace warpheap {

// Frees the page at `offset` of each lane of `group`, all of size q. Collective.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN void basic_ouroboros<Items, Kind, Options>::park(lane_mask group, std::uint32_t q,
                                                             std::uint64_t offset) const {
  using enum memory_order;
  using enum thread_scope;
  const std::uint64_t chunk = offset >> layout::chunk_shift;
  if (q >= layout::chunk_classes) return free_chunks().add({chunk, layout::chunks_of_page(q)});
  const lane_mask mine = match(group, chunk);
  const auto freed = static_cast<std::uint32_t>(group_size(mine));
  // The bits and the count release the accesses of all lanes whose pages they are; the bits too, since a renewer may
  // take them before they are counted.
  sync(mine);
  duty then = duty::none;
  if (freed == layout::pages(q)) {
    if (is_leader(mine)) give_back_whole(chunk);
  } else {
    const std::uint32_t page =
        static_cast<std::uint32_t>(offset & (Options.chunk_bytes - 1)) >> (layout::page_shift + q);
    const lane_mask same_word = match(mine, page / 32);
    const std::uint32_t mask = reduce(same_word, 1u << page % 32, bit_or{});
    if (is_leader(same_word)) atomic_view{record(chunk).bits[page / 32]}.fetch_or(mask, release, device);
    sync(mine);
    if (is_leader(mine)) then = settle(q, chunk, freed);
  }
  const lane_mask queuers = ballot(group, then == duty::queue);
  if (then == duty::queue) {
    const Kind of = kind();
    const bool queued = segment_queue<Kind>{of_class(q).queue, of}.push(queuers, static_cast<std::uint32_t>(chunk));
    if (!queued) list_instead(q, chunk);
  }
  if (then == duty::list) list(q, chunk);
  if (then == duty::give_back) give_back(chunk);
  if (then != duty::none) end_move(q);
}

template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN void basic_ouroboros<Items, Kind, Options>::end_move(std::uint32_t q) const {
  atomic_view{of_class(q).moves_ended}.fetch_add(1, memory_order::release, thread_scope::device);
}

// True if no free page of any size is on its way. With it, a search that begins now sees all that was freed before. One
// lane.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN bool basic_ouroboros<Items, Kind, Options>::nothing_moves() const {
  using enum memory_order;
  using enum thread_scope;
  for (std::uint32_t q = 0; q < layout::chunk_classes; ++q) {
    const std::uint32_t ended = atomic_view{of_class(q).moves_ended}.load(acquire, device);
    if (atomic_view{of_class(q).moves_begun}.load(relaxed, device) != ended) return false;
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
      atomic_view{of_class(q).moves_begun}.fetch_add(1, relaxed, device);
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

// Gives back a chunk whose pages one group frees all at once: none of them is counted or has a bit, so nobody is to be
// told, and there is nothing to acquire. Adding it to the set of free chunks releases what the callers did. One lane.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN void basic_ouroboros<Items, Kind, Options>::give_back_whole(std::uint64_t chunk) const {
  const atomic_view state{record(chunk).state};
  chunk_state now{state.load(memory_order::relaxed, thread_scope::device)};
  // A renewer may be dropping a hint that is out of date.
  while (!state.compare_exchange(now.word, now.next_life().word, memory_order::relaxed, thread_scope::device)) {
  }
  invariant(now.count() == 0 && now.hint() != chunk_state::in_list, "ouroboros: a page was freed twice");
  free_chunks().add({chunk, 1});
}

// Moves the duty for a hint from the queue, which had no room, to the list.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN void basic_ouroboros<Items, Kind, Options>::list_instead(std::uint32_t q, std::uint64_t chunk) const {
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

// Puts `chunk` on the list of its size. Only pushed to, and emptied as a whole, so that no link is read too late.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN void basic_ouroboros<Items, Kind, Options>::list(std::uint32_t q, std::uint64_t chunk) const {
  using enum memory_order;
  using enum thread_scope;
  const atomic_view head{of_class(q).parked};
  std::uint32_t first = head.load(relaxed, device);
  do {
    atomic_view{record(chunk).link}.store(first, relaxed, device);
  } while (!head.compare_exchange(first, static_cast<std::uint32_t>(chunk) + 1, release, device));
}

// Counts pages as free again that a renewer has taken from the count and cannot use; their bits are still set. One
// lane.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN void basic_ouroboros<Items, Kind, Options>::count_free(std::uint32_t q, std::uint64_t chunk,
                                                                   std::uint32_t freed) const {
  const duty then = settle(q, chunk, freed);
  if (then == duty::queue) list_instead(q, chunk);
  if (then == duty::list) list(q, chunk);
  if (then == duty::give_back) give_back(chunk);
  if (then != duty::none) end_move(q);
}

// Makes a chunk free whose pages are all free and counted no more; their bits are still set.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN void basic_ouroboros<Items, Kind, Options>::give_back(std::uint64_t chunk) const {
  for (std::uint32_t& word : record(chunk).bits) {
    atomic_view{word}.store(0, memory_order::relaxed, thread_scope::device);
  }
  free_chunks().add({chunk, 1});
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
    at = atomic_view{record(at - 1).link}.load(relaxed, device);
  }
  if (is_leader(group)) size.chain = at;
  sync(group);
  return mine;
}

// Takes the hint to `chunk` and all pages that are counted there: they are the caller's, their bits still set.
// `listed` tells where the hint was found. One lane of the renewer's group.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN std::uint32_t basic_ouroboros<Items, Kind, Options>::harvest_chunk(std::uint32_t q, std::uint64_t chunk,
                                                                               bool listed) const {
  using enum memory_order;
  using enum thread_scope;
  const atomic_view state{record(chunk).state};
  const std::uint64_t expected = listed ? chunk_state::in_list : q + 1;
  chunk_state now{state.load(acquire, device)};
  for (;;) {
    if (now.hint() != expected) return 0;  // out of date
    // A count belongs to our size: a chunk of another size that has one would have another hint.
    if (state.compare_exchange(now.word, now.with_count(0).with_hint(chunk_state::no_hint).word, acq_rel, device))
      break;
  }
  if (listed && now.count() == layout::pages(q)) atomic_view{of_class(q).whole}.fetch_sub(1, relaxed, device);
  return now.count();
}

// Takes `count` set bits of `chunk` and writes the numbers of their pages from `to` on. One lane of the renewer's
// group, who has taken that many from the count.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN void basic_ouroboros<Items, Kind, Options>::unpark(std::uint32_t q, std::uint64_t chunk,
                                                               std::uint32_t count, std::uint64_t* to) const {
  using enum memory_order;
  using enum thread_scope;
  const std::uint64_t first = chunk * layout::pages(q);
  for (std::uint32_t word = 0; count != 0; ++word) {
    const atomic_view bits{record(chunk).bits[word]};
    std::uint32_t there = bits.load(relaxed, device);
    std::uint32_t taken = 0;
    for (; there != 0 && count != 0; there &= there - 1, --count) {
      taken |= there & (0u - there);
      *to++ = first + word * 32 + static_cast<std::uint64_t>(lowest_bit(there));
    }
    if (taken != 0) bits.fetch_and(~taken, acquire, device);
  }
}

}  // namespace warpheap
