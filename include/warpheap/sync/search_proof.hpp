// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>
#include <warpheap/sync/change_counter.hpp>

namespace warpheap {

/// What happened during a search that found nothing.
enum class search_course : std::uint32_t {
  quiescent,  ///< nothing: the search is proof
  freed,      ///< blocks came back, and no memory moved
  moved,      ///< memory moved
  pending     ///< memory was on its way all the time
};

/// How often a search that proved nothing may yet be made again.
struct search_limits {
  std::uint32_t frees = 4;     ///< because blocks came back, which other threads took
  std::uint32_t changes = 64;  ///< because memory moved

  /// True if the next search may be the last one.
  WARPHEAP_FN bool at_end() const { return frees == 0 || changes == 0; }

  /// True if a search with this course is to be made again, and counts it. What is pending is waited for without a
  /// limit: the thread that has it in its hands waits for nobody.
  WARPHEAP_FN bool allow(search_course of) {
    if (of == search_course::pending) return true;
    if (of == search_course::quiescent) return false;
    std::uint32_t& more = of == search_course::freed ? frees : changes;
    if (more == 0) return false;
    --more;
    return true;
  }
};

/// What a search saw before it began.
struct search_snapshot {
  std::uint64_t freed;                              ///< frees that were counted
  change_counter<std::uint32_t>::snapshot changes;  ///< changes that had begun, and whether all of them had ended
};

/// The state of a `search_proof`, which its owner keeps in device memory. Zero bytes are a state without a change, a
/// free and a refusal. `stripes`: copies of the counts, each for some multiprocessors. `notes`: requests that can be
/// refused.
template <std::uint32_t stripes, std::uint32_t notes>
struct search_counts {
  /// Counts that only rise: changes, and frees whose blocks can be found.
  struct alignas(128) tally : change_counter<std::uint32_t> {
    std::uint64_t freed;
  };

  alignas(128) std::uint64_t refused[notes];
  striped_change_counter<tally, stripes> changes;
};

/// Tells what a search that found nothing proves, and notes what was proved for those who ask after it.
///
/// A view over `Counts`, a `search_counts`. `Source` is a part below that counts frees of its own: `epoch()` is their
/// number.
///
/// A *change* has memory in its hands that other threads may need: it is on its way from one place where a search finds
/// it to another. Frees are counted for themselves.
///
/// Invariant: a change is counted as begun before it takes memory away, and as ended when that can be found. A free is
/// counted after its blocks can be found, and before it returns.
///
/// Hence: a search at whose begin no change was under way, and until whose end none began and no free was counted, has
/// seen all memory that was free at its end in the place where it was. So it proves what it says. The proof holds until
/// a free is counted, so a note of that count refuses later requests with one load.
///
/// Memory order: `begin_change` fences, so a thread that sees a store of the change sees its count; `end_change` and
/// `note_free` release what can be found. Sums are read relaxed, with an acquire fence after them at the begin of a
/// search, and before them at its end.
template <class Counts, class Source>
class search_proof {
 public:
  WARPHEAP_FN search_proof(Counts& counts, const Source& source) : counts_(&counts), source_(source) {}

  /// Before memory is taken from where a search finds it. One lane.
  WARPHEAP_FN void begin_change() const {
    // The fence orders the count before all stores of the change.
    counts_->changes.begin();
    fence(memory_order::release, thread_scope::device);
  }
  /// After that memory can be found again. One lane.
  WARPHEAP_FN void end_change() const { counts_->changes.end(); }

  /// After blocks came back that `Source` does not count. One lane.
  WARPHEAP_FN void note_free() const {
    // Release: a search that reads this count finds the freed blocks.
    atomic_view{counts_->changes.mine().freed}.fetch_add(1, memory_order::release, thread_scope::device);
  }
  /// Frees that were counted so far. Relaxed: a fence of the caller acquires their blocks.
  WARPHEAP_FN std::uint64_t freed() const { return source_.epoch() + counts_->changes.sum(&Counts::tally::freed); }

  /// Snapshot of the counts before a search. One lane; a `sync` passes it on to lanes that search with it.
  WARPHEAP_COLD_FN search_snapshot begin_search() const {
    const auto before = counts_->changes.quiescence();
    const std::uint64_t frees = freed();
    fence(memory_order::acquire, thread_scope::device);  // the search comes after the counts
    return {frees, before};
  }
  /// What happened since a search began. One lane; lanes that searched with it have met since.
  WARPHEAP_COLD_FN search_course since(const search_snapshot& before) const {
    fence(memory_order::acquire, thread_scope::device);  // what the search read comes before these readings
    const bool came_back = freed() != before.freed;
    // Memory that moves counts more than what came back: the move may be of what the search missed.
    if (counts_->changes.changes_begun() != before.changes.begun) return search_course::moved;
    if (came_back) return before.changes.quiescent ? search_course::freed : search_course::moved;
    return before.changes.quiescent ? search_course::quiescent : search_course::pending;
  }

  /// True if a search for request `what` was proof and nothing was freed since; `freed_now` is of a snapshot.
  WARPHEAP_FN bool is_refused(std::uint32_t what, std::uint64_t freed_now) const {
    // Relaxed: the note is a value of the count, compared with a reading of it.
    return atomic_view{counts_->refused[what]}.load(memory_order::relaxed, thread_scope::device) == freed_now + 1;
  }
  /// Notes that the search for request `what` that began with `seen` was proof.
  WARPHEAP_FN void note_refusal(std::uint32_t what, const search_snapshot& seen) const {
    // Relaxed: see is_refused.
    atomic_view{counts_->refused[what]}.store(seen.freed + 1, memory_order::relaxed, thread_scope::device);
  }

  /// Begins a search of `group` for request `what`, and returns true if a note refuses it. `before` becomes the
  /// leader's snapshot. Collective.
  WARPHEAP_FN bool begins_refused(lane_mask group, std::uint32_t what, search_snapshot& before) const {
    bool refused = false;
    if (is_leader(group)) {
      before = begin_search();
      refused = is_refused(what, before.freed);
    }
    sync(group);  // what all lanes read from here on comes after the snapshot
    return any(group, refused);
  }

 private:
  Counts* counts_;
  Source source_;
};

/// What a search found: a block for the calling lane or null, and what happened meanwhile; `pending` if a lane of its
/// group got a block.
struct search_result {
  void* block;
  search_course how;
};

/// Calls `search(waiting, last)` in turns until each lane of `together` has a block or is refused, and returns the
/// lane's block or null. `waiting` are the lanes of `peers` that have neither; they call `search` together. `last` says
/// that they may be refused if it finds nothing. Collective over `together`; each lane names its own `peers`, a part
/// of it.
///
/// All lanes of `together` come together after each turn, so those of other peers are waited for by none that they wait
/// for: what a search takes into its hands it gives back within the turn.
template <class Search>
WARPHEAP_FN void* search_in_turns(lane_mask together, lane_mask peers, Search search) {
  void* block = nullptr;
  bool refused = false;
  search_limits left;                              // the same in all lanes of `peers` that wait
  for (backoff wait;; wait.pause(), wait.end()) {  // a search is work, however long
    const lane_mask waiting = ballot(peers, block == nullptr && !refused);
    if ((waiting & lane_bit()) != 0) {
      const bool last = left.at_end();
      const search_result found = cold_call([search, waiting, last] { return search(waiting, last); });
      block = found.block;
      refused = block == nullptr && !left.allow(found.how);
    }
    if (all(together, block != nullptr || refused)) return block;
  }
}

}  // namespace warpheap
