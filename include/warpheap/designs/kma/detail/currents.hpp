// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/kma/detail/lists.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::detail {

/// The table of current superblocks: where requests take permits first. A class has one for each stripe of
/// multiprocessors.
///
/// Invariant: an entry is a name and owns nothing. What it promises is decided by the state word: a take that expects
/// the class fails if the superblock has become another one's. A thread that replaces a name lists the superblock that
/// had it, if that has permits. A thread that took the last permit removes the name, if the entry still has it.
template <class Layout>
class kma_currents {
 public:
  WARPHEAP_FN explicit kma_currents(const arena& from) : lists_(from) {}
  WARPHEAP_FN const kma_lists<Layout>& lists() const { return lists_; }
  WARPHEAP_FN const kma_superblocks<Layout>& superblocks() const { return lists_.superblocks(); }
  WARPHEAP_FN const kma_pages<Layout>& pages() const { return lists_.pages(); }
  WARPHEAP_FN auto quiescence() const { return lists_.quiescence(); }

  static constexpr std::uint32_t stripes = Layout::options.currents;  ///< current superblocks of a class

  /// The stripe of the caller's multiprocessor.
  WARPHEAP_FN static std::uint32_t home() { return multiprocessor_index() & (stripes - 1); }

  /// Takes up to `wanted` permits of the current superblock of class `c`. One lane.
  WARPHEAP_FN kma_draw draw(std::uint32_t c, std::uint32_t stripe, std::uint32_t wanted) const {
    const atomic_view current = pages().current(c, stripe);
    // Relaxed: a name. The take acquires what was written before the superblock was assigned.
    std::uint32_t name = current.load(memory_order::relaxed, thread_scope::device);
    if (name == 0) return {0, 0, 0};
    const std::uint32_t page = name - 1;
    const slab_step step = pages().state(page).try_take(c, wanted);
    if (step.amount() == 0) return {0, 0, 0};
    // Relaxed: only spares others a look. A superblock that gets permits again is listed.
    if (step.none_left()) current.compare_exchange(name, 0, memory_order::relaxed, thread_scope::device);
    return kma_draw::of(page, step);
  }

  /// Takes up to `wanted` permits of any current superblock of class `c`. One lane.
  WARPHEAP_COLD_FN kma_draw draw_any(std::uint32_t c, std::uint32_t wanted) const {
    const std::uint32_t first = home();
    WARPHEAP_ROLLED
    for (std::uint32_t i = 0; i < stripes; ++i) {
      const kma_draw got = draw(c, first ^ i, wanted);
      if (got.permits != 0) return got;
    }
    return {0, 0, 0};
  }

  /// Makes the superblock at `page` the current one. One lane, within a change.
  WARPHEAP_COLD_FN void adopt(std::uint32_t page, std::uint32_t c) const {
    // Releases the state of the superblock, and acquires that of the former one: the list hands it on.
    const std::uint32_t former =
        pages().current(c, home()).exchange(page + 1, memory_order::acq_rel, thread_scope::device);
    if (former == 0 || former == page + 1) return;
    // Without a permit it is not listed: the give of its next one does that. If it has another class by now, or has
    // this one again, it is its new owner's.
    const slab_entry::contents seen = pages().state(former - 1).look();
    if (seen.size_class == c && seen.free != 0) lists_.list(former - 1, c);
  }

 private:
  kma_lists<Layout> lists_;
};

}  // namespace warpheap::detail
