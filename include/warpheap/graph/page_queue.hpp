// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <warpheap/heap.hpp>
#include <warpheap/platform.hpp>

namespace warpheap {

/// The memory of faimGraph (Winter et al., SC 2018) as a heap of pages of one size: pages that came back wait in a
/// queue, and fresh ones come from a range in order. Where we differ: the range has an end, and the queue has a place
/// for each page, so nothing is lost when it is full. Null while another thread takes can also mean that a page came
/// back at that moment.
///
/// Invariant: a page is in the hands of one owner, in one place of the queue, or beyond the end of the range that was
/// handed out. `available` counts places that are written and not claimed, so a taker that claims one finds a page in
/// the place that it draws as soon as the giver that drew it has written. A giver that was slow can be overtaken by one
/// a whole turn later, so a giver writes empty places only. It then waits for a taker that has claimed: without one,
/// the places between the two draws would hold more pages than there are.
template <std::uint32_t PageBytes = 64>
class page_queue {
  static_assert(PageBytes % 16 == 0 && PageBytes != 0, "page_queue: pages are aligned to 16 bytes");

  struct counters {
    std::uint32_t available;  // pages in the queue; wraps below 0 for a moment
    std::uint32_t front;      // the place that the next taker draws, modulo the number of places
    std::uint32_t back;       // the place that the next giver draws
    std::uint32_t fresh;      // pages of the range that were handed out; above their number for a moment
  };

 public:
  /// The handle for kernels.
  class handle {
   public:
    /// A page, if it has `bytes` bytes; null when no page is free.
    WARPHEAP_FN void* malloc(std::uint64_t bytes) const;
    /// Gives a page back, which is not null. The caller's accesses to it happen before those of its next owner.
    WARPHEAP_FN void free(void* page) const;

   private:
    friend class page_queue;
    WARPHEAP_FN handle(std::byte* pages, std::uint32_t* places, counters* counts, std::uint32_t count)
        : pages_(pages), places_(places), counts_(counts), count_(count) {}
    WARPHEAP_FN void* page(std::uint32_t index) const { return pages_ + std::uint64_t{index} * PageBytes; }

    std::byte* pages_;
    std::uint32_t* places_;  // 1 + index of a page, or 0; a power of two of them, so draws can wrap
    counters* counts_;
    std::uint32_t count_;
  };

  /// A heap of `bytes` bytes, in whole pages. Throws `std::invalid_argument` for less than a page, and
  /// `std::length_error` for 2^31 pages or more.
  explicit page_queue(std::uint64_t bytes)
      : count_(pages_of(bytes)),
        pages_(std::uint64_t{count_} * PageBytes),
        places_(next_power_of_two(count_)),
        counts_(1) {}

  /// The handle for kernels, as long as the heap lives.
  handle ref() const { return {pages_.data(), places_.data(), counts_.data(), count_}; }
  /// What the heap has taken and handed out. Exact when no kernel uses it.
  heap_statistics stats() const {
    const counters now = counts_.at(0);
    const std::uint64_t bytes = pages_.size();
    return {bytes, bytes, places_.size() * sizeof(std::uint32_t) + sizeof(counters),
            std::uint64_t{now.fresh - now.available} * PageBytes};
  }

 private:
  static std::uint32_t pages_of(std::uint64_t bytes) {
    const std::uint64_t pages = bytes / PageBytes;
    if (pages == 0) throw std::invalid_argument("warpheap: a page queue needs room for a page: give more bytes");
    if (pages >> 31 != 0) throw std::length_error("warpheap: a page queue has fewer than 2^31 pages: give less bytes");
    return static_cast<std::uint32_t>(pages);
  }

  std::uint32_t count_;
  device_array<std::byte> pages_;
  device_array<std::uint32_t> places_;
  device_array<counters> counts_;
};

template <std::uint32_t PageBytes>
WARPHEAP_FN void* page_queue<PageBytes>::handle::malloc(std::uint64_t bytes) const {
  if (bytes > PageBytes) return nullptr;
  // Relaxed: the exchange of the place orders the page's memory.
  const atomic_view available{counts_->available};
  const auto queued = static_cast<std::int32_t>(available.fetch_sub(1u, memory_order::relaxed, thread_scope::device));
  if (queued <= 0) {
    available.fetch_add(1u, memory_order::relaxed, thread_scope::device);
    const atomic_view fresh{counts_->fresh};
    // Relaxed: nobody has used a fresh page before.
    const std::uint32_t next = fresh.fetch_add(1u, memory_order::relaxed, thread_scope::device);
    if (next < count_) return page(next);
    fresh.fetch_sub(1u, memory_order::relaxed, thread_scope::device);
    return nullptr;
  }
  const std::uint32_t places = static_cast<std::uint32_t>(next_power_of_two(count_));
  const std::uint32_t drawn =
      atomic_view{counts_->front}.fetch_add(1u, memory_order::relaxed, thread_scope::device) & (places - 1);
  const atomic_view place{places_[drawn]};
  backoff wait;
  for (;;) {
    // Acquires what the giver wrote to the page.
    const std::uint32_t found = place.exchange(0u, memory_order::acquire, thread_scope::device);
    if (found != 0) return page(found - 1);
    wait.pause();
  }
}

template <std::uint32_t PageBytes>
WARPHEAP_FN void page_queue<PageBytes>::handle::free(void* page) const {
  const auto index = static_cast<std::uint32_t>((static_cast<std::byte*>(page) - pages_) / PageBytes);
  const std::uint32_t places = static_cast<std::uint32_t>(next_power_of_two(count_));
  const std::uint32_t drawn =
      atomic_view{counts_->back}.fetch_add(1u, memory_order::relaxed, thread_scope::device) & (places - 1);
  const atomic_view place{places_[drawn]};
  backoff wait;
  for (;;) {
    std::uint32_t empty = 0;
    // Releases the caller's accesses to the page.
    if (place.compare_exchange(empty, index + 1, memory_order::release, thread_scope::device)) break;
    wait.pause();
  }
  // Relaxed: a taker that claims a place waits for what is written there.
  atomic_view{counts_->available}.fetch_add(1u, memory_order::relaxed, thread_scope::device);
}

}  // namespace warpheap
