// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocators/warp_slab/warp_slab.hpp>

// Claiming blocks of slabs that are there.
//
// A claim clears bits of a word that are believed to be free, and owns the blocks of those that were. It may get less than
// it hoped for, and sees what is left. The operation tells the class of the slab, too: a claimer that comes so late that the
// slab was taken back and is of another class now puts the blocks back.
//
// A warp begins at its seat, the word where it last found blocks of the class, with the bits that it took there: after
// they came back they are free together, so it need not look first. Nobody keeps them from others, and the seat may be
// stale; then the word says so. What the word does not have, one beside it may: they lie in one sector of memory, so one
// look sees four.
//
// There is no loop on this way, and lanes that have their blocks wait for the others of their group: on a GPU lanes that
// came apart do not meet again by themselves once one of them has yielded within a branch, and ptxas has loops yield. A
// kernel whose threads malloc and free by turns is three times faster without (results/h200/warp_slab.md).
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
  void* block = hand_out(group, peers, c, got);
  lane_mask rest = ballot(group, block == nullptr);
  if (rest == 0) return block;
  if (block == nullptr) block = take_near_seat(rest, peers & rest, c);
  rest = ballot(group, block == nullptr);
  if (rest == 0) return block;
  block = cold_call([*this, group, c, block] { return take_elsewhere(group, c, block); });
  sync(group);
  return block;
}

// The same for lanes that the word at the seat had no block for. Collective.
WARPHEAP_FN inline void* warp_slab::take_near_seat(lane_mask group, lane_mask peers, std::uint32_t c) const {
  slab_claim got;
  if (is_leader(peers)) got = claim_near_seat(c, static_cast<std::uint32_t>(group_size(peers)));
  return hand_out(group, peers, c, got);
}

// The seat of the caller's warp for class `c`. A class has all seats from its own first one on and around, so in a small
// heap warps of several classes may share some; a seat that is of another class is none.
WARPHEAP_FN inline atomic_view<std::uint64_t> warp_slab::seat(std::uint32_t c) const {
  constexpr std::uint32_t there = unit_group::seats_of_group;
  static_assert(classes::count <= unit_group::class_seats);
  const std::uint32_t mine = (detail::warp_number() + c * (seat_mask_ / unit_group::class_seats + 1)) & seat_mask_;
  return atomic_view{groups()[mine / there].seats[mine % there]};
}

// Up to `wanted` blocks of the word at the seat of the caller's warp. One lane.
WARPHEAP_FN inline slab_claim warp_slab::claim_at_seat(std::uint32_t c, std::uint32_t wanted) const {
  using enum memory_order;
  using enum thread_scope;
  const slab_seat named{seat(c).load(relaxed, device)};
  if (!named.is_of(c)) return {};
  std::uint32_t left = 0;
  slab_claim got = claim(c, named.word(), named.guess(wanted), left);
  wanted -= static_cast<std::uint32_t>(popcount(got.blocks));
  if (wanted != 0 && left != 0) got.blocks |= claim(c, named.word(), choose(left, wanted), left).blocks;
  return got;
}

// Up to `wanted` blocks of the word that has most of those beside the seat, or of the home of who has no seat; it becomes
// the seat. One lane.
//
// Beside the seat are the words of a sector or, where a slab has fewer, the same word of slabs that lie together. A word says itself
// whether it is of the class.
WARPHEAP_FN inline slab_claim warp_slab::claim_near_seat(std::uint32_t c, std::uint32_t wanted) const {
  using enum memory_order;
  using enum thread_scope;
  constexpr std::uint32_t near = 4;  // words of a sector
  constexpr std::uint32_t in_unit = classes::most_words;
  static_assert(in_unit % near == 0);
  const slab_seat named{seat(c).load(relaxed, device)};
  if (!named.is_of(c)) return claim_at_home(c, wanted);
  const std::uint32_t step = classes::words(c) < near ? classes::units(c) * in_unit : 1;
  const std::uint32_t first = (named.word() & ~(near * step - 1)) + (step == 1 ? 0 : named.word() % in_unit);
  const std::uint32_t end = initial_units_ * in_unit;
  slab_word seen[near];
  for (std::uint32_t i = 0; i < near; ++i) {
    const std::uint32_t at = first + i * step;
    seen[i] = {at < end ? word(at).load(relaxed, device) : 0};
  }
  std::uint32_t best = 0;
  const slab_word most = most_free(c, seen, best);
  return claim_for_seat(c, {first + best * step, most}, wanted);
}

// Up to `wanted` blocks of the word that is dealt to the caller's warp, its seat from now on. The words of a class are
// dealt out to the warps in turn, so those of a grid begin apart. One lane.
WARPHEAP_FN inline slab_claim warp_slab::claim_at_home(std::uint32_t c, std::uint32_t wanted) const {
  using enum memory_order;
  using enum thread_scope;
  const std::uint32_t places = atomic_view{of_class(c).places}.load(relaxed, device);
  if (places == 0) return {};
  const std::uint32_t words = classes::words(c);
  const std::uint32_t home = detail::warp_number() % (places * words);
  const std::uint32_t unit = table(c, home / words).load(relaxed, device);
  if (unit == 0) return {};
  const std::uint32_t at = (unit - 1) * classes::most_words + home % words;
  const slab_word seen{word(at).load(relaxed, device)};
  return seen.is_of(c) ? claim_for_seat(c, {at, seen}, wanted) : slab_claim{};
}

// Up to `wanted` blocks of a word in which the caller saw free ones or none; it becomes the seat of its warp. One lane.
WARPHEAP_FN inline slab_claim warp_slab::claim_for_seat(std::uint32_t c, slab_look look, std::uint32_t wanted) const {
  if (look.seen.free() == 0) return {};
  std::uint32_t left = 0;
  const slab_claim got = claim(c, look.word, choose(look.seen.free(), wanted), left);
  if (got.blocks != 0) {
    seat(c).store(slab_seat::make(c, got).value, memory_order::relaxed, thread_scope::device);
  }
  return got;
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

// Those of the blocks `chosen` of a word that are free; in `left` the others that are. One lane.
WARPHEAP_FN inline slab_claim warp_slab::claim(std::uint32_t c, std::uint32_t at, std::uint32_t chosen,
                                               std::uint32_t& left) const {
  const slab_word old{word(at).fetch_and(slab_word::all_but(chosen), memory_order::acquire, thread_scope::device)};
  const std::uint32_t took = old.free() & chosen;
  if (!old.is_of(c)) {
    if (took != 0) put_back_of(*this, {at, took});
    left = 0;
    return {};
  }
  left = old.free() & ~chosen;
  return {at, took};
}

// The one of these words that has the most free blocks of class `c`, or a word without any; `which` tells it.
template <std::uint32_t words>
WARPHEAP_FN slab_word warp_slab::most_free(std::uint32_t c, const slab_word (&seen)[words], std::uint32_t& which) {
  slab_word most{};
  for (std::uint32_t i = 0; i < words; ++i) {
    if (popcount(seen[i].free()) <= popcount(most.free()) || !seen[i].is_of(c)) continue;
    which = i;
    most = seen[i];
  }
  return most;
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
