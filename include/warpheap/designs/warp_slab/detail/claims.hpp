// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/warp_slab/detail/hints.hpp>
#include <warpheap/designs/warp_slab/size_classes.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/sync.hpp>

namespace warpheap::detail {

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

/// Claims of blocks of a word, and the cache entry of a warp, which names the word where it claims first.
///
/// A claim clears bits of a word that are believed to be set, and takes the blocks of those that were. It may get fewer
/// blocks than it tried for, and sees which are left. The operation tells the class of the slab, too. If the slab was
/// taken back meanwhile and is of another class, the claimer puts the blocks back, on the cold way, so that the hot one
/// has no calls.
///
/// A warp begins with its cache entry: the word where it last found blocks of the class, and the bits that it took
/// there. Blocks that were taken together are mostly free together again, so the warp claims without a look. A cache
/// entry reserves nothing and may be outdated; the word decides.
///
/// Invariant: a bit is clear from its claim until its release, and in between one thread has the block.
///
/// Orders: a claim acquires what the release of its blocks released, the accesses of the threads that had them before.
/// Reads of where slabs lie (`cache_entries`, `places`, `table`) are relaxed, since the word itself decides.
///
/// One lane claims, for as many lanes as it says. A `sync` or `reconverge` after the claim passes on what that
/// acquired.
class slab_claims {
 public:
  using classes = slab_classes;

  WARPHEAP_FN explicit slab_claims(const arena& from) : hints_(from) {}
  WARPHEAP_FN const slab_hints& hints() const { return hints_; }
  WARPHEAP_FN const slab_store& store() const { return hints_.store(); }

  /// Up to `wanted` blocks of the word in the cache entry of the caller's warp. One lane.
  WARPHEAP_FN slab_claim claim_cached(std::uint32_t c, std::uint32_t wanted) const {
    using enum memory_order;
    using enum thread_scope;
    const slab_cache_entry named{store().cache_entry(c).load(relaxed, device)};
    if (!named.is_of(c)) return {};
    return claim_twice(c, named.word(c), named.guess(wanted), wanted);
  }
  /// Up to `wanted` blocks of the word of `look`, or none if that saw no free block. A word that gave blocks of class
  /// `c` goes into the cache entry of the caller's warp. The claim may be stale. One lane.
  WARPHEAP_FN slab_claim claim_and_cache(std::uint32_t c, slab_look look, std::uint32_t wanted) const {
    if (look.free_bits == 0) return {};
    const slab_claim got = claim_twice(c, look.word, choose(look.free_bits, wanted), wanted);
    if (got.serves(0)) update_cache_entry(c, got);
    return got;
  }
  /// `claim_cold`: `claim_and_cache`, for the cold way. `claim_home`: up to `wanted` blocks of the home word of the
  /// caller's warp, which goes into its cache entry. Stale blocks go back at once. Both are calls with registers of
  /// their own: a kernel has as many as its largest function needs. One lane.
  WARPHEAP_COLD_FN slab_claim claim_cold(std::uint32_t c, slab_look look, std::uint32_t wanted) const {
    return without_stale(claim_and_cache(c, look, wanted));
  }
  WARPHEAP_COLD_FN slab_claim claim_home(std::uint32_t c, std::uint32_t wanted) const {
    return without_stale(claim_of_home_word(c, wanted));
  }
  /// The blocks of `look`, `wanted` many, that the caller drew tickets for, and other blocks of the word in place of
  /// those that others have. The word goes into the cache entry of the caller's warp. Stale blocks go back at once. One
  /// lane.
  WARPHEAP_FN slab_claim claim_drawn(std::uint32_t c, slab_look look, std::uint32_t wanted) const {
    std::uint32_t left = 0;
    const slab_claim got = claim(c, look.word, look.free_bits, left);
    if ((got.blocks != look.free_bits) | got.stale()) return claim_rest(c, got, left, wanted);
    update_cache_entry(c, got);
    return got;
  }
  /// Broadcasts the claim `got` of the leader of `peers` to each of them, after a `sync` or `reconverge` of `group`,
  /// which passed on what the claim acquired. Collective over `group`.
  WARPHEAP_FN static slab_claim broadcast(lane_mask group, warp_request peers, slab_claim got) {
    return {peers.from_leader(group, got.word), peers.from_leader(group, got.blocks)};
  }
  /// The block, of `bytes` bytes, of the lane of rank `rank` among those that share a claim.
  WARPHEAP_FN void* block_of(std::uint32_t bytes, slab_claim from, int rank) const {
    const std::uint64_t slab = std::uint64_t{word_number::unit(from.word)} << classes::unit_shift;
    const std::uint32_t at = word_number::index(from.word) * 32 | bit_of_rank(from.blocks, rank);
    return store().data() + slab + std::uint64_t{at} * bytes;
  }

