// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/bulk/bulk.hpp>

// malloc of up to 2 KiB.
//
// Lanes that want the same class of the same heap are peers; their leader acts for all. Mostly that is: units off the
// semaphore, units off the bin on top, bits of one word; no loop but that of a reader whom a grace period overtakes, and
// at the end those who have their blocks wait for the others of their group, so that they leave together.

namespace warpheap {

// A block for each lane of `group`, whose lanes may want different classes and use different heaps. Collective.
template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_FN void* bulk_allocator<Buddy, ChunkPages>::take_block(lane_mask group, std::uint32_t c) const {
  static_assert(layout::classes <= alignof(control));  // the control's address leaves room for the class
  const lane_mask peers = match(group, reinterpret_cast<std::uint64_t>(control_) | c);
  credit left{0, 0};
  hold held{0, 0, 0};
  claim got{0, 0, 0};
  if (is_leader(peers)) got = take_quickly(c, static_cast<std::uint32_t>(group_size(peers)), left, held);
  void* block = hand_out(group, peers, c, got, 0);
  const lane_mask rest = ballot(group, block == nullptr);
  if (rest == 0) return block;
  // What the leader could not turn into blocks goes to those who have none.
  const int first = leader(peers);
  left = {shuffle(group, left.arena, first), shuffle(group, left.units, first)};
  held = {shuffle(group, held.page, first), shuffle(group, held.units, first), 0};
  if (block == nullptr) {
    const lane_mask same = peers & rest;
    block = cold_call([*this, same, c, left, held] { return take_more(same, c, left, held); });
  }
  sync(group);
  return block;
}

// As many of `wanted` blocks as a few looks give; what was counted off and is no block yet is `left`, or `held`. One lane.
template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_FN auto bulk_allocator<Buddy, ChunkPages>::take_quickly(std::uint32_t c, std::uint32_t wanted, credit& left,
                                                                 hold& held) const -> claim {
  const std::uint32_t arena = home();
  bulk_semaphore& count = shelf_of(arena, c).count;
  if (count.count().available < wanted || !count.try_take(wanted)) return {0, 0, 0};
  left = {arena, wanted};
  // A top without units is taken off, so a few looks find one that has some.
  constexpr std::uint32_t looks = 3;
  const srcu::ticket in = readers_of(arena).enter();
  for (std::uint32_t i = 0; i < looks && held.units == 0; ++i) {
    if (!take_top(arena, c, detail::bulk_warp(), wanted, held)) break;
  }
  readers_of(arena).leave(in);
  if (held.units == 0) return {0, 0, 0};
  left.units -= held.units;
  const claim got = claim_at_once(held);
  held.units -= static_cast<std::uint32_t>(popcount(got.bits));
  return got;
}

// The blocks that the leader of `peers` claimed, for the lanes of it from rank `before` on, as far as they go; null for
// the others. Collective over `group`.
template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_FN void* bulk_allocator<Buddy, ChunkPages>::hand_out(lane_mask group, lane_mask peers, std::uint32_t c,
                                                              claim got, std::uint32_t before) const {
  sync(group);  // what the leaders acquired, all did
  const int first = leader(peers);
  got = {shuffle(group, got.page, first), shuffle(group, got.word, first), shuffle(group, got.bits, first)};
  const std::uint32_t rank = static_cast<std::uint32_t>(group_rank(peers)) - before;
  if (rank >= static_cast<std::uint32_t>(popcount(got.bits))) return nullptr;
  return reinterpret_cast<void*>(block_at(got.page, c, got.word * 64 + detail::bulk_bit_of(got.bits, rank)));
}

// The address of a unit.
template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_FN std::uint64_t bulk_allocator<Buddy, ChunkPages>::block_at(std::uint32_t page, std::uint32_t c,
                                                                      std::uint32_t bit) const {
  const std::uint32_t at = bit << (c + 3);
  const std::uint64_t bin = base_ + page * layout::page_bytes;
  if (c >= layout::paged_sizes || at < layout::body_bytes) return bin + layout::head_bytes + at;
  // In the tail.
  const std::uint32_t index = page % layout::chunk_pages;
  return bin - index * layout::page_bytes + index * layout::head_bytes + (at - layout::body_bytes);
}

// A block for each of `peers`, of which some units are `left` or `held` by now; null for those that get none. Collective.
template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_COLD_FN void* bulk_allocator<Buddy, ChunkPages>::take_more(lane_mask peers, std::uint32_t c, credit left,
                                                                    hold held) const {
  // A heap in which no chunk can lie has pages at the most, and serves those.
  if (c != layout::pages_class && !has_chunks()) return take_pages(layout::page_bytes);
  const auto wanted = static_cast<std::uint32_t>(group_size(peers));
  void* block = nullptr;
  for (std::uint32_t done = 0; done < wanted;) {  // not a spin: each turn serves lanes, or is the last
    claim got{0, 0, 0};
    if (is_leader(peers)) {
      bool found = held.units != 0 || left.units != 0;
      if (!found) found = find_units(c, wanted - done, left, held);
      if (found && held.units == 0) {
        held = take_listed(left.arena, c, left.units);
        left.units -= held.units;
      }
      if (found) got = claim_some(held);
      held.units -= static_cast<std::uint32_t>(popcount(got.bits));
    }
    void* const mine = hand_out(peers, peers, c, got, done);
    if (mine != nullptr) block = mine;
    const auto served = static_cast<std::uint32_t>(popcount(shuffle(peers, got.bits, leader(peers))));
    if (served == 0) break;
    done += served;
  }
  return block;
}

}  // namespace warpheap
