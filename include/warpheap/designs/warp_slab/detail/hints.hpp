// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/warp_slab/detail/store.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::detail {

/// Blocks that come back, and the hints that lead to them.
///
/// Three levels lead to a free block: the class's set of places, the hint of the slab, and the word.
///
/// Invariant: after a release has returned, and while the block was not claimed, the hint and the bit of the place are
/// set, or a thread that is about to set them, or cleared them to look again, has begun a change and not ended it. This
/// also holds for a word that says that it is shown. A hint of a slab without free blocks only costs time, and so does
/// a word that is shown and does not say so.
///
/// A slab can be taken back as soon as its last block is free, so a thread that shows or hides it may come late, and
/// find another slab in its place. Hints are changed only if they are still those of the class, and of the place that
/// is meant. A late change of the set of places can only leave a bit set that leads to no hint.
///
/// Orders: a thread that hides a slab (the hider) clears the hint, and then reads all words by RMWs that also clear
/// their bit `shown`. A release is an RMW on one of these words. If it is the earlier, the hider sees the block; if it
/// is the later, the releaser reads that the word is not shown. A releaser sets `shown` in the word before it reads the
/// hint. Its RMW and the hider's acquire and release, by themselves or by the fences around them. So of the two the
/// later sees the earlier and what came before it: either the hider clears `shown` again, or the releaser sees the
/// cleared hint. This holds one level up, too.
///
/// Each function is for one lane; no call waits for another thread.
class slab_hints {
 public:
  WARPHEAP_FN explicit slab_hints(const arena& from) : store_(from) {}
  WARPHEAP_FN const slab_store& store() const { return store_; }

  /// Makes blocks free, and shows their slab if the word is not shown. One lane, after a fence that releases the
  /// accesses of the threads that had the blocks.
  WARPHEAP_FN void put_back(slab_claim blocks) const {
    const slab_word old{store().word(blocks.word).fetch_or(blocks.blocks, after_release_fence, thread_scope::device)};
    invariant((old.free_bits() & blocks.blocks) == 0, "warp_slab: a block was freed twice");
    stop_point("warp_slab.put_back.freed");
    if (!old.shown()) show_of(*this, blocks.word, old.of_class());
  }
  /// Makes the blocks of a stale claim free, which the caller got by mistake. One lane. The claim acquired the
  /// accesses of the threads that had the blocks before, and the fence passes these on to the next owners.
  WARPHEAP_COLD_FN static void put_back_of(slab_hints self, slab_claim blocks) {
    fence(memory_order::acq_rel, thread_scope::device);
    blocks.word &= ~slab_claim::stale_bit;
    if (blocks.blocks != 0) self.put_back(blocks);
  }
  /// Leads searchers to the slab of word `at`, for `put_back`, by a copy of the handle: a call of a member would have
  /// each free put the handle in memory. The hot part calls it by name.
  WARPHEAP_COLD_FN static void show_of(slab_hints self, std::uint32_t at, std::uint32_t c);
  /// Clears the hint of a slab that was seen to have no free block, and sets it again if it turns out to have some. One
  /// lane.
  WARPHEAP_COLD_FN void hide(std::uint32_t c, std::uint32_t place, std::uint32_t unit) const {
    using enum memory_order;
    using enum thread_scope;
    begin_change(c);
    const atomic_view view{store().header(unit).hint};
    slab_hint seen{view.load(relaxed, device)};
    bool cleared = false;
    while (!cleared && seen.shown() && seen.is_of(c) && seen.place() == place) {  // not a spin: see `set_hint`
      cleared = view.compare_exchange(seen.value, seen.without(), acq_rel, device);
    }
    if (cleared) {
      // Two fences order all looks, each of which would wait by itself.
      fence(acq_rel, device);
      bool some = false;
      WARPHEAP_ROLLED for (std::uint32_t w = 0; w < store().words_of(c); ++w) {
        const slab_word left{
            store().word(word_number::make(unit, w)).fetch_and(~slab_word::shown_bit, relaxed, device)};
        if (left.free_bits() != 0 || !left.is_of(c)) some = true;  // a reclaimer may still restore it
      }
      fence(acq_rel, device);
      if (some) {
        set_hint(unit, c);
      } else {
        drop_place(c, place);
      }
    }
    end_change(c);
  }
  /// Takes a place out of the class's set that seems to have no slab with a shown hint; puts it back if it has one. One
  /// lane.
  WARPHEAP_COLD_FN void drop_place(std::uint32_t c, std::uint32_t place) const {
    using enum memory_order;
    using enum thread_scope;
    begin_change(c);
    store().hinted(c).erase(place);
    const std::uint32_t entry = store().table(c, place).fetch_or(0, acq_rel, device);
    if (entry != 0) {
      const slab_hint left{atomic_view{store().header(entry - 1).hint}.fetch_or(0, acq_rel, device)};
      if (left.shown() && left.is_of(c) && left.place() == place) store().hinted(c).insert(place);
    }
    end_change(c);
  }
  /// Begins and ends a change of hints of class `c`. A search that overlaps a change may miss what the change moves.
  WARPHEAP_FN void begin_change(std::uint32_t c) const {
    // Released by the RMWs that follow, or by a fence before them.
    store().of_class(c).changes.begin();
  }
  WARPHEAP_FN void end_change(std::uint32_t c) const { store().of_class(c).changes.end(); }
  /// What the leader remembers of a search, to know afterwards whether a hint that was cleared for a moment may have
  /// hidden a block: then the change is seen to have begun. Acquires.
  WARPHEAP_COLD_FN bit_tree::quiescence_snapshot begin_snapshot(std::uint32_t c) const {
    return store().of_class(c).changes.quiescence();
  }
  /// True if no change was under way when `before` was taken, and none has begun since.
  WARPHEAP_COLD_FN bool was_quiescent(std::uint32_t c, bit_tree::quiescence_snapshot before) const {
    fence(memory_order::acquire, thread_scope::device);
    return store().of_class(c).changes.was_quiescent(before);
  }

 private:
  // Sets `shown` in word `at`, in which a block was made free, and leads searchers to its slab; unless the slab is no
  // longer of class `c`. One lane.
  WARPHEAP_FN void show(std::uint32_t at, std::uint32_t c) const {
    using enum memory_order;
    using enum thread_scope;
    const atomic_view view{store().word(at)};
    begin_change(c);
    slab_word seen{view.load(relaxed, device)};
    bool said = seen.shown();
    while (!said && seen.is_of(c)) {  // not a spin: it fails only when another change came first
      said = view.compare_exchange(seen.value, seen.value | slab_word::shown_bit, acq_rel, device) || seen.shown();
    }
    set_hint(word_number::unit(at), c);
    end_change(c);
  }
  // Sets the hint of the slab that begins at `unit`, if it is still of class `c`, and the bit of its place. One lane,
  // with the change begun.
  WARPHEAP_FN void set_hint(std::uint32_t unit, std::uint32_t c) const {
    using enum memory_order;
    using enum thread_scope;
    const atomic_view view{store().header(unit).hint};
    slab_hint seen{view.load(acquire, device)};
    while (seen.is_of(c) && !seen.shown()) {  // not a spin: it fails only when another change came first
      if (!view.compare_exchange(seen.value, seen.with(), acq_rel, device)) continue;
      store().hinted(c).insert(seen.place());
      break;
    }
  }

  slab_store store_;
};

#if !defined(WARPHEAP_COLD_LINKED)
WARPHEAP_COLD_FN inline void slab_hints::show_of(slab_hints self, std::uint32_t at, std::uint32_t c) {
  self.show(at, c);
}
#endif

}  // namespace warpheap::detail
