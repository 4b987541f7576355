// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/kma/detail/superblocks.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::detail {

/// The lists of partly free superblocks, one for each class, and what happens to a superblock when blocks come back.
///
/// Invariant: a superblock of class c with free permits is listed in class c, or is a current superblock of class c, or
/// is in the hands of a change (`search_proof`). The give that makes the first permit of a superblock free lists it.
/// The take of the last permit of a listed superblock strikes it off. The thread that makes it a current one does so as
/// well, and the thread that gives it up. So a list has few pages without a permit: those that a thread lists late. A
/// take that comes upon one of another class, or upon more than a few, strikes them off.
///
/// Orders. The list is a bit, and each change of it is a read-modify-write that acquires and releases. A thread that
/// strikes a page off looks at its state once more: if a give came before, the bit that the giver set was struck off,
/// and the second look sees the giver's permits; else the giver sets the bit later.
template <class Layout>
class kma_lists {
 public:
  using classes = typename Layout::classes;

  WARPHEAP_FN explicit kma_lists(const arena& from) : superblocks_(from) {}
  WARPHEAP_FN const kma_superblocks<Layout>& superblocks() const { return superblocks_; }
  WARPHEAP_FN const kma_pages<Layout>& pages() const { return superblocks_.pages(); }
  WARPHEAP_FN auto quiescence() const { return superblocks_.quiescence(); }

  /// Lists the superblock at `page`. One lane, within a change.
  WARPHEAP_COLD_FN void list(std::uint32_t page, std::uint32_t c) const { pages().listed(c).insert(page); }
  /// Takes the superblock at `page` off the list. One lane, within a change.
  WARPHEAP_COLD_FN void unlist(std::uint32_t page, std::uint32_t c) const { pages().listed(c).erase(page); }

  /// Takes up to `wanted` permits of a listed superblock of class `c`, which stays listed if it has more; `left` are
  /// its permits after that. Threads with different seeds begin at different pages. If no superblock was listed at one
  /// moment, but for those in the hands of changes, `permits` is 0. One lane.
  WARPHEAP_COLD_FN kma_draw take(std::uint32_t c, std::uint32_t wanted, std::uint32_t seed, std::uint32_t& left) const {
    const bit_tree listed = pages().listed(c);
    const std::uint32_t hash = spread(seed);
    std::uint32_t first = 0;
    if (!listed.next_leaf(pages().first_page() / bit_tree::leaf_bits, first)) return {0, 0, 0};
    const std::uint32_t end = pages().control().end / bit_tree::leaf_bits + 1;
    // Passes from places that come closer to the lowest leaf, each up to where the one before began. So threads spread
    // over few leaves, too, as those of a heap that is mostly free.
    std::uint32_t begin = first + static_cast<std::uint32_t>(std::uint64_t{hash} * (end - first) >> 32);
    std::uint32_t upto = end;
    std::uint32_t from = begin;
    leaf_place place{hash % bit_tree::leaf_bits};
    for (;;) {  // not a spin: each turn goes on to another leaf or page, or takes permits
      std::uint32_t leaf = 0;
      if (!listed.next_leaf(from, leaf) || leaf >= upto) {
        if (begin == first) return {0, 0, 0};
        upto = begin;
        begin = first + (begin - first) / nearer;
        from = begin;
        continue;
      }
      if (leaf != from) place.begin(hash % bit_tree::leaf_bits);
      const std::uint64_t word = place.left(listed.leaf_word(leaf));
      from = leaf;
      if (word == 0) {
        from = leaf + 1;
        place.begin(hash % bit_tree::leaf_bits);
        continue;
      }
      const auto bit = static_cast<std::uint32_t>(lowest_bit(word));
      const std::uint32_t page = leaf * bit_tree::leaf_bits + bit;
      const slab_step step = pages().state(page).try_take(c, wanted);
      if (step.amount() != 0) {
        left = step.after;
        if (left == 0) strike(page, c);
        return kma_draw::of(page, step);
      }
      // The thread that took the last permit strikes the page off. Threads that meet there would all do so.
      // Permits that it may not take are of another class.
      if (place.passed() >= most_idle || step.before != 0) strike(page, c);
      place.pass(bit);
    }
  }

