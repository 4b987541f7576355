// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/random_walk/detail/layout.hpp>
#include <warpheap/platform/device.hpp>

namespace warpheap::detail {

/// What a search saw before it began.
struct walk_snapshot {
  std::uint64_t returns;
  change_counter<std::uint64_t>::snapshot runs;
};

/// Tells what a search that found nothing proves, and how often it is made again.
///
/// Invariant: a thread that gives pages back counts a return after they are free and before its call ends. A thread
/// that takes lines which it may have to put back does so between `begin_run` and `end_run`.
///
/// Hence a search of all places during which no run was under way and no return was counted is proof: at one moment
/// no place was free.
///
/// Invariant: a note is 0, or 32 (r + 1) + d. It says that at one moment when returns summed up to r no place was free
/// for the least size of its index and d pages more. So while no return is counted, such requests are refused
/// without a search.
///
/// Memory order: a return releases the free pages. Sums are read relaxed, with an acquire fence after them in
/// `begin_search` and before them in `judge`. Notes are relaxed: a note names the moment at which it holds.
template <class Layout>
class walk_quiescence {
 public:
  /// What follows from a search that found nothing.
  enum class verdict : std::uint32_t {
    exhausted,  ///< no place was free
    again,      ///< others took or gave meanwhile: search again
    enough      ///< as `again`, but this was the last search of a limited number
  };
  /// Searches that may yet be made again.
  struct retry_limits {
    std::uint32_t returns = 4;  ///< because pages came back, which others took
    std::uint32_t runs = 256;   ///< because runs were being taken, which may have been put back
  };

  WARPHEAP_FN explicit walk_quiescence(typename Layout::control& of) : control_(&of) {}

  /// Before the first line of a run is taken. The exchange that takes the line releases the count.
  WARPHEAP_FN void begin_run() const { control_->changes.begin(); }
  /// After the last line is taken, or all are put back.
  WARPHEAP_FN void end_run() const { control_->changes.end(); }
  /// After pages came back. One lane for all that gave together.
  WARPHEAP_FN void note_return() const {
    // Release: a search that reads this count finds the pages.
    atomic_view{control_->changes.mine().returns}.fetch_add(1, memory_order::release, thread_scope::device);
  }

  /// Snapshot before a search. One lane; a `sync` passes it on to lanes that search with it.
  WARPHEAP_COLD_FN walk_snapshot begin_search() const {
    const auto runs = control_->changes.quiescence();
    const std::uint64_t returns = control_->changes.sum(&tally::returns);
    fence(memory_order::acquire, thread_scope::device);  // the search comes after the counts
    return {returns, runs};
  }
  /// Says what a search that found nothing proves. One lane; the lanes that searched with it have each passed an
  /// acquire fence since, and met.
  WARPHEAP_COLD_FN verdict judge(const walk_snapshot& before, retry_limits& left) const {
    fence(memory_order::acquire, thread_scope::device);  // what the search read comes before these readings
    const std::uint64_t returns = control_->changes.sum(&tally::returns);
    const bool returned = returns != before.returns;
    if (!returned && control_->changes.was_quiescent(before.runs)) return verdict::exhausted;
    std::uint32_t& more = returned ? left.returns : left.runs;
    if (more == 0) return verdict::enough;
    --more;
    return verdict::again;
  }

  /// True if a search proved that there is no place for `wanted`, and no return was counted since; `returns` is of a
  /// snapshot.
  WARPHEAP_FN bool is_refused(const walk_request& wanted, std::uint64_t returns) const {
    if (!wanted.noted) return false;
    const std::uint64_t seen = note(wanted).load(memory_order::relaxed, thread_scope::device);
    return seen / line_word::pages == returns + 1 && seen % line_word::pages <= wanted.above_least();
  }
  /// Notes what the search that began with `returns` proved.
  WARPHEAP_FN void note_refusal(const walk_request& wanted, std::uint64_t returns) const {
    if (!wanted.noted) return;
    note(wanted).store((returns + 1) * line_word::pages + wanted.above_least(), memory_order::relaxed,
                       thread_scope::device);
  }

 private:
  using tally = typename Layout::tally;

  WARPHEAP_FN atomic_view<std::uint64_t> note(const walk_request& wanted) const {
    return atomic_view{control_->refusals[wanted.index()]};
  }

  typename Layout::control* control_;
};

}  // namespace warpheap::detail
