// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>

namespace warpheap {

/// The slots of a page or of a table, one bit each, in words of device memory. A bit is set while its slot is taken.
///
/// A view: the words lie where the owner wants them, and copies of the view are the same slots. Bits that have no slot,
/// above the capacity in the last word, are set by `reset` and stay set. So no count guards the mask, and words of zero
/// bytes are free slots where the capacity is a multiple of `word_bits`.
///
/// Invariant: a set bit has one owner. The owner is the caller whose `claim` or `claim_run` returned the slot, until
/// the owner's `release`; or a `claim_run` over several words that is under way and may give the bit back; or nobody,
/// where the bit has no slot. A clear bit has no owner.
///
/// So an empty result of `claim` says of each word that it was full at one moment of the call, not that all were full
/// at the same moment. A caller that takes a permit of a count before it claims, and gives the permit after it
/// releases, leaves a clear bit for each permit that is not yet used: `claim_counted` then serves each lane.
///
/// Memory order: `claim` and `claim_run` acquire, `release` and `release_run` release. The new owner of a slot sees
/// what the former owner wrote there.
template <class Word = std::uint32_t>
class slot_bits {
  static_assert(sizeof(Word) == 4 || sizeof(Word) == 8, "slot_bits: use words of 32 or 64 bits");

 public:
  static constexpr std::uint32_t word_bits = 8 * sizeof(Word);         ///< slots of a word
  static constexpr std::uint32_t none = ~std::uint32_t{0};             ///< no slot
  static constexpr std::uint32_t most_slots = std::uint32_t{1} << 31;  ///< largest capacity

  /// Words that `slots` slots need.
  WARPHEAP_FN static constexpr std::uint32_t words_for(std::uint32_t slots) {
    return (slots + word_bits - 1) / word_bits;
  }

  /// The slots `[0, slots)` whose bits are in `words_for(slots)` words from `words` on; 1 to `most_slots` slots.
  WARPHEAP_FN slot_bits(Word* words, std::uint32_t slots) : words_(words), slots_(slots) {}

  /// Makes each slot free and sets the bits that have no slot. Nobody else uses the words meanwhile, and the caller
  /// publishes them with a release. Collective over `group`; any lanes.
  WARPHEAP_FN void reset(lane_mask group) const;

  /// Takes a slot for each lane of `group`: the first free ones from `start` on, cyclic by words. Returns the caller's
  /// slot, or `none` if each word was full at one moment of the call. The lanes read one word each, and each word that
  /// has slots to give is changed once. `start` is below the capacity and the same in all lanes. Collective; any lanes.
  WARPHEAP_FN std::uint32_t claim(lane_mask group, std::uint32_t start) const;

  /// Takes a slot for each lane of `group` as `claim` does, and searches again until each lane has one. Each lane must
  /// own a permit of a count that is taken before the slot and given after its release, and nobody may use `claim_run`
  /// on more than one word. Another search then means that another thread found a slot. Collective; any lanes.
  WARPHEAP_FN std::uint32_t claim_counted(lane_mask group, std::uint32_t start) const;

  /// Takes the slots `[start, start + count)`, all below the capacity, or returns false and takes nothing. Within one
  /// word no other thread sees a part of the run taken. Over several words a run that fails holds its first words for a
  /// moment. One lane.
  WARPHEAP_FN bool claim_run(std::uint32_t start, std::uint32_t count) const;

  /// Gives a slot back. False, and nothing changes, if the slot was free: a double release. One lane.
  WARPHEAP_FN bool release(std::uint32_t slot) const;

  /// Gives the slots `[start, start + count)` back. False, and nothing changes, if a slot of the first word was free.
  /// Of two releases of one run one returns true. One lane.
  WARPHEAP_FN bool release_run(std::uint32_t start, std::uint32_t count) const;

  /// Takes those slots of `wanted`, bits of word `word`, that are free, and returns them as set bits, by one change of
  /// the word. All bits of `wanted` have slots, or are set for good. One lane.
  WARPHEAP_FN Word claim_bits(std::uint32_t word, Word wanted) const {
    // Acquires from the release of whoever had these slots before.
    return wanted & static_cast<Word>(~view(word).fetch_or(wanted, memory_order::acquire, thread_scope::device));
  }

  /// Gives the slots of `mask` back, bits of word `word`, and returns those that were taken: fewer than `mask` after a
  /// double release. One change of the word. One lane.
  WARPHEAP_FN Word release_bits(std::uint32_t word, Word mask) const {
    // Releases the owners' last writes.
    return mask & view(word).fetch_and(static_cast<Word>(~mask), memory_order::release, thread_scope::device);
  }

  /// True if the slot is taken. A hint while others claim and release.
  WARPHEAP_FN bool is_taken(std::uint32_t slot) const { return (look(slot / word_bits) & bit_of(slot)) != 0; }

  /// The free slots of one word as set bits. A hint while others claim and release.
  WARPHEAP_FN Word free_word(std::uint32_t word) const { return static_cast<Word>(~look(word)); }

  /// Number of free slots. Exact while no other thread claims or releases.
  WARPHEAP_FN std::uint32_t free_slots() const;

  WARPHEAP_FN std::uint32_t capacity() const { return slots_; }          ///< number of slots
  WARPHEAP_FN std::uint32_t words() const { return words_for(slots_); }  ///< number of words

 private:
  WARPHEAP_FN static constexpr Word bit_of(std::uint32_t slot) { return Word{1} << slot % word_bits; }
  // The bits of word `word` that belong to the run `[start, end)`.
  WARPHEAP_FN static constexpr Word run_mask(std::uint32_t word, std::uint32_t start, std::uint32_t end);
  WARPHEAP_FN static Word lowest_bits(Word word, std::uint32_t count);
  WARPHEAP_FN static std::uint32_t bit_at(Word word, std::uint32_t rank);
  WARPHEAP_FN atomic_view<Word> view(std::uint32_t word) const { return atomic_view{words_[word]}; }
  WARPHEAP_FN Word look(std::uint32_t word) const {
    return view(word).load(memory_order::relaxed, thread_scope::device);  // a guess: claims decide
  }
  WARPHEAP_FN Word take_bits(std::uint32_t word, std::uint32_t turn, std::uint32_t count) const;
  WARPHEAP_FN bool take_exactly(std::uint32_t word, Word mask) const;

  Word* words_;
  std::uint32_t slots_;
};

template <class Word>
slot_bits(Word*, std::uint32_t) -> slot_bits<Word>;

}  // namespace warpheap

#include <warpheap/structures/detail/slot_bits.hpp>
