// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/bulk/bulk.hpp>

// malloc. Lanes that want the same class of the same heap are peers; their leader acts for all of
// them. The quick path is three steps: units off the semaphore, units off the bin on top, bits of
// one word. Two of its loops have no bound: `enter` retries when a grace period begins, and a push
// or a swap of one word retries when another thread's change of that word succeeded.
// Lanes that have their blocks wait for the others of their group, so a warp leaves together.

namespace warpheap {

template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_FN void* bulk_allocator<Buddy, ChunkPages>::malloc(std::uint64_t bytes) const {
  if (bytes > layout::largest_bytes) return cold_call([*this, bytes] { return take_pages(bytes); });
  return take_block(active_group(), layout::class_of(bytes));
}

template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_FN void* bulk_allocator<Buddy, ChunkPages>::aligned_malloc(std::uint64_t alignment,
                                                                    std::uint64_t bytes) const {
  // Blocks are aligned to their size, as far as heads of bins leave it: 128 bytes.
  const std::uint64_t least = bytes > alignment ? bytes : alignment;
  if (alignment <= layout::head_bytes) return malloc(least);
  return cold_call([*this, least] { return take_pages(least); });
}

/// Takes a block for each lane of `group`, whose lanes may want different classes and use different
/// heaps. Collective.
template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_FN void* bulk_allocator<Buddy, ChunkPages>::take_block(lane_mask group, std::uint32_t c) const {
  static_assert(layout::classes <= alignof(control));  // as a kind of request
  const warp_request peers = warp_request::of(group, &pages().control(), c);
  list_units left{0, 0};
  bin_units taken{0, 0, 0};
  claim got{0, 0, 0};
  if (peers.leads()) got = take_quickly(c, peers.size(), left, taken);
  void* block = hand_out(group, peers, c, got, 0);
  const lane_mask rest = ballot(group, block == nullptr);
  if (rest == 0) return block;
  // Units that the leader could not turn into blocks go to the lanes that have none.
  left = {peers.from_leader(group, left.arena), peers.from_leader(group, left.units)};
  taken = {peers.from_leader(group, taken.page), peers.from_leader(group, taken.units), 0};
  if (block == nullptr) {
    const lane_mask same = peers.lanes & rest;
    block = cold_call([*this, same, c, left, taken] { return take_slowly(same, c, left, taken); });
  }
  sync(group);
  return block;
}

/// Claims as many of `wanted` blocks as one attempt at each stage yields. Units that were counted
/// off and are no blocks yet are `left` or `taken`. One lane.
template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_FN auto bulk_allocator<Buddy, ChunkPages>::take_quickly(std::uint32_t c, std::uint32_t wanted,
                                                                 list_units& left, bin_units& taken) const -> claim {
  const std::uint32_t arena = lists().local_arena();
  bulk_semaphore& count = lists().list_at(arena, c).count;
  if (count.count().available < wanted || !count.try_take(wanted)) return {0, 0, 0};
  left = {arena, wanted};
  // An exhausted top is taken off, so a few attempts reach a bin that has units.
  constexpr std::uint32_t attempts = 3;
  const srcu::ticket in = lists().readers_of(arena).enter();
  for (std::uint32_t i = 0; i < attempts && taken.units == 0; ++i) {
    if (!lists().count_off_top(arena, c, grid_warp_index(), wanted, taken)) break;
  }
  lists().readers_of(arena).leave(in);
  if (taken.units == 0) return {0, 0, 0};
  left.units -= taken.units;
  const claim got = search_.bins().try_claim(taken);
  taken.units -= static_cast<std::uint32_t>(popcount(got.bits));
  return got;
}

/// Takes a block for each of `peers`, of which some units are `left` or `taken` by now; null for
/// lanes that are refused. Collective.
template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_COLD_FN void* bulk_allocator<Buddy, ChunkPages>::take_slowly(lane_mask lanes, std::uint32_t c, list_units left,
                                                                      bin_units taken) const {
  // A heap in which no chunk can lie has pages at most, and serves those.
  if (c != layout::pages_class && !pages().has_chunks()) return take_pages(layout::page_bytes);
  const warp_request peers{lanes};
  const std::uint32_t wanted = peers.size();
  void* block = nullptr;
  for (std::uint32_t done = 0; done < wanted;) {  // not a spin: each turn serves lanes, or is the last
    claim got{0, 0, 0};
    if (peers.leads()) {
      bool found = taken.units != 0 || left.units != 0;
      if (!found) found = search_.find_units(c, wanted - done, left, taken);
      if (found && taken.units == 0) {
        taken = lists().count_off_some_bin(left.arena, c, left.units);
        left.units -= taken.units;
      }
      if (found) got = search_.bins().claim(taken);
      taken.units -= static_cast<std::uint32_t>(popcount(got.bits));
    }
    void* const mine = hand_out(lanes, peers, c, got, done);
    if (mine != nullptr) block = mine;
    const auto served = static_cast<std::uint32_t>(popcount(peers.from_leader(got.bits)));
    if (served == 0) break;
    done += served;
  }
  return block;
}

/// The blocks that the leader of `peers` claimed, for its lanes from rank `before` on, as far as
/// they go; null for the others. Collective over `group`.
template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_FN void* bulk_allocator<Buddy, ChunkPages>::hand_out(lane_mask group, warp_request peers, std::uint32_t c,
                                                              claim got, std::uint32_t before) const {
  sync(group);  // passes on what the leaders acquired
  got = {peers.from_leader(group, got.page), peers.from_leader(group, got.word), peers.from_leader(group, got.bits)};
  const std::uint32_t rank = peers.rank() - before;
  if (rank >= static_cast<std::uint32_t>(popcount(got.bits))) return nullptr;
  const auto bit = static_cast<std::uint32_t>(nth_set_bit(got.bits, static_cast<int>(rank)));
  return reinterpret_cast<void*>(block_at(got.page, c, got.word * 64 + bit));
}

/// Address of unit `bit` of the bin at `page`. The inverse is `position_of`.
template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_FN std::uint64_t bulk_allocator<Buddy, ChunkPages>::block_at(std::uint32_t page, std::uint32_t c,
                                                                      std::uint32_t bit) const {
  const std::uint32_t at = bit << (c + 3);
  const std::uint64_t bin = pages().address_of(page);
  if (c >= layout::paged_sizes || at < layout::body_bytes) return bin + layout::head_bytes + at;
  // In the tail.
  const std::uint32_t index = page % layout::chunk_pages;
  return bin - index * layout::page_bytes + index * layout::head_bytes + (at - layout::body_bytes);
}

/// Takes a block of TBuddy: a power of two of pages, whose order is kept in the tag of its first
/// page.
template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_COLD_FN void* bulk_allocator<Buddy, ChunkPages>::take_pages(std::uint64_t bytes) const {
  static_assert(Buddy::largest_order < alignof(control));  // as a kind of request
  constexpr std::uint32_t tries = 2;
  if (bytes > capabilities.largest_bytes) return nullptr;
  const std::uint32_t order =
      bytes <= layout::page_bytes ? 0 : static_cast<std::uint32_t>(highest_bit((bytes - 1) / layout::page_bytes) + 1);
  const lane_mask group = warp_request::of(active_group(), &pages().control(), order).lanes;
  std::uint32_t page = pages().take(group, order, tries);
  if (page == Buddy::none) page = search_.find_pages(order);
  if (page == Buddy::none) return nullptr;
  pages().buddy().tag(page) = static_cast<std::uint8_t>(order);
  return reinterpret_cast<void*>(pages().address_of(page));
}

}  // namespace warpheap
