// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/halloc/detail/pages.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/sync.hpp>

namespace warpheap::detail {

/// What a search saw before it began.
struct halloc_snapshot {
  std::uint64_t freed;
  change_counter<std::uint32_t>::snapshot changes;
};

/// Tells whether a search that found nothing proves that nothing was there.
///
/// A *change* has memory in its hands that others may need: units on their way from a slab to a head or back, a slab
/// on its way to another class or to pages. Frees of blocks are counted for themselves.
///
/// Invariant: a change is counted as begun before it takes memory away, and as ended when that can be found. A free is
/// counted after its blocks can be found, and before it returns.
///
/// Hence: a search at whose begin no change was under way, and until whose end none began and no free was counted, has
/// seen all memory that was free at its end in the place where it was. So it proves what it says.
template <class Layout>
class halloc_quiescence {
 public:
  WARPHEAP_FN explicit halloc_quiescence(const halloc_pages<Layout>& pages) : pages_(pages) {}

  WARPHEAP_FN void begin_change() const {
    // The fence orders the count before all stores of the change: a thread that sees such a store sees the count.
    changes().begin();
    fence(memory_order::release, thread_scope::device);
  }
  WARPHEAP_FN void end_change() const { changes().end(); }

  /// After blocks of slabs came back. Blocks of pages are counted by their source.
  WARPHEAP_FN void note_free() const {
    // Release: a search that reads this count finds the freed blocks.
    atomic_view{tallies().mine()}.fetch_add(1, memory_order::release, thread_scope::device);
  }
  /// Frees that were counted so far. Acquires their blocks.
  WARPHEAP_FN std::uint64_t freed() const {
    std::uint64_t sum = pages_.source().epoch();
    for (std::uint32_t i = 0; i < Layout::tallies; ++i) {
      sum += atomic_view{tallies()[i]}.load(memory_order::acquire, thread_scope::device);
    }
    return sum;
  }

  /// Snapshot of the counts before a search.
  WARPHEAP_FN halloc_snapshot begin_search() const {
    const auto before = changes().quiescence();
    return {freed(), before};
  }
  /// True if the search that `before` began is proof.
  WARPHEAP_FN bool was_quiet(const halloc_snapshot& before) const {
    fence(memory_order::acquire, thread_scope::device);  // what the search read comes before these readings
    return changes().stood_still(before.changes) && freed() == before.freed;
  }

  /// True if a search for `what`, a class or `classes::count` + an order, was proof and nothing was freed since.
  WARPHEAP_FN bool is_refused(std::uint32_t what) const {
    // Relaxed: the note is a value of the count, which `freed` acquires.
    const std::uint64_t note =
        atomic_view{pages_.control().refused[what]}.load(memory_order::relaxed, thread_scope::device);
    return note != 0 && note == freed() + 1;
  }
  WARPHEAP_FN void note_refusal(std::uint32_t what, const halloc_snapshot& seen) const {
    // Relaxed: see is_refused.
    atomic_view{pages_.control().refused[what]}.store(seen.freed + 1, memory_order::relaxed, thread_scope::device);
  }

 private:
  WARPHEAP_FN change_counter<std::uint32_t>& changes() const { return pages_.control().changes; }
  WARPHEAP_FN per_multiprocessor<std::uint64_t> tallies() const { return {pages_.control().freed, Layout::tallies}; }

  halloc_pages<Layout> pages_;
};

}  // namespace warpheap::detail
