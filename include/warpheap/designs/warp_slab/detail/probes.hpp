// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/warp_slab/detail/claims.hpp>
#include <warpheap/designs/warp_slab/size_classes.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::detail {

/// Probes: one lane reads words of a class and tells of one with free blocks. Nothing is written.
///
/// Probes of a class are scattered over all of its slabs. Successive numbers lead to words that lie far apart, because
/// blocks in use lie together. What was seen may be gone before it is claimed, and what is missed costs only time.
///
/// Any lane may call, alone. Orders: all loads are relaxed, since the claim of the word decides.
class slab_probes {
 public:
  using classes = slab_classes;

  WARPHEAP_FN explicit slab_probes(const arena& from) : claims_(from) {}
  WARPHEAP_FN const slab_claims& claims() const { return claims_; }
  WARPHEAP_FN const slab_hints& hints() const { return claims_.hints(); }
  WARPHEAP_FN const slab_store& store() const { return claims_.store(); }

  /// Words that one lane reads side by side, since each load waits for memory.
  static constexpr std::uint32_t looks_at_once = 4;
  /// Which words a lane reads.
  enum class look_kind : std::uint32_t {
    quick,     ///< one word of any slab
    anywhere,  ///< `looks_at_once` words of any slabs
    latest     ///< `looks_at_once` words of the slabs from place `newest` on
  };

  /// The word of class `c` to which `number` is scattered, and which of its blocks are free. Successive numbers lead to
  /// words that lie far apart.
  WARPHEAP_FN slab_look look_anywhere(std::uint32_t c, std::uint32_t number) const {
    const std::uint32_t places =
        atomic_view{store().of_class(c).places}.load(memory_order::relaxed, thread_scope::device);
    return look_below(c, places, number);
  }
  /// As `look_anywhere`, of the slabs at the first half of the places. In the launch in which a class begins, the
  /// blocks of the later slabs are for threads that hold tickets of them and have yet to claim.
  WARPHEAP_COLD_FN slab_look look_at_older(std::uint32_t c, std::uint32_t number) const {
    const std::uint32_t places =
        atomic_view{store().of_class(c).places}.load(memory_order::relaxed, thread_scope::device);
    return look_below(c, places / 2, number);
  }
  /// Reads `looks_at_once` words, to which numbers of the calling lane and of `round` are scattered. Returns the word
  /// with the most free blocks, and adds to `free_blocks` how many free blocks all of them have.
  WARPHEAP_COLD_FN slab_look look_around(std::uint32_t c, look_kind kind, std::uint32_t round,
                                         std::uint32_t& free_blocks) const {
    using enum memory_order;
    using enum thread_scope;
    const std::uint32_t places = atomic_view{store().of_class(c).places}.load(relaxed, device);
    const bool latest = kind == look_kind::latest;
    const std::uint32_t newest = latest ? atomic_view{store().of_class(c).newest}.load(relaxed, device) : 0;
    if (places == 0) return {};
    const std::uint32_t begin = newest < places ? newest : 0;
    const std::uint32_t first =
        (grid_warp_index() * warp_width + static_cast<std::uint32_t>(lane_index())) * (looks_at_once * (round + 1));
    // The upper half of a scattered number is the place, the lower half the part of the slab at which the word lies.
    // All loads of a kind come before the first use of one, since each waits for memory.
    std::uint64_t scattered[looks_at_once];
    std::uint32_t entry[looks_at_once];
    for (std::uint32_t i = 0; i < looks_at_once; ++i) {
      scattered[i] = std::uint64_t{spread(first + i)} * (places - begin);
      entry[i] = store().table(c, begin + split(scattered[i]).high).load(relaxed, device);
    }
    std::uint32_t at[looks_at_once];
    for (std::uint32_t i = 0; i < looks_at_once; ++i) {
      // A vacant place stands for unit 0: any word will do, since it says itself whether it is of the class.
      const std::uint32_t unit = entry[i] == 0 ? 0 : entry[i] - 1;
      const std::uint64_t index = std::uint64_t{split(scattered[i]).low} * store().words_of(c);
      at[i] = word_number::make(unit, split(index).high);
    }
    slab_word seen[looks_at_once];
    for (std::uint32_t i = 0; i < looks_at_once; ++i) seen[i] = {store().word(at[i]).load(relaxed, device)};
    slab_look best{};
    for (std::uint32_t i = 0; i < looks_at_once; ++i) {
      const slab_look each{at[i], seen[i].free_of(c)};
      free_blocks += static_cast<std::uint32_t>(popcount(each.free_bits));
      best = freer(best, each);
    }
    return best;
  }
  /// Reads words of the slab at `unit`, cyclic from number `from` on: `count`, of 1 to all that the slab has, and at
  /// most `looks_at_once`. Returns the word with the most free blocks. One lane.
  WARPHEAP_FN slab_look look_at(std::uint32_t c, std::uint32_t unit, std::uint32_t from, std::uint32_t count) const {
    using enum memory_order;
    using enum thread_scope;
    const std::uint32_t words = store().words_of(c);
    const auto word_at = [&](std::uint32_t i) { return word_number::make(unit, (from + (i < count ? i : 0)) % words); };
    slab_word seen[looks_at_once];
    for (std::uint32_t i = 0; i < looks_at_once; ++i) seen[i] = {store().word(word_at(i)).load(relaxed, device)};
    slab_look best{};
    for (std::uint32_t i = 0; i < looks_at_once; ++i) best = freer(best, {i, seen[i].free_of(c)});
    return {word_at(best.word), best.free_bits};
  }

 private:
  // The word, of slabs at places below `places`, to which `number` is scattered.
  WARPHEAP_FN slab_look look_below(std::uint32_t c, std::uint32_t places, std::uint32_t number) const {
    using enum memory_order;
    using enum thread_scope;
    const word_halves at_place = split(std::uint64_t{spread(number)} * places);
    const std::uint32_t entry = store().table(c, at_place.high).load(relaxed, device);
    // A vacant place stands for unit 0: any word will do, since it says itself whether it is of the class.
    const std::uint32_t unit = entry == 0 ? 0 : entry - 1;
    // In a small heap a slab may have fewer words than that. A word that it lacks is of no class, either.
    const std::uint32_t at = word_number::make(unit, split(std::uint64_t{at_place.low} * classes::words(c)).high);
    return {at, slab_word{store().word(at).load(relaxed, device)}.free_of(c)};
  }
  // The look that saw more free blocks.
  WARPHEAP_FN static slab_look freer(slab_look a, slab_look b) {
    return popcount(b.free_bits) > popcount(a.free_bits) ? b : a;
  }

  slab_claims claims_;
};

}  // namespace warpheap::detail
