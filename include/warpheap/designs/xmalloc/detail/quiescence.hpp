// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/xmalloc/detail/pages.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/sync.hpp>

namespace warpheap::detail {

/// What a search saw before it began.
struct xmalloc_snapshot {
  std::uint64_t freed;
  change_counter<std::uint32_t>::snapshot changes;
};

/// Tells what a search that found nothing proves, and how often it is made again.
///
/// A *change* has memory in its hands that others may need: basic blocks on their way from a superblock to a queue or
/// back, a superblock on its way to a queue or to pages. Frees of blocks are counted for themselves.
///
/// Invariant: a change is counted as begun before it takes memory away, and as ended when that can be found. A free is
/// counted after its blocks can be found, and before it returns.
///
/// Hence: a search at whose begin no change was under way, and until whose end none began and no free was counted, has
/// seen all memory that was free at its end in the place where it was. So it proves what it says.
///
/// Sums are read relaxed, with an acquire fence after them at the begin of a search, and before them at its end.
template <class Layout>
class xmalloc_quiescence {
 public:
  /// What happened during a search.
  enum class course : std::uint32_t {
    quiet,   ///< nothing: the search is proof
    freed,   ///< blocks came back
    moved,   ///< memory moved
    pending  ///< memory was on its way all the time
  };
  /// Searches that may yet be made again.
  struct retry_limits {
    std::uint32_t frees = 4;     ///< because blocks came back, which others took
    std::uint32_t changes = 64;  ///< because memory moved

    /// True if the next search may be the last one.
    WARPHEAP_FN bool at_end() const { return frees == 0 || changes == 0; }
    /// True if a search with this course is to be made again. What is pending is waited for: its thread waits for
    /// nobody.
    WARPHEAP_FN bool allow(course of) {
      if (of == course::pending) return true;
      if (of == course::quiet) return false;
      std::uint32_t& more = of == course::freed ? frees : changes;
      if (more == 0) return false;
      --more;
      return true;
    }
  };

  WARPHEAP_FN explicit xmalloc_quiescence(const xmalloc_pages<Layout>& pages) : pages_(pages) {}

  WARPHEAP_FN void begin_change() const {
    // The fence orders the count before all stores of the change: a thread that sees such a store sees the count.
    changes().begin();
    fence(memory_order::release, thread_scope::device);
  }
  WARPHEAP_FN void end_change() const { changes().end(); }

  /// After blocks came back, basic blocks or blocks of pages.
  WARPHEAP_FN void note_free() const {
    // Release: a search that reads this count finds the freed blocks.
    atomic_view{changes().mine().freed}.fetch_add(1, memory_order::release, thread_scope::device);
  }
  /// Frees that were counted so far. Relaxed: a fence of the caller acquires their blocks.
  WARPHEAP_FN std::uint64_t freed() const { return changes().sum(&tally::freed); }

  /// Snapshot of the counts before a search. One lane; a `sync` passes it on to lanes that search with it.
  WARPHEAP_COLD_FN xmalloc_snapshot begin_search() const {
    const auto before = changes().quiescence();
    const std::uint64_t frees = freed();
    fence(memory_order::acquire, thread_scope::device);  // the search comes after the counts
    return {frees, before};
  }
  /// What happened since a search began. One lane.
  WARPHEAP_COLD_FN course since(const xmalloc_snapshot& before) const {
    fence(memory_order::acquire, thread_scope::device);  // what the search read comes before these readings
    if (freed() != before.freed) return course::freed;
    if (changes().changes_begun() != before.changes.begun) return course::moved;
    return before.changes.quiet ? course::quiet : course::pending;
  }

  /// True if a search for `what`, a class or the number of classes + an order, was proof and nothing was freed since;
  /// `freed_now` is of a snapshot.
  WARPHEAP_FN bool is_refused(std::uint32_t what, std::uint64_t freed_now) const {
    // Relaxed: the note is a value of the count, compared with a reading of it.
    return atomic_view{pages_.control().refused[what]}.load(memory_order::relaxed, thread_scope::device) ==
           freed_now + 1;
  }
  WARPHEAP_FN void note_refusal(std::uint32_t what, const xmalloc_snapshot& seen) const {
    // Relaxed: see is_refused.
    atomic_view{pages_.control().refused[what]}.store(seen.freed + 1, memory_order::relaxed, thread_scope::device);
  }

 private:
  using tally = typename Layout::tally;

  WARPHEAP_FN auto& changes() const { return pages_.control().changes; }

  xmalloc_pages<Layout> pages_;
};

}  // namespace warpheap::detail
