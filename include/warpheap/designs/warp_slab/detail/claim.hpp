// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/warp_slab/warp_slab.hpp>

// Claiming blocks of slabs that are there.
//
// A claim clears bits of a word that are believed to be free, and owns the blocks of those that were. It may get less
// than it hoped for, and sees what is left. The operation tells the class of the slab, too: a claimer that comes so
// late that the slab was taken back and is of another class now puts the blocks back, on the cold way, so that the hot
// one has no calls.
//
// A warp begins at its seat, the word where it last found blocks of the class, with the bits that it took there: after
// they came back they are free together, so it need not look first. Nobody keeps them from others, and the seat may be
// stale; then the word says so. What the word does not have, one of those does that the lanes look at side by side.
//
// There is no loop on this way, and lanes that have their blocks wait for the others of their group: on a GPU lanes
// that came apart do not meet again by themselves once one of them has yielded within a branch, and ptxas has loops
// yield. A kernel whose threads malloc and free by turns is three times faster without (results/essays/warp_slab.md).
//
// Invariant: a bit is clear from its claim until its release, and in between one thread has the block.
//
// Orders: a claim acquires what the release of its blocks released, the accesses of who had them before. News on where
// slabs lie (`seats`, `places`, `table`) need no order, since the word itself is what is believed.

