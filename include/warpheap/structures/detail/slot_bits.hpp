// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/structures/slot_bits.hpp>

namespace warpheap {

template <class Word>
WARPHEAP_FN constexpr Word slot_bits<Word>::run_mask(std::uint32_t word, std::uint32_t start, std::uint32_t end) {
  const std::uint32_t first = word * word_bits;
  const std::uint32_t from = start > first ? start - first : 0;
  const std::uint32_t to = end - first < word_bits ? end - first : word_bits;
  const Word below_to = to == word_bits ? static_cast<Word>(~Word{0}) : (Word{1} << to) - 1;
  return below_to & static_cast<Word>(~Word{0}) << from;
}

// Index of the set bit of `word` with `rank` set bits below it.
template <class Word>
WARPHEAP_FN std::uint32_t slot_bits<Word>::bit_at(Word word, std::uint32_t rank) {
  if constexpr (sizeof(Word) == 4) {
    return static_cast<std::uint32_t>(nth_set_bit(word, static_cast<int>(rank)));
  } else {
    const word_halves halves = split(word);
    const auto below = static_cast<std::uint32_t>(popcount(halves.low));
    if (rank < below) return static_cast<std::uint32_t>(nth_set_bit(halves.low, static_cast<int>(rank)));
    return 32u + static_cast<std::uint32_t>(nth_set_bit(halves.high, static_cast<int>(rank - below)));
  }
}

// The `count` lowest set bits of `word`, or all if it has no more.
template <class Word>
WARPHEAP_FN Word slot_bits<Word>::lowest_bits(Word word, std::uint32_t count) {
  if (count >= static_cast<std::uint32_t>(popcount(word))) return word;
  return word & ((Word{1} << bit_at(word, count)) - 1);
}

template <class Word>
WARPHEAP_FN void slot_bits<Word>::reset(lane_mask group) const {
  const auto lanes = static_cast<std::uint32_t>(group_size(group));
  for (auto word = static_cast<std::uint32_t>(group_rank(group)); word < words(); word += lanes) {
    const Word absent = static_cast<Word>(~run_mask(word, 0, slots_));
    view(word).store(absent, memory_order::relaxed, thread_scope::device);  // the caller publishes the words
  }
  sync(group);
}

// Takes up to `count` free slots of a word, those from bit `turn` on first, and returns their bits. Comes back with
// fewer only if the word was full at one moment.
template <class Word>
WARPHEAP_FN Word slot_bits<Word>::take_bits(std::uint32_t word, std::uint32_t turn, std::uint32_t count) const {
  Word got = 0;
  Word free = free_word(word);
  while (count != 0 && free != 0) {  // not a spin: each turn takes a slot, or another thread took it
    const Word later = free & static_cast<Word>(~Word{0}) << turn;
    const auto from_turn = static_cast<std::uint32_t>(popcount(later));
    const Word wanted = from_turn >= count ? lowest_bits(later, count) : later | lowest_bits(free, count - from_turn);
    // Acquires from the release of whoever had these slots before.
    const Word before = view(word).fetch_or(wanted, memory_order::acquire, thread_scope::device);
    const Word taken = wanted & static_cast<Word>(~before);
    got |= taken;
    count -= static_cast<std::uint32_t>(popcount(taken));
    free = static_cast<Word>(~(before | wanted));
  }
  return got;
}

template <class Word>
WARPHEAP_FN std::uint32_t slot_bits<Word>::claim(lane_mask group, std::uint32_t start) const {
  const auto lanes = static_cast<std::uint32_t>(group_size(group));
  const auto rank = static_cast<std::uint32_t>(group_rank(group));
  std::uint32_t slot = none;
  lane_mask waiting = group;
  // Each turn of the loop is the same in all lanes: those that have a slot stay and read words for the others.
  // not a spin: a turn that stays at its words served a lane, or another thread took what was seen there.
  for (std::uint32_t step = 0; step < words() && waiting != 0;) {
    const bool reads = words() - step > rank;
    std::uint32_t word = 0;
    std::uint32_t offer = 0;
    if (reads) {
      word = start / word_bits + step + rank;
      if (word >= words()) word -= words();
      offer = static_cast<std::uint32_t>(popcount(free_word(word)));
    }
    const auto wanted = static_cast<std::uint32_t>(popcount(waiting));
    const std::uint32_t before = exclusive_scan(group, offer, std::uint32_t{0}, plus{});
    Word got = 0;
    bool was_full = offer == 0;
    if (offer != 0 && before < wanted) {
      const std::uint32_t share = wanted - before < offer ? wanted - before : offer;
      got = take_bits(word, step + rank == 0 ? start % word_bits : 0, share);
      was_full = static_cast<std::uint32_t>(popcount(got)) < share;
    }
    std::uint32_t given = 0;
    for (lane_mask sources = ballot(group, got != 0); sources != 0; sources &= sources - 1) {
      const int source = lowest_bit(sources);
      const Word bits = shuffle(group, got, source);
      const std::uint32_t from = shuffle(group, word, source);
      const auto count = static_cast<std::uint32_t>(popcount(bits));
      const auto mine = static_cast<std::uint32_t>(group_rank(waiting));
      if ((waiting & lane_bit()) != 0 && mine >= given && mine < given + count) {
        slot = from * word_bits + bit_at(bits, mine - given);
      }
      given += count;
    }
    waiting = ballot(group, slot == none);
    if (all(group, was_full)) step += lanes;
  }
  sync(group);  // what the lane that took a slot acquired, its new owner sees
  return slot;
}

template <class Word>
WARPHEAP_FN std::uint32_t slot_bits<Word>::claim_counted(lane_mask group, std::uint32_t start) const {
  std::uint32_t slot = none;
  lane_mask waiting = group;
  for (backoff wait;; wait.pause()) {
    if (slot == none) slot = claim(waiting, start);
    // All lanes of `group` meet here in each turn. Those that are served wait for the others, who wait for nobody.
    waiting = ballot(group, slot == none);
    if (waiting == 0) return slot;
  }
}

// Takes the slots of `mask` in one word, or nothing.
template <class Word>
WARPHEAP_FN bool slot_bits<Word>::take_exactly(std::uint32_t word, Word mask) const {
  Word seen = look(word);
  while ((seen & mask) == 0) {  // not a spin: a failed exchange means that another thread changed the word
    // Acquires from the release of whoever had these slots before.
    if (view(word).compare_exchange(seen, seen | mask, memory_order::acquire, thread_scope::device)) return true;
  }
  return false;
}

template <class Word>
WARPHEAP_FN bool slot_bits<Word>::claim_run(std::uint32_t start, std::uint32_t count) const {
  const std::uint32_t end = start + count;
  const std::uint32_t first = start / word_bits;
  const std::uint32_t last = (end - 1) / word_bits;
  // A look first, so that runs that are plainly not free disturb nobody.
  for (std::uint32_t word = last; word > first; --word) {
    if ((look(word) & run_mask(word, start, end)) != 0) return false;
  }
  for (std::uint32_t word = first; word <= last; ++word) {
    if (take_exactly(word, run_mask(word, start, end))) continue;
    while (word-- > first) {
      // Releases what the former owner released: the next owner must see it as well.
      view(word).fetch_and(static_cast<Word>(~run_mask(word, start, end)), memory_order::release, thread_scope::device);
    }
    return false;
  }
  return true;
}

template <class Word>
WARPHEAP_FN bool slot_bits<Word>::release(std::uint32_t slot) const {
  const Word bit = bit_of(slot);
  // Releases the owner's last writes. A slot that is free stays free: clearing it again changes nothing.
  const Word before =
      view(slot / word_bits).fetch_and(static_cast<Word>(~bit), memory_order::release, thread_scope::device);
  return (before & bit) != 0;
}

template <class Word>
WARPHEAP_FN Word slot_bits<Word>::release_mask(std::uint32_t word, Word mask) const {
  // Releases the last writes of the owners, which the caller has met. Slots that are free stay free.
  return view(word).fetch_and(static_cast<Word>(~mask), memory_order::release, thread_scope::device) & mask;
}

template <class Word>
WARPHEAP_FN bool slot_bits<Word>::release_run(std::uint32_t start, std::uint32_t count) const {
  const std::uint32_t end = start + count;
  const std::uint32_t first = start / word_bits;
  const Word mask = run_mask(first, start, end);
  Word seen = look(first);
  do {  // not a spin: a failed exchange means that another thread changed the word
    if ((seen & mask) != mask) return false;
    // Releases the owner's last writes. Of two releases of a run, this exchange lets one go on.
  } while (!view(first).compare_exchange(seen, seen & static_cast<Word>(~mask), memory_order::release,
                                         thread_scope::device));
  for (std::uint32_t word = first + 1; word <= (end - 1) / word_bits; ++word) {
    view(word).fetch_and(static_cast<Word>(~run_mask(word, start, end)), memory_order::release, thread_scope::device);
  }
  return true;
}

template <class Word>
WARPHEAP_FN std::uint32_t slot_bits<Word>::free_slots() const {
  std::uint32_t free = 0;
  for (std::uint32_t word = 0; word < words(); ++word) free += static_cast<std::uint32_t>(popcount(free_word(word)));
  return free;
}

}  // namespace warpheap
