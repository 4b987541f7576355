// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/ouroboros/ouroboros.hpp>

// Two-stage allocation: a unit of a batch of hints names a chunk, and the holder takes a page of it, first from its
// count, then a bit.
//
// An entry may stand for several units. The holder of the last of them, the *last holder*, answers for the hint: it
// puts it back if pages are left, or clears the hint field by the same change that leaves none. The others just take
// pages; they may come later than the last holder, and find that the hint is out of date.
//
// Invariant: while a unit of a batch of hints is not finished, its chunk's hint may be in nobody's sight but its last
// holder's. So a renewer who is about to refuse waits until all are finished.

namespace warpheap {

// A page of the chunk that each lane's unit hints at, or null if the chunk has no page left. Collective over the lanes
// with units of the same batch.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN void* basic_ouroboros<Items, Kind, Options>::hinted_page(std::uint32_t q, lane_mask group,
                                                                     batch_ring::place at) const {
  page_class& size = of_class(q);
  const source from{at.what};
  const std::uint32_t last_of_entry = (1u << from.shift()) - 1;
  const std::uint32_t place = at.index >> from.shift();
  const std::uint64_t chunk = entry(from, place);
  const lane_mask mates = match(group, place);
  const bool last = any(mates, (at.index & last_of_entry) == last_of_entry);
  std::uint32_t taken = 0;
  bool more = false;
  if (is_leader(mates)) taken = take_counted(q, chunk, static_cast<std::uint32_t>(group_size(mates)), last, more);
  taken = shuffle(mates, taken, leader(mates));
  const lane_mask returners = ballot(group, more);
  if (more) push_hint(q, returners, chunk);
  sync(group);
  if (is_leader(group) && size.stock.finish(at.in, static_cast<std::uint32_t>(group_size(group)))) retire(q, from);
  const auto rank = static_cast<std::uint32_t>(group_rank(mates));
  if (rank >= taken) return nullptr;
  return data_ + (take_page_bit(q, chunk, rank) << (layout::page_shift + q));
}

// Puts hints to the chunks of `group` in the queue of size q, or in its list. The hint field tells of the queue.
// Collective.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_COLD_FN void basic_ouroboros<Items, Kind, Options>::push_hint(std::uint32_t q, lane_mask group,
                                                                       std::uint64_t chunk) const {
  if (!queue_hint(q, group, static_cast<std::uint32_t>(chunk))) list_instead(q, chunk);
}

// False if there is no room.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_COLD_FN bool basic_ouroboros<Items, Kind, Options>::queue_hint(std::uint32_t q, lane_mask group,
                                                                        std::uint32_t chunk) const {
  return queue(q).push(group, chunk,
                       [&](lane_mask openers, batch_ring::batch newest) { queue(q).open(openers, newest); });
}

// Takes up to `most` pages from the count of `chunk`; their bits are still set. `more`: the hint is to be put back;
// only if the caller answers for it, as `last` says. One lane.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN std::uint32_t basic_ouroboros<Items, Kind, Options>::take_counted(std::uint32_t q, std::uint64_t chunk,
                                                                              std::uint32_t most, bool last,
                                                                              bool& more) const {
  using enum memory_order;
  using enum thread_scope;
  const atomic_view state{record(chunk).state};
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

// Takes a set bit of `chunk`, for who has taken it from the count, and returns the number of its page. So there always
// is one; callers with other ranks look for other ones first. One lane.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN std::uint64_t basic_ouroboros<Items, Kind, Options>::take_page_bit(std::uint32_t q, std::uint64_t chunk,
                                                                               std::uint32_t rank) const {
  using enum memory_order;
  using enum thread_scope;
  const std::uint32_t words = divide_up(layout::pages(q), 32);
  for (std::uint32_t word = 0;;
       word = word + 1 < words ? word + 1 : 0) {  // not a spin: who is too late, another was served
    const atomic_view bits{record(chunk).bits[word]};
    std::uint32_t there = bits.load(relaxed, device);
    for (; there != 0 && rank != 0; --rank) there &= there - 1;
    if (there == 0) continue;
    const std::uint32_t bit = there & (0u - there);
    // Acquires what the page's last user did.
    if ((bits.fetch_and(~bit, acquire, device) & bit) == 0) continue;
    return chunk * layout::pages(q) + word * 32 + static_cast<std::uint64_t>(lowest_bit(bit));
  }
}

}  // namespace warpheap
