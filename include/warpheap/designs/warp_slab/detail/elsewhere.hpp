// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/warp_slab/warp_slab.hpp>

// Where one look of each lane found too little: looks at more words, without any order or promise.
//
// All lanes that called together, with the same heap, stay together, those that have their block, too: as helpers of
// those that lack one, since what is to be done is much for one lane and little for a warp.
//
// First one more of such looks, and then a few at several words each, as long as some see free blocks. A quick one
// leaves few of those who lack a block, unless hardly any are free. Then a look at several words of the latest slabs,
// which are the likeliest to have blocks where a class has just grown. Nothing is written but the claim and the new
// seat, and what is missed costs only time: then hints lead on. What was seen tells how crowded a class is, too
// (ahead.hpp).

namespace warpheap {

// A block for each lane of `group`: `found`, or if that is null one of class `c`, or null if the heap has none.
// Collective.
WARPHEAP_COLD_FN inline void* warp_slab::take_elsewhere(lane_mask group, std::uint32_t c, slab_claim got,
                                                        void* found) const {
  group = meet(group);
  constexpr std::uint32_t rounds = 3;
  if (got.foreign()) put_back_of(*this, got);
  bool more = look_on(group, look_kind::quick, 0, c, found);
  for (std::uint32_t round = 0; more && round < rounds; ++round) {
    more = look_on(group, look_kind::anywhere, round, c, found);
  }
  if (!any(group, found == nullptr)) return found;
  look_on(group, look_kind::latest, 0, c, found);
  if (!any(group, found == nullptr)) return found;
  return take_along_hints(group, c, found);
}

// One look of each lane, for `found` if that is null; true if there is reason for another: a lane lacks its block, and
// some were seen. `round` is a number that differs among looks of a kind. Collective.
WARPHEAP_COLD_FN inline bool warp_slab::look_on(lane_mask group, look_kind kind, std::uint32_t round, std::uint32_t c,
                                                void*& found) const {
  const lane_mask lacking = ballot(group, found == nullptr);
  const slab_look look = look_alone(group, lacking, kind, round, c);
  found = take_seen_alone(group, lacking, c, look, found);
  if (kind == look_kind::quick) make_room(group, c, look.free);
  group = meet(group);
  return any(group, found == nullptr) && any(group, look.free != 0);
}

// Parts of that, with registers of their own.
WARPHEAP_COLD_FN inline slab_look warp_slab::look_alone(lane_mask group, lane_mask lacking, look_kind kind,
                                                        std::uint32_t round, std::uint32_t& c) const {
  constexpr std::uint32_t far = 0x200000;  // from the numbers of all other warps
  const bool looks = (lacking & lane_bit()) != 0;
  if (kind == look_kind::quick) return look_for(group, lacking, looks, far, c);
  c = shuffle(group, c, whom_to_help(lacking, looks));
  std::uint32_t free = 0;
  return look_around(c, kind, round, free);
}
WARPHEAP_COLD_FN inline void* warp_slab::take_seen_alone(lane_mask group, lane_mask lacking, std::uint32_t c,
                                                         slab_look look, void* found) const {
  slab_claim got;
  take_seen<false>(group, lacking, c, look, got, found);
  return found;
}

// Claims of those who come this way, with registers of their own: a kernel has as many as the largest function needs.
// One lane.
WARPHEAP_COLD_FN inline slab_claim warp_slab::go_to(std::uint32_t c, slab_look look, std::uint32_t wanted) const {
  return without_foreign(claim_for_seat(c, look, wanted));
}
WARPHEAP_COLD_FN inline slab_claim warp_slab::go_home(std::uint32_t c, std::uint32_t wanted) const {
  return without_foreign(claim_at_home(c, wanted));
}

// What was claimed, or nothing if that is foreign: then it goes back at once. One lane.
WARPHEAP_FN inline slab_claim warp_slab::without_foreign(slab_claim got) const {
  if (!got.foreign()) return got;
  put_back_of(*this, got);
  return {};
}

// Blocks of the homes of those who lack one and have no seat in the class: `found`, or what is found. Collective.
WARPHEAP_COLD_FN inline void* warp_slab::take_at_home(lane_mask group, std::uint32_t c, void* found) const {
  using enum memory_order;
  using enum thread_scope;
  const bool goes = found == nullptr && !slab_seat{seat(c).load(relaxed, device)}.is_of(c);
  const lane_mask goers = ballot(group, goes);
  if (goes) {
    const warp_request peers{match(goers, c)};
    slab_claim got;
    if (peers.leads()) got = go_home(c, peers.size());
    sync(goers);  // what the leaders acquired is acquired for all
    got = tell(goers, peers, got);
    const auto rank = static_cast<int>(peers.rank());
    if (rank < popcount(got.blocks)) found = block_of(classes::bytes(c), got, rank);
  }
  sync(group);
  return found;
}

// The looks of one lane: at words to which numbers of its own are scattered. They lie far apart, because blocks in use
// lie together. Tells of the one that has the most free blocks, and adds to `free` how many all of them have.
WARPHEAP_COLD_FN inline slab_look warp_slab::look_around(std::uint32_t c, look_kind kind, std::uint32_t round,
                                                         std::uint32_t& free) const {
  using enum memory_order;
  using enum thread_scope;
  const std::uint32_t places = atomic_view{of_class(c).places}.load(relaxed, device);
  const bool latest = kind == look_kind::latest;
  const std::uint32_t newest = latest ? atomic_view{of_class(c).newest}.load(relaxed, device) : 0;
  if (places == 0) return {};
  const std::uint32_t begin = newest < places ? newest : 0;
  const std::uint32_t first =
      (grid_warp_index() * warp_width + static_cast<std::uint32_t>(lane_index())) * (looks_at_once * (round + 1));
  // A number scattered over all that there are, and in its lower half over what the upper one leaves. All loads of a
  // kind before the first is needed, since each waits for memory.
  std::uint64_t scattered[looks_at_once];
  std::uint32_t entry[looks_at_once];
  for (std::uint32_t i = 0; i < looks_at_once; ++i) {
    scattered[i] = std::uint64_t{spread(first + i)} * (places - begin);
    entry[i] = table(c, begin + split(scattered[i]).high).load(relaxed, device);
  }
  std::uint32_t at[looks_at_once];
  for (std::uint32_t i = 0; i < looks_at_once; ++i) {
    // A vacant place stands for unit 0: any word will do, since it says itself whether it is of the class.
    const std::uint32_t unit = entry[i] == 0 ? 0 : entry[i] - 1;
    const std::uint64_t index = std::uint64_t{split(scattered[i]).low} * words_of(c);
    at[i] = word_number::make(unit, split(index).high);
  }
  slab_word seen[looks_at_once];
  for (std::uint32_t i = 0; i < looks_at_once; ++i) seen[i] = {word(at[i]).load(relaxed, device)};
  slab_look best{};
  for (std::uint32_t i = 0; i < looks_at_once; ++i) {
    const slab_look each{at[i], seen[i].free_of(c)};
    free += static_cast<std::uint32_t>(popcount(each.free));
    best = freer(best, each);
  }
  return best;
}

// Looks at up to `count` words of a slab, of which there are so many, from `from` on and around; tells of the one that
// has the most free blocks. One lane.
WARPHEAP_FN inline slab_look warp_slab::look_at(std::uint32_t c, std::uint32_t unit, std::uint32_t from,
                                                std::uint32_t count) const {
  using enum memory_order;
  using enum thread_scope;
  const std::uint32_t words = words_of(c);
  const auto word_at = [&](std::uint32_t i) { return word_number::make(unit, (from + (i < count ? i : 0)) % words); };
  slab_word seen[looks_at_once];
  for (std::uint32_t i = 0; i < looks_at_once; ++i) seen[i] = {word(word_at(i)).load(relaxed, device)};
  slab_look best{};
  for (std::uint32_t i = 0; i < looks_at_once; ++i) best = freer(best, {i, seen[i].free_of(c)});
  return {word_at(best.word), best.free};
}

// Claims blocks of class `c` of the words in which lanes of `group` saw free ones, for the lanes `wanting` of it; a
// block for each of these that got one, and null for all others. Collective.
//
// One word for all if there is one that has enough: it becomes the seat, so warps that take whole words come to have
// words of their own. Else each finder takes what some of them want, since few may see much.
WARPHEAP_COLD_FN inline void* warp_slab::share(lane_mask group, lane_mask wanting, std::uint32_t c,
                                               slab_look look) const {
  const int wanted = group_size(wanting);
  const int room = popcount(look.free);
  const lane_mask enough = ballot(group, room >= wanted);
  const lane_mask some = ballot(group, room != 0);
  const lane_mask finders = enough != 0 ? detail::lowest_alone(enough) : some;
  const int rank = group_rank(finders);
  slab_claim got;
  if ((finders & lane_bit()) != 0 && rank < wanted) {
    // Of so many that are dealt by turns, this finder has as many as there are turns until the last that reaches it.
    const int turns = part_of(wanted - rank - 1, group_size(finders)).turn + 1;
    got = go_to(c, look, static_cast<std::uint32_t>(turns));
  }
  return deal(group, finders, wanting, c, got);
}

// Turn in which the `rank`-th block is dealt when `count` finders deal by turns, and the index of the finder that
// deals it.
WARPHEAP_COLD_FN inline auto warp_slab::part_of(int rank, int count) -> dealt {
  if (count == 1) return {rank, 0};
  if (rank < count) return {0, rank};
  return {rank / count, rank % count};
}

// A block for each lane of `wanting` as far as the claims of `finders` go, to whom those that want one are dealt by
// turns. Collective over `group`.
WARPHEAP_COLD_FN inline void* warp_slab::deal(lane_mask group, lane_mask finders, lane_mask wanting, std::uint32_t c,
                                              slab_claim got) const {
  const lane_mask met = meet(group);  // what the finders acquired is acquired for all
  dealt mine{0, 0};
  if (finders != 0) mine = part_of(group_rank(wanting), group_size(finders));
  const int source = finders != 0 ? nth_set_bit(finders, mine.finder) : lane_index();
  got.word = shuffle(met, got.word, source);
  got.blocks = shuffle(met, got.blocks, source);
  const bool wants = (wanting & lane_bit()) != 0;
  return wants && mine.turn < popcount(got.blocks) ? block_of(classes::bytes(c), got, mine.turn) : nullptr;
}

}  // namespace warpheap
