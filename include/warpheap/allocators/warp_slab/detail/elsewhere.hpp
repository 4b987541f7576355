// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocators/warp_slab/warp_slab.hpp>

// Beyond the caller's seat: looks at a few other words, without any order or promise.
//
// Who has no seat yet goes home first: the words of a class are dealt out to the warps in turn, so those of a grid begin
// apart. Then the lanes that have no block look side by side, each at a few words, and each that finds free blocks claims
// its own and those of lanes that found none. The lanes of all classes of a warp do it together. Nothing is written but
// the claim and the new seat, and what is missed costs only time: after a few rounds hints lead on.

namespace warpheap {

// A block for each lane of `group`, of which those in `peers` want class `c`; null for those that there is none for.
// Collective over `group`.
WARPHEAP_COLD_FN inline void* warp_slab::take_elsewhere(lane_mask group, lane_mask peers, std::uint32_t c) const {
  constexpr std::uint32_t rounds = 4;
  for (std::uint32_t round = 0; round <= rounds; ++round) {
    void* const found = round == 0 ? take_at_home(group, peers, c) : probe(group, peers, c, round - 1);
    group = ballot(group, found == nullptr);
    if (found != nullptr) return found;
    peers &= group;
  }
  return take_along_hints(peers, c);
}

// Blocks of the homes of those who have no seat; null for all others. Collective over `group`.
WARPHEAP_COLD_FN inline void* warp_slab::take_at_home(lane_mask group, lane_mask peers, std::uint32_t c) const {
  using enum memory_order;
  using enum thread_scope;
  slab_claim got;
  if (is_leader(peers) && seat(c).load(relaxed, device) == 0) {
    got = claim_at_home(c, static_cast<std::uint32_t>(group_size(peers)));
  }
  return hand_out(group, peers, c, got);
}

// Up to `wanted` blocks of the word that is dealt to the caller's warp, its seat from now on. One lane.
WARPHEAP_COLD_FN inline slab_claim warp_slab::claim_at_home(std::uint32_t c, std::uint32_t wanted) const {
  using enum memory_order;
  using enum thread_scope;
  const std::uint32_t places = atomic_view{of_class(c).places}.load(relaxed, device);
  if (places == 0) return {};
  const std::uint32_t words = classes::words(c);
  const std::uint32_t home = detail::warp_number() % (places * words);
  const std::uint32_t unit = table(c, home / words).load(relaxed, device);
  if (unit == 0) return {};
  const std::uint32_t at = (unit - 1) * classes::most_words + home % words;
  const slab_claim got = claim(c, at, {word(at).load(relaxed, device)}, wanted);
  if (got.blocks != 0) seat(c).store(at + 1, relaxed, device);
  return got;
}

// One round of looks; a block for each lane that got one, and null for the others. Collective over `group`.
//
// Round 0 looks right behind the seat, even rounds anywhere, and odd ones at the latest slabs, which are the likeliest
// to have blocks.
WARPHEAP_COLD_FN inline void* warp_slab::probe(lane_mask group, lane_mask peers, std::uint32_t c,
                                               std::uint32_t round) const {
  using enum memory_order;
  using enum thread_scope;
  slab_look look{};
  const std::uint32_t places = atomic_view{of_class(c).places}.load(relaxed, device);
  if (places != 0) {
    const std::uint32_t words = classes::words(c);
    const std::uint32_t each = words < looks_at_once ? words : looks_at_once;
    const std::uint32_t ahead = static_cast<std::uint32_t>(group_rank(peers)) * each;
    const std::uint32_t near = round == 0 ? seat(c).load(relaxed, device) : 0;
    if (near != 0) {
      look = look_at(c, (near - 1) / classes::most_words, near % classes::most_words + ahead, 1, each);
    } else {
      const std::uint32_t newest = round % 2 == 0 ? 0 : atomic_view{of_class(c).newest}.load(relaxed, device);
      const std::uint32_t begin = newest < places ? newest * words : 0;
      const std::uint32_t count = places * words - begin;
      std::uint32_t at = (detail::warp_number() + round) * 0x9e3779b1;  // spreads warps whose numbers are close
      at ^= at >> 15;
      at = (at % count + ahead) % count + begin;
      const std::uint32_t entry = table(c, at / words).load(relaxed, device);
      if (entry != 0) look = look_at(c, entry - 1, at % words, 1, each);
    }
  }
  return share(group, peers, c, look);
}

// Looks at up to `count` words of a slab, of which there are so many, from `from` on and around, `step` apart; tells of
// the one that has the most free blocks. One lane.
WARPHEAP_FN inline slab_look warp_slab::look_at(std::uint32_t c, std::uint32_t unit, std::uint32_t from,
                                                std::uint32_t step, std::uint32_t count) const {
  using enum memory_order;
  using enum thread_scope;
  const std::uint32_t words = classes::words(c);
  const std::uint32_t first = unit * classes::most_words;
  const auto word_at = [&](std::uint32_t i) { return first + (from + (i < count ? i * step : 0)) % words; };
  // All loads before the first is needed, since each waits for memory.
  slab_word seen[looks_at_once];
  for (std::uint32_t i = 0; i < looks_at_once; ++i) seen[i] = {word(word_at(i)).load(relaxed, device)};
  slab_look look{};
  std::uint32_t which = 0;
  for (std::uint32_t i = 0; i < looks_at_once; ++i) {
    if (popcount(seen[i].free()) <= popcount(look.seen.free()) || !seen[i].is_of(c)) continue;
    which = i;
    look.seen = seen[i];
  }
  look.word = word_at(which);
  return look;
}

// Claims blocks of the words in which lanes of `group` saw free ones, for all lanes of the same `peers`; a block for
// each lane that got one, and null for the others. Collective over `group`.
//
// One word for all if there is one that has enough: it becomes the seat, so warps that take whole words come to have
// words of their own.
WARPHEAP_COLD_FN inline void* warp_slab::share(lane_mask group, lane_mask peers, std::uint32_t c,
                                               slab_look look) const {
  const int room = popcount(look.seen.free());
  const lane_mask enough = ballot(group, room >= group_size(peers)) & peers;
  const lane_mask some = ballot(group, room != 0) & peers;
  const lane_mask finders = enough != 0 ? lane_mask{1} << leader(enough) : some;
  const bool finds = (finders & lane_bit()) != 0;
  const lane_mask others = peers & ~finders;
  const int count = group_size(finders);
  // The k-th of the others depends on finder k modulo `count`.
  slab_claim got;
  if (finds) {
    const int depend = (group_size(others) - group_rank(finders) + count - 1) / count;
    got = claim(c, look.word, look.seen, static_cast<std::uint32_t>(1 + depend));
    if (got.blocks != 0 && is_leader(finders)) {
      seat(c).store(look.word + 1, memory_order::relaxed, thread_scope::device);
    }
  }
  sync(group);  // what the finders acquired is acquired for all
  int source = lane_index();
  int index = 0;
  if (!finds && count != 0) {
    source = nth_set_bit(finders, group_rank(others) % count);
    index = 1 + group_rank(others) / count;
  }
  got.word = shuffle(group, got.word, source);
  got.blocks = shuffle(group, got.blocks, source);
  return index < popcount(got.blocks) ? block_of(c, got, index) : nullptr;
}

}  // namespace warpheap
