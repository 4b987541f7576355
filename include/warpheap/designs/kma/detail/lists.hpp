// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/kma/detail/superblocks.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::detail {

/// The lists of partly free superblocks, one for each class, and what happens to a superblock when blocks come back.
///
/// Invariant: a superblock of class c with free units is listed in class c, or is a current superblock of class c, or
/// is in the hands of a change (`search_proof`). A listed page may have no units, or another class by now: a take that
/// finds this so strikes it off. The give that makes the first
/// unit of a superblock free lists it.
///
/// Orders. The list is a bit, and each change of it is a read-modify-write that acquires and releases. A thread that
/// strikes a page off looks at its state once more: if a give came before, the bit that the giver set was struck off,
/// and the second look sees the giver's units; else the giver sets the bit later.
template <class Layout>
class kma_lists {
 public:
  using classes = typename Layout::classes;

  WARPHEAP_FN explicit kma_lists(const arena& from) : superblocks_(from) {}
  WARPHEAP_FN const kma_superblocks<Layout>& superblocks() const { return superblocks_; }
  WARPHEAP_FN const kma_pages<Layout>& pages() const { return superblocks_.pages(); }
  WARPHEAP_FN auto quiescence() const { return superblocks_.quiescence(); }

  /// Lists the superblock at `page`. One lane, within a change.
  WARPHEAP_COLD_FN void list(std::uint32_t page, std::uint32_t c) const { pages().listed(c).mark(page); }

  /// Takes up to `wanted` units of a listed superblock of class `c`, which stays listed; `left` are its units after
  /// that. Threads with different seeds begin at different pages. If no superblock was listed at one moment, but for
  /// those in the hands of changes, `units` is 0. One lane.
  WARPHEAP_COLD_FN kma_draw take(std::uint32_t c, std::uint32_t wanted, std::uint32_t seed, std::uint32_t& left) const {
    const bit_tree listed = pages().listed(c);
    const std::uint32_t hash = spread(seed);
    const std::uint32_t first = pages().first_page() / bit_tree::leaf_bits;
    const std::uint32_t end = pages().control().end / bit_tree::leaf_bits + 1;
    const auto middle = first + static_cast<std::uint32_t>(std::uint64_t{hash} * (end - first) >> 32);
    std::uint32_t from = middle;
    bool second = false;
    for (;;) {  // not a spin: each turn goes on to another leaf, or takes units, or strikes a page off
      std::uint32_t leaf = 0;
      if (!listed.next_leaf(from, leaf) || (second && leaf >= middle)) {
        if (second) return {0, 0, 0};
        second = true;
        from = first;
        continue;
      }
      const std::uint64_t word = listed.leaf_word(leaf);
      if (word == 0) {
        from = leaf + 1;
        continue;
      }
      from = leaf;
      const std::uint64_t after = word & ~std::uint64_t{0} << hash % bit_tree::leaf_bits;
      const std::uint32_t page =
          leaf * bit_tree::leaf_bits + static_cast<std::uint32_t>(lowest_bit(after != 0 ? after : word));
      const slab_step step = pages().state(page).try_take(c, wanted);
      left = step.after;
      if (step.amount() != 0) return kma_draw::of(page, step);
      strike(page, c);
    }
  }

  /// Gives back `count` units of the superblock of class `c`, whose blocks are free: the superblock becomes free with
  /// the last of them, and is listed with the first. One lane.
  WARPHEAP_FN void give(std::uint32_t page, std::uint32_t c, std::uint32_t count) const {
    // The change begins first. A thread that gives a unit after this one counts on it to list the superblock.
    quiescence().begin_change();
    const slab_step step = pages().state(page).give(count);
    if (step.all_free() || step.first_free()) {
      const kma_lists self = *this;
      cold_call([self, page, c, step] {
        self.crossed(page, c, step);
        return 0;
      });
    }
    quiescence().end_change();
    quiescence().note_free();
  }

 private:
  // A give that made the first or the last block of the superblock free. One lane, within a change.
  WARPHEAP_COLD_FN void crossed(std::uint32_t page, std::uint32_t c, slab_step step) const {
    if (step.all_free() && pages().state(page).try_retire()) {
      pages().state(page).vacate();
      superblocks_.give(page);
    } else if (step.first_free()) {
      list(page, c);
    }
  }
  // Takes a page off the list of class `c` that seems to have no unit. One lane.
  WARPHEAP_COLD_FN void strike(std::uint32_t page, std::uint32_t c) const {
    quiescence().begin_change();
    pages().listed(c).unmark(page);
    const slab_entry::contents seen = pages().state(page).look();
    if (seen.size_class == c && seen.free != 0) list(page, c);
    quiescence().end_change();
  }

  kma_superblocks<Layout> superblocks_;
};

}  // namespace warpheap::detail
