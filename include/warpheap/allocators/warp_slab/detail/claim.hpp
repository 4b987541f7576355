// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocators/warp_slab/warp_slab.hpp>

// Claiming blocks of slabs that are there.
//
// A claim clears bits of a word that were seen to be free, and owns the blocks of those that still were. Others may come
// in between, so it may get less than it saw; then it goes on with what is left. The operation tells the class of the
// slab, too: a claimer that comes so late that the slab was taken back and is of another class now puts the blocks back.
//
// A warp begins at its seat, the word where it last found blocks of the class. Nobody keeps it from others, and it may be
// stale; then the word says so.
//
// Invariant: a bit is clear from its claim until its release, and in between one thread has the block.
//
// Orders: a claim acquires what the release of its blocks released, the accesses of who had them before. News on where
// slabs lie (`seats`, `places`, `table`) need no order, since the word itself is what is believed.

namespace warpheap {
namespace detail {

// The set bits of `word` from its lowest on that have no gap between them. `word` must not be 0.
WARPHEAP_FN inline std::uint32_t lowest_run(std::uint32_t word) { return word & ~(word + (word & (0u - word))); }

// The lowest `count` set bits of `word`, which has more. Mostly they are neighbours, which is quick to see and to use.
WARPHEAP_FN inline std::uint32_t lowest_bits(std::uint32_t word, std::uint32_t count) {
  if (static_cast<std::uint32_t>(popcount(lowest_run(word))) >= count) {
    return low_bits(static_cast<int>(count)) << lowest_bit(word);
  }
  return word & low_bits(nth_set_bit(word, static_cast<int>(count)));
}

// Index of the set bit of `word` that has `rank` set bits below it; quick if all set bits are neighbours.
WARPHEAP_FN inline std::uint32_t bit_of_rank(std::uint32_t word, int rank) {
  return static_cast<std::uint32_t>(lowest_run(word) == word ? lowest_bit(word) + rank : nth_set_bit(word, rank));
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

// The caller's seat for class `c`. A class has all seats from its own first one on and around, so in a small heap warps
// of several classes may share some; who finds there what another one left takes it for news.
WARPHEAP_FN inline atomic_view<std::uint32_t> warp_slab::seat(std::uint32_t c) const {
  constexpr std::uint32_t there = unit_group::seats_of_group;
  static_assert(classes::count <= 64);
  const std::uint32_t mine = (detail::warp_number() + c * (seat_mask_ / 64 + 1)) & seat_mask_;
  return atomic_view{groups()[mine / there].seats[mine % there]};
}

// Up to `wanted` blocks of the word at the caller's seat. One lane.
WARPHEAP_FN inline slab_claim warp_slab::claim_at_seat(std::uint32_t c, std::uint32_t wanted) const {
  using enum memory_order;
  using enum thread_scope;
  const std::uint32_t named = seat(c).load(relaxed, device);
  if (named == 0) return {};
  const std::uint32_t at = named - 1;
  slab_word seen{};
  if (wanted == 32) {
    // A whole warp guesses that the word is all free, which saves the look.
    seen = slab_word::make(c, ~0u);
    if (word(at).compare_exchange(seen.value, seen.value & slab_word::all_but(~0u), acquire, device)) return {at, ~0u};
  } else {
    seen.value = word(at).load(relaxed, device);
  }
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

// Up to `wanted` blocks of a word that was seen to be `seen`. One lane.
WARPHEAP_FN inline slab_claim warp_slab::claim(std::uint32_t c, std::uint32_t at, slab_word seen,
                                               std::uint32_t wanted) const {
  using enum memory_order;
  using enum thread_scope;
  slab_claim got{at, 0};
  while (wanted != 0 && seen.is_of(c) && seen.free() != 0) {  // not a spin: what it does not get, another claim got
    const std::uint32_t chosen = choose(seen.free(), wanted);
    const slab_word old{word(at).fetch_and(slab_word::all_but(chosen), acquire, device)};
    const std::uint32_t took = old.free() & chosen;
    if (!old.is_of(c)) {
      if (took != 0) put_back_of(*this, {at, took});
      break;
    }
    got.blocks |= took;
    wanted -= static_cast<std::uint32_t>(popcount(took));
    seen.value = old.value & slab_word::all_but(chosen);
  }
  return got;
}

// Up to `wanted` of the bits `free`. Warps that share a word begin at different bits.
WARPHEAP_FN inline std::uint32_t warp_slab::choose(std::uint32_t free, std::uint32_t wanted) {
  if (static_cast<std::uint32_t>(popcount(free)) <= wanted) return free;
  const std::uint32_t from = detail::warp_number() % 32;
  return rotate_left(detail::lowest_bits(rotate_left(free, (32 - from) % 32), wanted), from);
}

// The block of the lane of rank `rank` among those that share a claim.
WARPHEAP_FN inline void* warp_slab::block_of(std::uint32_t c, slab_claim from, int rank) const {
  const std::uint64_t slab = std::uint64_t{from.word / classes::most_words} << classes::unit_shift;
  const std::uint32_t bit = detail::bit_of_rank(from.blocks, rank);
  return data_ + slab + std::uint64_t{from.word % classes::most_words * 32 + bit} * classes::bytes(c);
}

}  // namespace warpheap
