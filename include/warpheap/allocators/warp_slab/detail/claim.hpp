// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocators/warp_slab/warp_slab.hpp>

// Claiming blocks of slabs that are there.
//
// A claim clears bits of a word and so owns their blocks. It swaps the whole word, whose upper half is the class of the
// slab: a claimer that comes with old news, to a slab that was taken back and is of another class now, changes nothing.
// No block is ever cleared but by who keeps it, so no free block is out of sight for a moment.
//
// A warp begins at its seat, the word where it last found blocks of the class. Nobody keeps it from others, and it may be
// stale; then the word says so.
//
// Orders: a claim acquires what the release of its blocks released, the accesses of who had them before. News on where
// slabs lie (`seats`, `places`, `table`) need no order, since the word itself is what is believed.

namespace warpheap {
namespace detail {

// The lowest `count` set bits of `word`.
WARPHEAP_FN inline std::uint32_t lowest_bits(std::uint32_t word, std::uint32_t count) {
  if (static_cast<std::uint32_t>(popcount(word)) <= count) return word;
  return word & low_bits(nth_set_bit(word, static_cast<int>(count)));
}

WARPHEAP_FN inline std::uint32_t turn_left(std::uint32_t word, std::uint32_t by) {
  return word << by % 32 | word >> (32 - by) % 32;
}

// The warp of the caller, numbered through the grid.
WARPHEAP_FN inline std::uint32_t warp_number() {
  const std::uint32_t warps = (block_threads() + warp_width - 1) / warp_width;
  return static_cast<std::uint32_t>(block_index()) * warps + thread_index() / warp_width;
}

}  // namespace detail

// A block for each lane of `group`, whose lanes may want blocks of different classes. Collective.
//
// The lanes that lead the lanes of one class work side by side, so a warp that wants blocks of a dozen classes waits
// for memory no longer than one that wants the same for all.
WARPHEAP_FN inline void* warp_slab::take_block(lane_mask group, std::uint32_t c) const {
  // Lanes may use different heaps, too. The control block's address ends in zeros, which leave room for the class.
  static_assert(classes::count <= alignof(layout::control));
  const lane_mask peers = match(group, reinterpret_cast<std::uint64_t>(control_) | c);
  slab_claim got;
  if (is_leader(peers)) got = claim_at_seat(c, static_cast<std::uint32_t>(group_size(peers)));
  void* const found = hand_out(group, peers, c, got);
  const lane_mask rest = ballot(group, found == nullptr);
  if (found != nullptr) return found;
  const lane_mask same = peers & rest;
  return cold_call([*this, rest, same, c] { return take_elsewhere(rest, same, c); });
}

// The caller's seat for class `c`.
WARPHEAP_FN inline atomic_view<std::uint32_t> warp_slab::seat(std::uint32_t c) const {
  constexpr std::uint32_t there = unit_group::seats_of_group;
  const std::uint32_t mine = detail::warp_number() & seat_mask_;
  return atomic_view{groups()[mine / there].seats[c][mine % there]};
}

// Up to `wanted` blocks of the word at the caller's seat. One lane.
WARPHEAP_FN inline slab_claim warp_slab::claim_at_seat(std::uint32_t c, std::uint32_t wanted) const {
  using enum memory_order;
  using enum thread_scope;
  const std::uint32_t named = seat(c).load(relaxed, device);
  if (named == 0) return {};
  const std::uint32_t at = named - 1;
  // A whole warp guesses that the word is all free, which saves the look.
  slab_word seen = slab_word::make(c, layout::all_blocks(c, at % classes::most_words));
  if (wanted < warp_width) seen.value = word(at).load(relaxed, device);
  return claim(c, at, seen, wanted);
}

// The blocks that the leader of `peers` claimed for them, one for each lane as far as they go; null for the others.
// Collective over `group`.
WARPHEAP_FN inline void* warp_slab::hand_out(lane_mask group, lane_mask peers, std::uint32_t c, slab_claim got) const {
  sync(group);  // what the leaders acquired is acquired for all
  got.word = shuffle(group, got.word, leader(peers));
  got.blocks = shuffle(group, got.blocks, leader(peers));
  const int rank = group_rank(peers);
  return rank < popcount(got.blocks) ? block_of(c, got, rank) : nullptr;
}

// Up to `wanted` blocks of a word, which was seen or guessed to be `seen`. One lane.
WARPHEAP_FN inline slab_claim warp_slab::claim(std::uint32_t c, std::uint32_t at, slab_word seen,
                                               std::uint32_t wanted) const {
  using enum memory_order;
  using enum thread_scope;
  const atomic_view view{word(at)};
  while (seen.is_of(c) && seen.free() != 0) {  // not a spin: it fails only when another claim or release came first
    // Warps with one home begin at different bits.
    const std::uint32_t from = detail::warp_number() % 32;
    const std::uint32_t chosen =
        detail::turn_left(detail::lowest_bits(detail::turn_left(seen.free(), 32 - from), wanted), from);
    if (view.compare_exchange(seen.value, seen.value & slab_word::all_but(chosen), acquire, device))
      return {at, chosen};
  }
  return {};
}

// The block of the lane of rank `rank` among those that share a claim.
WARPHEAP_FN inline void* warp_slab::block_of(std::uint32_t c, slab_claim from, int rank) const {
  const std::uint64_t slab = std::uint64_t{from.word / classes::most_words} << classes::unit_shift;
  const auto bit = static_cast<std::uint32_t>(from.blocks == ~0u ? rank : nth_set_bit(from.blocks, rank));
  return data_ + slab + std::uint64_t{from.word % classes::most_words * 32 + bit} * classes::bytes(c);
}

}  // namespace warpheap