namespace warpheap {
namespace detail {

// The lowest set bit of `word`, alone.
WARPHEAP_FN inline std::uint32_t lowest_alone(std::uint32_t word) { return word & (0u - word); }
// The set bits of `word` from its lowest on that have no gap between them. `word` must not be 0.
WARPHEAP_FN inline std::uint32_t lowest_run(std::uint32_t word) { return word & ~(word + lowest_alone(word)); }

// The lowest `count` set bits of `word`, which has more. Mostly they are neighbours, which is quick to see and to use.
WARPHEAP_FN inline std::uint32_t lowest_bits(std::uint32_t word, std::uint32_t count) {
  if (static_cast<std::uint32_t>(popcount(lowest_run(word))) >= count) {
    return low_bits(static_cast<int>(count)) << lowest_bit(word);
  }
  return lowest_set_bits(word, static_cast<int>(count));
}

// Index of the set bit of `word` that has `rank` set bits below it; quick if all set bits are neighbours.
WARPHEAP_FN inline std::uint32_t bit_of_rank(std::uint32_t word, int rank) {
  const std::uint32_t lowest = lowest_alone(word);
  // A sum that carries through all set bits has none of them.
  const bool neighbours = ((word + lowest) & word) == 0;
  return static_cast<std::uint32_t>(neighbours ? highest_bit(lowest) + rank : nth_set_bit(word, rank));
}

}  // namespace detail

// A block for each lane of `group`, whose lanes may want blocks of different classes. Collective.
//
// The lanes that lead the lanes of one class work side by side, so a warp that wants blocks of a dozen classes waits
// for memory no longer than one that wants the same for all. A lane that comes alone has nobody to tell.
WARPHEAP_FN inline void* warp_slab::take_block(lane_mask group, classes::fit fit) const {
  // Lanes may use different heaps, too. The control block's address ends in zeros, which leave room for the class.
  static_assert(classes::count <= alignof(layout::control));
  const bool alone = group == lane_bit();
  std::uint32_t c = fit.of_class;
  slab_claim got;
  if (alone) {
    got = claim_at_seat(c, 1);
    if (got.serves(0)) return block_of(fit.bytes, got, 0);
  }
  const warp_request peers = warp_request::of(group, control_, c);
  if (!alone && peers.rank() == 0) got = claim_at_seat(c, peers.size());
  const lane_mask met = meet(group);  // what the leaders acquired is acquired for all
  got = tell(met, peers, got);
  const auto rank = static_cast<int>(peers.rank());
  const bool served = got.serves(rank);
  if (all(met, served)) return block_of(fit.bytes, got, rank);
  void* block = served ? block_of(fit.bytes, got, rank) : nullptr;
  if (rank != 0 && got.foreign()) got = {};       // the first of the peers puts the blocks back
  group = warp_request::of(met, control_).lanes;  // who uses another heap is no help
  take_anywhere(group, c, got, block);
  if (all(meet(group), block != nullptr)) return block;
  block = cold_call([*this, group, c, block, got] { return take_elsewhere(group, c, got, block); });
  if (block == nullptr) block = cold_call([*this, c] { return take_without_slab(c); });
  sync(group);
  return block;
}

// A block for each lane of `group` whose `block` is null, if one is found by a look of each lane at a word of its
// class. `got` is what was claimed at the lane's seat, and then what was claimed for it here, unless that is foreign:
// foreign blocks stay with the one lane that puts them back, which is not served before it has. Of lanes that have
// their block `c` is lost. Collective.
//
// Lanes that have their block look for those that have none, by equal parts. So this takes one look and one claim,
// however many classes are wanted, and the fewer lanes lack something the more words are seen for each. The looks are
// scattered over all slabs, and a warp that finds a word with room to spare has its seat there: so warps that share a
// crowded word part, and the words of a class come to be used alike.
WARPHEAP_FN inline void warp_slab::take_anywhere(lane_mask group, std::uint32_t& c, slab_claim& got,
                                                 void*& block) const {
  const lane_mask lacking = ballot(group, block == nullptr && !got.foreign());
  if (lacking == 0) return;
  const slab_look look = look_for(group, lacking, block == nullptr, got.word, c);
  take_seen<true>(group, lacking, c, look, got, block);
}

// What the caller sees of a word of its own class, if it `looks` for itself; else of the class, from now on in `c`, of
// one of the lanes that are `lacking` a block. `salt` is a number that differs from look to look. Collective.
WARPHEAP_FN inline slab_look warp_slab::look_for(lane_mask group, lane_mask lacking, bool looks, std::uint32_t salt,
                                                 std::uint32_t& c) const {
  const int whom = whom_to_help(lacking, looks);
  salt = shuffle(group, salt, whom);
  c = shuffle(group, c, whom);
  return look_anywhere(c, salt + grid_warp_index() * warp_width + static_cast<std::uint32_t>(lane_index()));
}

// The lane for which the caller looks: its own, or one of those that are `lacking` a block, by equal parts.
WARPHEAP_FN inline int warp_slab::whom_to_help(lane_mask lacking, bool looks) {
  const auto lane = static_cast<std::uint32_t>(lane_index());
  const auto part = static_cast<int>(lane * static_cast<std::uint32_t>(group_size(lacking)) / warp_width);
  return looks ? static_cast<int>(lane) : nth_set_bit(lacking, part);
}

// Claims for lanes that are `lacking` a block of what was seen, `look` of each lane for its class `c`: of one word, if
// one has enough for all that want the class; else each of them has one of another word. Collective.
template <bool hot>
WARPHEAP_FN inline void warp_slab::take_seen(lane_mask group, lane_mask lacking, std::uint32_t c, slab_look look,
                                             slab_claim& got, void*& block) const {
  constexpr int room_to_spare = 12;  // blocks: what three more warps want of one that a few share
  const lane_mask helpers = match(group, c);
  const lane_mask wanting = helpers & lacking;
  const int wanted = group_size(wanting);
  const int spare = popcount(look.free) - wanted;
  lane_mask finders = ballot(group, look.free != 0) & helpers;
  lane_mask best = ballot(group, spare >= 0) & helpers;
  // Where few words have enough, all would go for the same few that have more.
  const lane_mask plenty = ballot(group, spare >= room_to_spare) & helpers;
  if (plenty != 0 && 2 * group_size(best) > group_size(helpers)) best = plenty;
  if (best != 0) finders = detail::lowest_alone(best);
  slab_claim found;
  if ((finders & lane_bit()) != 0 && group_rank(finders) < wanted) {
    const std::uint32_t asked = best != 0 ? static_cast<std::uint32_t>(wanted) : 1;
    if constexpr (hot) {
      found = claim_for_seat(c, look, asked);
    } else {
      found = go_to(c, look, asked);  // on the cold way what is foreign goes back at once
    }
  }
  const lane_mask met = meet(group);  // what the finders acquired is acquired for all
  const int rank = group_rank(wanting);
  // The source lane of the caller's block, and the block's index in that claim: of one claim each lane takes the next,
  // or each lane has a claim of its own.
  const int turn = best != 0 ? 0 : rank;
  const int nth = best != 0 ? rank : 0;
  const bool is_there = turn < group_size(finders);
  const int source = is_there ? nth_set_bit(finders, turn) : lane_index();
  found = {shuffle(met, found.word, source), shuffle(met, found.blocks, source)};
  if ((lacking & lane_bit()) == 0) return;
  if (!is_there) found = {};
  if (found.serves(nth)) block = block_of(classes::bytes(c), found, nth);
  got = nth == 0 ? found : slab_claim{};  // one lane for each claim
}

// A word of class `c` and what of it is free: the one to which `number` is scattered. Next numbers lie far apart.
WARPHEAP_FN inline slab_look warp_slab::look_anywhere(std::uint32_t c, std::uint32_t number) const {
  using enum memory_order;
  using enum thread_scope;
  const std::uint32_t places = atomic_view{of_class(c).places}.load(relaxed, device);
  const word_halves at_place = split(std::uint64_t{spread(number)} * places);
  const std::uint32_t entry = table(c, at_place.high).load(relaxed, device);
  // A vacant place stands for unit 0: any word will do, since it says itself whether it is of the class.
  const std::uint32_t unit = entry == 0 ? 0 : entry - 1;
  // Of a small heap's slabs some of these words do not exist. They are of no class, either.
  const std::uint32_t at = word_number::make(unit, split(std::uint64_t{at_place.low} * classes::words(c)).high);
  return {at, slab_word{word(at).load(relaxed, device)}.free_of(c)};
}

// The seat of the caller's warp for class `c`. A class has all seats from its own first one on and around, so in a
// small heap warps of several classes may share some; a seat of another class does not count.
WARPHEAP_FN inline atomic_view<std::uint64_t> warp_slab::seat(std::uint32_t c) const {
  constexpr std::uint32_t there = unit_section::section_seats;
  static_assert(classes::count <= unit_section::class_seats);
  const std::uint32_t mine = (grid_warp_index() + c * (seat_mask_ / unit_section::class_seats + 1)) & seat_mask_;
  return atomic_view{of_sections<std::uint64_t, there>(offsetof(unit_section, seats), mine)};
}

// Up to `wanted` blocks of the word at the seat of the caller's warp. One lane.
WARPHEAP_FN inline slab_claim warp_slab::claim_at_seat(std::uint32_t c, std::uint32_t wanted) const {
  using enum memory_order;
  using enum thread_scope;
  const slab_seat named{seat(c).load(relaxed, device)};
  if (!named.is_of(c)) return {};
  return claim_twice(c, named.word(c), named.guess(wanted), wanted);
}

// The blocks `tried` of a word as far as they are free and, if these are not `wanted` many, others of it. One lane.
WARPHEAP_FN inline slab_claim warp_slab::claim_twice(std::uint32_t c, std::uint32_t at, std::uint32_t tried,
                                                     std::uint32_t wanted) const {
  std::uint32_t left = 0;
  const slab_claim got = claim(c, at, tried, left);
  if (got.blocks == tried || left == 0) return got;
  wanted -= static_cast<std::uint32_t>(popcount(got.blocks));
  // While there is a block of the first try, the slab stays what it is.
  const slab_claim more = claim(c, at, choose(left, wanted), left);
  return {more.word, got.blocks | more.blocks};
}

// Up to `wanted` blocks of the word that is dealt to the caller's warp, its seat from now on. The words of a class are
// dealt out to the warps in turn, so those of a grid begin apart. One lane.
WARPHEAP_FN inline slab_claim warp_slab::claim_at_home(std::uint32_t c, std::uint32_t wanted) const {
  using enum memory_order;
  using enum thread_scope;
  const std::uint32_t places = atomic_view{of_class(c).places}.load(relaxed, device);
  if (places == 0) return {};
  const std::uint32_t words = words_of(c);
  const std::uint32_t home = grid_warp_index() % (places * words);
  const std::uint32_t unit = table(c, home / words).load(relaxed, device);
  if (unit == 0) return {};
  const std::uint32_t at = word_number::make(unit - 1, home % words);
  const slab_word seen{word(at).load(relaxed, device)};
  return claim_for_seat(c, {at, seen.free_of(c)}, wanted);
}

// Up to `wanted` blocks of a word in which the caller saw free ones or none; it becomes the seat of its warp. One lane.
WARPHEAP_FN inline slab_claim warp_slab::claim_for_seat(std::uint32_t c, slab_look look, std::uint32_t wanted) const {
  if (look.free == 0) return {};
  const slab_claim got = claim_twice(c, look.word, choose(look.free, wanted), wanted);
  if (got.serves(0)) {
    seat(c).store(slab_seat::make(c, got).value, memory_order::relaxed, thread_scope::device);
  }
  return got;
}

// What the leader of `peers` claimed for them, told to each; what it acquired, a `sync` before has passed on.
// Collective over `group`.
WARPHEAP_FN inline slab_claim warp_slab::tell(lane_mask group, warp_request peers, slab_claim got) {
  return {peers.from_leader(group, got.word), peers.from_leader(group, got.blocks)};
}

// Those of the blocks `chosen` of a word that are free; in `left` the others that are, none if they are of another
// class. One lane.
WARPHEAP_FN inline slab_claim warp_slab::claim(std::uint32_t c, std::uint32_t at, std::uint32_t chosen,
                                               std::uint32_t& left) const {
  const slab_word old{word(at).fetch_and(slab_word::all_but(chosen), memory_order::acquire, thread_scope::device)};
  left = old.free_of(c) & ~chosen;
  return {old.is_of(c) ? at : at | slab_claim::foreign_bit, old.free() & chosen};
}

// The look that saw more blocks free.
WARPHEAP_FN inline slab_look warp_slab::freer(slab_look a, slab_look b) {
  return popcount(b.free) > popcount(a.free) ? b : a;
}

// Up to `wanted` of the bits `free`. Warps that share a word begin at different bits.
WARPHEAP_FN inline std::uint32_t warp_slab::choose(std::uint32_t free, std::uint32_t wanted) {
  if (static_cast<std::uint32_t>(popcount(free)) <= wanted) return free;
  const std::uint32_t from = grid_warp_index() % 32;
  return rotate_left(detail::lowest_bits(rotate_left(free, (32 - from) % 32), wanted), from);
}

// The block, of `bytes` bytes, of the lane of rank `rank` among those that share a claim.
WARPHEAP_FN inline void* warp_slab::block_of(std::uint32_t bytes, slab_claim from, int rank) const {
  const std::uint64_t slab = std::uint64_t{word_number::unit(from.word)} << classes::unit_shift;
  const std::uint32_t at = word_number::index(from.word) * 32 | detail::bit_of_rank(from.blocks, rank);
  return data_ + slab + std::uint64_t{at} * bytes;
}

}  // namespace warpheap
