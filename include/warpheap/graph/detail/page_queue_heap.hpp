// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <warpheap/graph/page_queue.hpp>

namespace warpheap {

// Orders. The queue passes on what the last owner of a page did. The counter of new pages is relaxed: a new page has no
// last owner.

// A page that was never handed out for each lane of `group`, by its rank; `pages_` or more for lanes that get none.
// Collective.
WARPHEAP_FN inline std::uint32_t page_queue_ref::take_new(lane_mask group) const {
  std::uint64_t first = 0;
  if (is_leader(group)) {
    const atomic_view begun{shared_->begun};
    // The look spares a heap without new pages the addition of each request.
    first = begun.load(memory_order::relaxed, thread_scope::device);
    if (first < pages_) {
      first =
          begun.fetch_add(static_cast<std::uint64_t>(group_size(group)), memory_order::relaxed, thread_scope::device);
    }
  }
  first = shuffle(group, first, leader(group)) + static_cast<std::uint64_t>(group_rank(group));
  return first < pages_ ? static_cast<std::uint32_t>(first) : pages_;
}

WARPHEAP_FN inline void* page_queue_ref::malloc(std::uint64_t bytes) const {
  if (bytes > page_bytes_) return nullptr;
  lane_mask group = warp_request::of(active_group(), shared_).lanes;
  std::uint32_t page = pages_;
  for (int look = 0; look < 2; ++look) {
    const bool got = freed_.pop(group, page);
    group = ballot(group, !got);
    if (got) break;
    // No page comes to be new again. So the queue that is looked at after a look for new ones in vain tells the truth:
    // it was empty when no page was new.
    if (look == 0) page = take_new(group);
    const lane_mask without = ballot(group, page == pages_);
    if (page != pages_) break;
    group = without;
  }
  return page == pages_ ? nullptr : data_ + std::uint64_t{page} * page_bytes_;
}

WARPHEAP_FN inline void page_queue_ref::free(void* page) const {
  if (page == nullptr) return;
  const lane_mask group = warp_request::of(active_group(), shared_).lanes;
  const auto number =
      static_cast<std::uint32_t>(static_cast<std::uint64_t>(static_cast<std::byte*>(page) - data_) / page_bytes_);
  const bool kept = freed_.push(group, number);
  invariant(kept, "page_queue_heap: more pages came back than there are; a page was given back twice");
  (void)kept;
}

inline page_queue_heap::page_queue_heap(std::uint64_t bytes, std::uint32_t page_bytes)
    : page_bytes_(page_bytes), pages_(0) {
  if (page_bytes < least_page_bytes || page_bytes > most_page_bytes || (page_bytes & (page_bytes - 1)) != 0) {
    throw std::invalid_argument("page_queue_heap: a page has a power of two of bytes from " +
                                std::to_string(least_page_bytes) + " to " + std::to_string(most_page_bytes) + ", not " +
                                std::to_string(page_bytes));
  }
  const std::uint64_t pages = bytes / page_bytes;
  if (pages == 0 || pages > most_pages) {
    throw std::invalid_argument("page_queue_heap: " + std::to_string(bytes) + " bytes are " + std::to_string(pages) +
                                " pages of " + std::to_string(page_bytes) + "; ask for 1 to " +
                                std::to_string(most_pages) + " pages, or for larger ones");
  }
  pages_ = static_cast<std::uint32_t>(pages);
  data_ = device_range(size(), {});
  metadata_ = device_range(sizeof(detail::page_queue_state) + index_ring::slot_bytes(places()), {});
  data_.commit(0, size());
  metadata_.commit(0, metadata_.reserved_bytes());
  reset();
}

// Memory that is mapped is not kept for the fill of a `reset` that has not run yet.
inline page_queue_heap::~page_queue_heap() {
  if (metadata_.data() == nullptr) return;  // moved from
  const scoped_device own{metadata_.context(), std::nothrow};
  if (own.is_current()) detail::await_launches();
}

inline std::uint32_t page_queue_heap::places() const {
  return static_cast<std::uint32_t>(next_power_of_two(std::max(pages_, index_ring::least_capacity)));
}

inline index_ring page_queue_heap::queue() const {
  auto* const slots = reinterpret_cast<index_ring::slot*>(metadata_.data() + sizeof(detail::page_queue_state));
  return {&shared()->freed, slots, places()};
}

inline page_queue_ref page_queue_heap::ref() const { return {data_.data(), pages_, page_bytes_, shared(), queue()}; }

inline void page_queue_heap::reset() {
  const scoped_device own{metadata_.context()};
  device_fill(metadata_.data(), 0, sizeof(detail::page_queue_state) + index_ring::slot_bytes(places()));
}

inline heap_statistics page_queue_heap::statistics() const {
  const scoped_device own{metadata_.context()};
  detail::page_queue_state now;
  device_copy(&now, shared(), sizeof(now));
  const std::uint64_t begun = std::min<std::uint64_t>(now.begun, pages_);
  const std::uint64_t freed = index_ring::size_of(now.freed);
  return {.reserved_bytes = data_.reserved_bytes(),
          .committed_bytes = data_.committed_bytes(),
          .metadata_bytes = metadata_.committed_bytes(),
          .live_bytes = (begun - std::min(begun, freed)) * page_bytes_};
}

}  // namespace warpheap