 private:
  // Stores the word and the blocks of `got` in the cache entry of the caller's warp. One lane.
  WARPHEAP_FN void update_cache_entry(std::uint32_t c, slab_claim got) const {
    store().cache_entry(c).store(slab_cache_entry::make(c, got).value, memory_order::relaxed, thread_scope::device);
  }
  // The rest of `claim_drawn`: what `got` has, and more of the blocks `left` in the word, `wanted` in all. One lane.
  WARPHEAP_COLD_FN slab_claim claim_rest(std::uint32_t c, slab_claim got, std::uint32_t left,
                                         std::uint32_t wanted) const {
    if (!got.stale() && left != 0) {
      stop_point("warp_slab.claim_rest.left");
      got = claim_more(c, got, left, wanted);
    }
    got = without_stale(got);
    if (got.serves(0)) update_cache_entry(c, got);
    return got;
  }
  // `got`, or an empty claim if that is stale: its blocks go back at once. One lane.
  WARPHEAP_FN slab_claim without_stale(slab_claim got) const {
    if (!got.stale()) return got;
    slab_hints::put_back_of(hints(), got);
    return {};
  }
  // Up to `wanted` blocks of the home word of the caller's warp, which goes into its cache entry. The words of a class
  // are dealt to the warps of a grid in turn, so the warps begin apart. One lane.
  WARPHEAP_FN slab_claim claim_of_home_word(std::uint32_t c, std::uint32_t wanted) const {
    using enum memory_order;
    using enum thread_scope;
    const std::uint32_t places = atomic_view{store().of_class(c).places}.load(relaxed, device);
    if (places == 0) return {};
    const std::uint32_t words = store().words_of(c);
    const std::uint32_t home = grid_warp_index() % (places * words);
    const std::uint32_t unit = store().table(c, home / words).load(relaxed, device);
    if (unit == 0) return {};
    const std::uint32_t at = word_number::make(unit - 1, home % words);
    const slab_word seen{store().word(at).load(relaxed, device)};
    return claim_and_cache(c, {at, seen.free_of(c)}, wanted);
  }
  // The blocks `tried` of word `at` as far as they are free and, if one is not, others of the word, up to `wanted` in
  // all. One lane.
  WARPHEAP_FN slab_claim claim_twice(std::uint32_t c, std::uint32_t at, std::uint32_t tried,
                                     std::uint32_t wanted) const {
    std::uint32_t left = 0;
    const slab_claim got = claim(c, at, tried, left);
    return got.blocks == tried || left == 0 ? got : claim_more(c, got, left, wanted);
  }
  // What `got` has, which is not stale, and others of the blocks `left` in its word, up to `wanted` in all. While the
  // caller has a block, the slab keeps its class; if `got` is empty, the result may be stale. One lane.
  WARPHEAP_FN slab_claim claim_more(std::uint32_t c, slab_claim got, std::uint32_t left, std::uint32_t wanted) const {
    wanted -= static_cast<std::uint32_t>(popcount(got.blocks));
    const slab_claim more = claim(c, got.word, choose(left, wanted), left);
    return {more.word, got.blocks | more.blocks};
  }
  // Claims those of the blocks `chosen` of word `at` that are free. `left` becomes the other free blocks of the word,
  // or 0 if the slab is of another class. One lane.
  WARPHEAP_FN slab_claim claim(std::uint32_t c, std::uint32_t at, std::uint32_t chosen, std::uint32_t& left) const {
    const slab_word old{
        store().word(at).fetch_and(slab_word::all_but(chosen), memory_order::acquire, thread_scope::device)};
    left = old.free_of(c) & ~chosen;
    return {old.is_of(c) ? at : at | slab_claim::stale_bit, old.free_bits() & chosen};
  }
  // Up to `wanted` of the bits `free_bits`. Warps that share a word begin at different bits.
  WARPHEAP_FN static std::uint32_t choose(std::uint32_t free_bits, std::uint32_t wanted) {
    if (static_cast<std::uint32_t>(popcount(free_bits)) <= wanted) return free_bits;
    const std::uint32_t from = grid_warp_index() % 32;
    return rotate_left(lowest_bits(rotate_left(free_bits, (32 - from) % 32), wanted), from);
  }

  slab_hints hints_;
};

}  // namespace warpheap::detail
