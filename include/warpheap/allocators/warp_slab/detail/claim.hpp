// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocators/warp_slab/warp_slab.hpp>

// Claiming blocks of slabs that are there.
//
// A claim clears bits of a word that are believed to be free, and owns the blocks of those that were. It may get less than
// it hoped for; then it goes on with what it saw is left. The operation tells the class of the slab, too: a claimer that
// comes so late that the slab was taken back and is of another class now puts the blocks back.
//
// A warp begins at its seat, the word where it last found blocks of the class, with the bits that it took there: after
// they came back they are free together, so it need not look first. Nobody keeps them from others, and the seat may be
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

// The seat of the caller's warp for class `c`. A class has all seats from its own first one on and around, so in a small
// heap warps of several classes may share some; a seat that is of another class is none.
WARPHEAP_FN inline atomic_view<std::uint64_t> warp_slab::seat(std::uint32_t c) const {
  constexpr std::uint32_t there = unit_group::seats_of_group;
  static_assert(classes::count <= 64);
  const std::uint32_t mine = (detail::warp_number() + c * (seat_mask_ / 64 + 1)) & seat_mask_;
  return atomic_view{groups()[mine / there].seats[mine % there]};
}

// Up to `wanted` blocks of the word at the seat of the caller's warp. One lane.
WARPHEAP_FN inline slab_claim warp_slab::claim_at_seat(std::uint32_t c, std::uint32_t wanted) const {
  using enum memory_order;
  using enum thread_scope;
  const slab_seat named{seat(c).load(relaxed, device)};
  if (!named.is_of(c)) return {};
  return claim(c, named.word(), named.guess(wanted), wanted);
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

// Up to `wanted` blocks of a word: first those of `chosen`, at most as many, that are free. One lane.
WARPHEAP_FN inline slab_claim warp_slab::claim(std::uint32_t c, std::uint32_t at, std::uint32_t chosen,
                                               std::uint32_t wanted) const {
  using enum memory_order;
  using enum thread_scope;
  const slab_word old{word(at).fetch_and(slab_word::all_but(chosen), acquire, device)};
  const std::uint32_t took = old.free() & chosen;
  if (!old.is_of(c)) {
    if (took != 0) put_back_of(*this, {at, took});
    return {};
  }
  wanted -= static_cast<std::uint32_t>(popcount(took));
  const std::uint32_t left = old.free() & ~chosen;
  if (wanted == 0 || left == 0) return {at, took};
  return claim_more(*this, c, {at, took}, left, wanted);
}

// What was claimed of a word, and up to `wanted` more of its blocks, of which those of `left` were seen to be free. One
// lane, by a copy of the handle. Apart from the first try, so that a claim that needs no more is no loop.
WARPHEAP_COLD_FN inline slab_claim warp_slab::claim_more(warp_slab self, std::uint32_t c, slab_claim got,
                                                         std::uint32_t left, std::uint32_t wanted) {
  using enum memory_order;
  using enum thread_scope;
  while (wanted != 0 && left != 0) {  // not a spin: of what was left and not got, another claim got some
    const std::uint32_t chosen = choose(left, wanted);
    const slab_word old{self.word(got.word).fetch_and(slab_word::all_but(chosen), acquire, device)};
    const std::uint32_t took = old.free() & chosen;
    if (!old.is_of(c)) {
      if (took != 0) put_back_of(self, {got.word, took});
      break;
    }
    got.blocks |= took;
    wanted -= static_cast<std::uint32_t>(popcount(took));
    left = old.free() & ~chosen;
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
