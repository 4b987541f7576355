// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/warp_slab/detail/compaction.hpp>
#include <warpheap/platform/device.hpp>

namespace warpheap::detail {

/// Work that the heap's lock holder shares with groups that wait for the lock: leaves of a class's set of hinted
/// places, whose fully free slabs are to be taken back; or sections of the heap's units, to tell which classes have
/// such slabs.
///
/// The lock's holder, with the ledger of the class closed, offers leaves from one on downwards. It and each group that
/// waits for the lock draw from these until none is left, or enough slabs were taken back. Then the holder waits until
/// all drawn leaves are finished. No thread waits for a group that has drawn nothing, so progress does not depend on
/// help. A job that only looks has sections in place of leaves. It is of all classes, and closes no ledger.
///
/// Invariant: each leaf that is offered is drawn once, and a draw beyond them is void. From a draw that counts until
/// its `finish` or `finish_look`, the holder neither changes the table nor offers more, and the ledger of the job's
/// class stays closed. Meanwhile only the group that drew a leaf clears the table's entries there.
///
/// Orders: an offer is released and a draw acquires it, so a drawer reads what the job is, and the table as the holder
/// left it. `done` is released by those that drew and acquired by the holder, so the holder sees what they took back.
///
/// Each function is for one lane. `offer_next` waits for groups that drew leaves. These have started, and wait for no
/// other thread.
class slab_reclaim_job {
 public:
  WARPHEAP_FN explicit slab_reclaim_job(const arena& from) : compaction_(from) {}
  WARPHEAP_FN const slab_compaction& compaction() const { return compaction_; }
  WARPHEAP_FN const slab_ledger& ledger() const { return compaction_.ledger(); }
  WARPHEAP_FN const slab_sharing& sharing() const { return compaction_.sharing(); }
  WARPHEAP_FN const slab_probes& probes() const { return compaction_.probes(); }
  WARPHEAP_FN const slab_claims& claims() const { return compaction_.claims(); }
  WARPHEAP_FN const slab_hints& hints() const { return compaction_.hints(); }
  WARPHEAP_FN const slab_store& store() const { return compaction_.store(); }

  /// Leaves that a group drew: `leaf` and those right below it, `count` together.
  struct drawn {
    std::uint32_t leaf;
    std::uint32_t count;
  };

