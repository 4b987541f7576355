// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/bulk/bulk.hpp>

// Whether there was nothing, or it was only in somebody's hands.
//
// A *change* has in its hands what others may need, and puts it, or what is left of it, where they find it: a chunk on its
// way to a shelf, a bin on its way back. Changes are counted when they begin and when they end; what `free` gave is
// counted when it is to be found. Who found nothing, with no change under way when it began to look, none begun and
// nothing given since, is right: all that was free when the search ended was free, and where it is, all the time.
//
// The counts are spread, each over several words that only rise. Two sums of such words are equal only if no word changed
// between the two readings of it. `ended` is read before `begun` and is never ahead of it, so equal sums mean that there
// was a moment without changes.
//
// Changes that made or returned something are counted apart, in `moved`: who waits for what is in somebody's hands tells by
// it whether others go on. It proves nothing and orders nothing, so it is relaxed.
//
// Orders: a change that is seen was seen to begin, by the fence that releases the count with all that follows. Ends and
// gifts are released, and acquired by who is about to look; so the search sees all that was counted. What the search read
// comes before the second readings by the fence in front of them.

namespace warpheap {

template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_FN auto bulk_allocator<Buddy, ChunkPages>::tally() const -> typename layout::tally& {
  return control_->tallies_[multiprocessor_index() % layout::tallies];
}

template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_FN void bulk_allocator<Buddy, ChunkPages>::begin_change() const {
  atomic_view{tally().begun}.fetch_add(1, memory_order::relaxed, thread_scope::device);
  fence(memory_order::release, thread_scope::device);
}

template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_FN void bulk_allocator<Buddy, ChunkPages>::end_change(bool moved) const {
  if (moved) atomic_view{tally().moved}.fetch_add(1, memory_order::relaxed, thread_scope::device);
  atomic_view{tally().ended}.fetch_add(1, memory_order::release, thread_scope::device);
}

template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_FN void bulk_allocator<Buddy, ChunkPages>::note_given() const {
  atomic_view{tally().given}.fetch_add(1, memory_order::release, thread_scope::device);
}

template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_FN std::uint64_t bulk_allocator<Buddy, ChunkPages>::given() const {
  std::uint64_t sum = 0;
  for (auto& each : control_->tallies_)
    sum += atomic_view{each.given}.load(memory_order::acquire, thread_scope::device);
  return sum;
}

template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_FN auto bulk_allocator<Buddy, ChunkPages>::begin_watch() const -> watch {
  using enum memory_order;
  using enum thread_scope;
  std::uint64_t ended = 0;
  std::uint64_t begun = 0;
  for (auto& each : control_->tallies_) ended += atomic_view{each.ended}.load(acquire, device);
  for (auto& each : control_->tallies_) begun += atomic_view{each.begun}.load(acquire, device);
  // Where TBuddy notes no refusals, all who search begin changes for nothing and disturb one another; that must count.
  std::uint64_t moved = begun;
  if constexpr (Buddy::notes_refusals) {
    moved = 0;
    for (auto& each : control_->tallies_) moved += atomic_view{each.moved}.load(relaxed, device);
  }
  return {given(), begun, moved, ended == begun, false, false};
}

template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_FN bool bulk_allocator<Buddy, ChunkPages>::was_quiet(const watch& before) const {
  using enum memory_order;
  using enum thread_scope;
  fence(acquire, device);
  std::uint64_t begun = 0;
  for (auto& each : control_->tallies_) begun += atomic_view{each.begun}.load(relaxed, device);
  return before.quiet && !before.restless && !before.uncertain && begun == before.begun && given() == before.given;
}

// True if somebody looked for this in vain, and nothing was given since.
template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_FN bool bulk_allocator<Buddy, ChunkPages>::is_refused(std::uint32_t what, std::uint64_t given_now) const {
  return atomic_view{control_->refused[what]}.load(memory_order::relaxed, thread_scope::device) == given_now + 1;
}

template <class Buddy, std::uint32_t ChunkPages>
WARPHEAP_FN void bulk_allocator<Buddy, ChunkPages>::note_refused(std::uint32_t what, const watch& seen) const {
  atomic_view{control_->refused[what]}.store(seen.given + 1, memory_order::relaxed, thread_scope::device);
}

}  // namespace warpheap
