// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocator/device.hpp>
#include <warpheap/designs/ouroboros/detail/deferral.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/sync.hpp>

namespace warpheap::detail {

/// Hints: numbers of chunks that may have deferred pages, as entries of their size's queue.
///
/// An entry may stand for several units of a batch. The holder of the last of them, the *last
/// holder*, answers for the hint: it puts the hint back if pages are left, or clears the hint field
/// by the swap that leaves none. The other holders only take pages; they may come later than the
/// last holder, and find that the hint is out of date.
///
/// Invariant: while a unit of a batch of hints is not finished, only the last holder may know the
/// hint of its chunk. So a refiller that is about to refuse waits until all units are finished.
template <class Layout>
class ouroboros_hints {
 public:
  WARPHEAP_FN explicit ouroboros_hints(const arena& from) : deferral_(from) {}
  WARPHEAP_FN const ouroboros_deferral<Layout>& deferral() const { return deferral_; }
  WARPHEAP_FN const ouroboros_partial_lists<Layout>& lists() const { return deferral_.lists(); }
  WARPHEAP_FN const ouroboros_page_bits<Layout>& bits() const { return deferral_.bits(); }
  WARPHEAP_FN const ouroboros_queues<Layout>& queues() const { return deferral_.queues(); }
  WARPHEAP_FN const ouroboros_chunks<Layout>& chunks() const { return deferral_.chunks(); }

  /// Puts hints to the chunks of `group` in the queue of size q, or on the list if the queue has no
  /// room. The caller set the hint field to the queue. Collective.
  WARPHEAP_COLD_FN void push_hint(std::uint32_t q, lane_mask group, std::uint64_t chunk) const {
    if (!queue_hint(q, group, static_cast<std::uint32_t>(chunk))) deferral().list_instead(q, chunk);
  }

 private:
  /// Pushes the number of each lane's chunk to the queue of size q; false if it has no room.
  /// Collective.
  WARPHEAP_COLD_FN bool queue_hint(std::uint32_t q, lane_mask group, std::uint32_t chunk) const {
    return queues().queue(q).push(
        group, chunk, [&](lane_mask openers, batch_ring::batch newest) { queues().open(q, openers, newest); });
  }

  ouroboros_deferral<Layout> deferral_;
};

}  // namespace warpheap::detail