  /// Gives back `count` permits of the caller's superblock of class `c`, whose blocks are free: the superblock becomes
  /// free with the last of them, and is listed with the first. Superblocks that become free together go to the ring
  /// together. Collective over `group`, each lane with a superblock of its own; they may be of several heaps.
  WARPHEAP_FN void give(lane_mask group, std::uint32_t page, std::uint32_t c, std::uint32_t count) const {
    // The change begins first. A thread that gives a permit after this one counts on it to list the superblock.
    quiescence().begin_change();
    const slab_step step = pages().state(page).give(count);
    const bool crosses = step.all_free() || step.first_free();
    const lane_mask crossing = ballot(group, crosses);
    if (crosses) {
      const kma_lists self = *this;
      cold_call([self, crossing, page, c, step] {
        self.crossed(crossing, page, c, step);
        return 0;
      });
    }
    quiescence().end_change();
    quiescence().note_free();
  }

 private:
  // Where a take is within a leaf, and how many pages without permits it has passed, in one register. It tries the bits
  // from a first one on, and then all from bit 0 on. It tries those that it passed once more: to end before them takes
  // two more registers. After bit 63 it begins anew, which ends when it has passed so many that it strikes them off.
  struct leaf_place {
    static constexpr std::uint32_t around = bit_tree::leaf_bits;  // in the second part
    static constexpr std::uint32_t one_passed = 2 * around;
    static_assert(is_power_of_two(around));
    std::uint32_t word;

    WARPHEAP_FN std::uint32_t passed() const { return word / one_passed; }
    WARPHEAP_FN void begin(std::uint32_t first) { word = (word & ~(one_passed - 1)) | first; }
    WARPHEAP_FN void pass(std::uint32_t bit) { word = (word & ~(around - 1)) + one_passed + bit + 1; }
    // What of a leaf's word is left to try: its lowest bit comes next.
    WARPHEAP_FN std::uint64_t left(std::uint64_t of) {
      const std::uint64_t rest = of & ~std::uint64_t{0} << word % around;
      if (rest != 0 || (word & around) != 0) return rest;
      begin(around);
      return of;
    }
  };
  static constexpr std::uint32_t most_idle = 8;  // pages without a permit that a take leaves listed
  static constexpr std::uint32_t nearer = 32;    // how much closer to the lowest leaf the next pass of a take begins

  // Gives that made the first or the last block of a superblock free. Collective over `group`, within changes.
  WARPHEAP_COLD_FN void crossed(lane_mask group, std::uint32_t page, std::uint32_t c, slab_step step) const {
    const bool retires = step.all_free() && pages().state(page).try_retire();
    if (retires) {
      // As long as it is reserved nobody else can give it to a class and list it there.
      if (is_listed(page, c)) pages().listed(c).erase(page);
      pages().state(page).vacate();
    } else if (step.first_free()) {
      list(page, c);
    }
    const lane_mask retired = ballot(group, retires);
    if (retires) superblocks_.give(match(retired, pages().key()), page);
  }
  // True if the page is listed in class `c`. A hint while others list and strike off.
  WARPHEAP_FN bool is_listed(std::uint32_t page, std::uint32_t c) const {
    return (pages().listed(c).leaf_word(page / bit_tree::leaf_bits) >> page % bit_tree::leaf_bits & 1) != 0;
  }
  // Takes a page off the list of class `c` that seems to have no permit, unless another thread did. One lane.
  WARPHEAP_COLD_FN void strike(std::uint32_t page, std::uint32_t c) const {
    if (!is_listed(page, c)) return;
    quiescence().begin_change();
    pages().listed(c).erase(page);
    const slab_entry::contents seen = pages().state(page).look();
    if (seen.size_class == c && seen.free != 0) list(page, c);
    quiescence().end_change();
  }

  kma_superblocks<Layout> superblocks_;
};

}  // namespace warpheap::detail