  /// Begins a job: slabs of class `c` are to be taken back, about `enough` of them, from the highest places down.
  /// Returns how many leaves there are. The lock's holder, when all leaves that were offered before are done with.
  WARPHEAP_COLD_FN std::uint32_t begin(std::uint32_t c, std::uint32_t enough) const {
    using enum memory_order;
    using enum thread_scope;
    state().all_at_once = state().enough != 0 && slabs() == 0 ? 1 : 0;  // as the job before took nothing back
    state().of_class = c;
    state().enough = enough;
    const std::uint32_t places = atomic_view{store().of_class(c).places}.load(relaxed, device);
    state().end = places / bit_tree::leaf_bits + (places % bit_tree::leaf_bits != 0 ? 1 : 0);
    state().offered = 0;
    atomic_view{state().slabs}.store(0, relaxed, device);  // released by the offer
    atomic_view{state().lowest}.store(~0u, relaxed, device);
    return state().end;
  }
  /// Begins a job that only looks: which classes have fully free slabs in any of `sections` sections. The sections
  /// stand for leaves, all offered at once. The lock's holder, when all leaves that were offered before are done with.
  WARPHEAP_COLD_FN void begin_look(std::uint32_t sections) const {
    state().of_class = slab_classes::count;
    state().enough = ~0u;
    state().all_at_once = 1;
    state().end = sections;
    state().offered = 0;
    atomic_view{state().whole}.store(0, memory_order::relaxed, thread_scope::device);  // released by the offer
  }
  /// Ends a job that only looks. Returns a bit for each class that has a fully free slab. The lock's holder, when
  /// nothing more is offered.
  WARPHEAP_COLD_FN std::uint64_t end_look() const {
    state().enough = 0;  // the next job knows nothing of how much this one took back
    return atomic_view{state().whole}.load(memory_order::relaxed, thread_scope::device);
  }
  /// True if the job only looks, so its leaves are sections. For a lane whose draw counts.
  WARPHEAP_FN bool is_look() const { return state().of_class == slab_classes::count; }
  /// Tells the holder that `count` sections are done with that the caller drew, and the classes that have slabs there
  /// without blocks in use.
  WARPHEAP_COLD_FN void finish_look(std::uint32_t count, std::uint64_t whole) const {
    using enum memory_order;
    using enum thread_scope;
    if (whole != 0) atomic_view{state().whole}.fetch_or(whole, relaxed, device);  // the release below orders it
    atomic_view{state().done}.fetch_add(count, release, device);
  }
  /// Waits until the leaves that were offered are done with, and offers the next ones; false if no leaf is left, or
  /// enough slabs were taken back. The lock's holder, when no leaf is left to draw.
  WARPHEAP_COLD_FN bool offer_next() const {
    using enum memory_order;
    using enum thread_scope;
    const std::uint32_t before = state().offered;
    if (before != 0) wait_for(before);
    state().end -= before;
    if (state().end == 0 || slabs() >= state().enough) return false;
    // As many leaves as may suffice, then twice as many each time: few turns look through all, and few leaves are drawn
    // at once while few slabs are wanted. All at once if hardly any slab is fully free.
    constexpr std::uint32_t least = 32;  // for groups that help; draws end when enough was taken back
    std::uint32_t count = before == 0 ? state().enough / bit_tree::leaf_bits + least : 2 * before;
    if (is_offered_at_once()) count = state().end;
    if (count > state().end) count = state().end;
    state().offered = count;
    atomic_view{state().done}.store(0, relaxed, device);  // released by the offer
    atomic_view{state().leaves}.store(slab_job_word::make(count).value, release, device);
    stop_point("warp_slab.offer_next.offered");
    return true;
  }
  /// Slabs that were taken back since the job began, and the lowest place of these, or ~0. The lock's holder, when
  /// nothing more is offered.
  WARPHEAP_FN std::uint32_t slabs() const {
    return atomic_view{state().slabs}.load(memory_order::relaxed, thread_scope::device);
  }
  WARPHEAP_FN std::uint32_t lowest() const {
    return atomic_view{state().lowest}.load(memory_order::relaxed, thread_scope::device);
  }
  /// Whether all leaves are offered at once, of which few or no slabs are likely to be taken back. For those that drew,
  /// and the lock's holder.
  WARPHEAP_FN bool is_offered_at_once() const { return state().all_at_once != 0; }
  /// Notes that the lock's holder took `slabs` slabs back by itself, in place of the job.
  WARPHEAP_FN void note(std::uint32_t slabs) const {
    atomic_view{state().slabs}.store(slabs, memory_order::relaxed, thread_scope::device);
  }
  /// True if there seem to be leaves to draw. Relaxed: a draw decides.
  WARPHEAP_FN bool has_leaves() const {
    return slab_job_word{atomic_view{state().leaves}.load(memory_order::relaxed, thread_scope::device)}.left() != 0;
  }
  /// Draws up to `most` leaves: `leaf` and those right below it. `count` is 0 if no leaf was left, or if enough slabs
  /// were taken back: then this call finishes its leaves and all that are left, unread.
  WARPHEAP_COLD_FN drawn draw(std::uint32_t most) const {
    const slab_job_word before{
        atomic_view{state().leaves}.fetch_add(most, memory_order::acquire, thread_scope::device)};
    const std::uint32_t count = before.left() < most ? before.left() : most;
    if (count == 0) return {0, 0};
    if (slabs() >= state().enough) {
      finish(count + draw_all(before), 0, ~0u);
      return {0, 0};
    }
    return {state().end - 1 - before.drawn(), count};
  }
  /// The class that the leaves are of. For a lane whose draw counts.
  WARPHEAP_FN std::uint32_t of_class() const { return state().of_class; }
  /// Tells the holder that `count` leaves are done with that the caller drew, and that `slabs` slabs were taken back
  /// there, the lowest at place `lowest`.
  WARPHEAP_COLD_FN void finish(std::uint32_t count, std::uint32_t slabs, std::uint32_t lowest) const {
    using enum memory_order;
    using enum thread_scope;
    if (slabs != 0) {
      atomic_view{state().slabs}.fetch_add(slabs, relaxed, device);  // the release below orders both
      atomic_view{state().lowest}.fetch_min(lowest, relaxed, device);
    }
    atomic_view{state().done}.fetch_add(count, release, device);
  }

 private:
  // Draws all leaves that are left, and returns how many. The caller has not finished what it drew of `before`, so the
  // job is still the same.
  WARPHEAP_FN std::uint32_t draw_all(slab_job_word before) const {
    // Relaxed: it reads nothing of them. By a maximum, since many may do so.
    return slab_job_word{
        atomic_view{state().leaves}.fetch_max(before.exhausted().value, memory_order::relaxed, thread_scope::device)}
        .left();
  }
  // Waits until `count` leaves are done with.
  WARPHEAP_FN void wait_for(std::uint32_t count) const {
    using enum memory_order;
    using enum thread_scope;
    for (backoff wait; atomic_view{state().done}.load(acquire, device) != count;) wait.pause();
  }
  WARPHEAP_FN slab_store::layout::reclaim_job& state() const { return store().control().job; }

  slab_compaction compaction_;
};

}  // namespace warpheap::detail
