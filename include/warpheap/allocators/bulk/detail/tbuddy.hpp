// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocators/bulk/tbuddy.hpp>

namespace warpheap {

template <class Buddy, std::uint64_t PageBytes>
tbuddy<Buddy, PageBytes>::tbuddy(const arena& from)
    : base_(reinterpret_cast<std::uint64_t>(from.data) & ~(base_alignment - 1)),
      data_(reinterpret_cast<std::uint64_t>(from.data)),
      control_(reinterpret_cast<control*>(from.metadata)),
      spans_(reinterpret_cast<typename Buddy::span*>(from.metadata + sizeof(control))),
      initial_bytes_(from.bytes),
      first_page_(static_cast<std::uint32_t>(divide_up(data_ - base_, page_bytes))) {
  static_assert(sizeof(control) % alignof(typename Buddy::span) == 0, "spans follow the control");
}

// Adds the pages behind those that there are, up to `bytes` of the arena.
template <class Buddy, std::uint64_t PageBytes>
WARPHEAP_FN void tbuddy<Buddy, PageBytes>::grow(std::uint64_t bytes) const {
  if (grid_thread_index() != 0) return;
  const std::uint64_t limit = first_page_ + most_pages;
  const std::uint64_t whole = (data_ - base_ + bytes) / page_bytes;
  const auto end = static_cast<std::uint32_t>(whole < limit ? whole : limit);
  const std::uint32_t begin = control_->end != 0 ? control_->end : first_page_;
  if (end <= begin) return;
  buddy().add(begin, end - begin);
  control_->end = end;
}

// The lanes that are here together, with the same heap and the same `purpose`: an order to take, or `to_free`. Lanes
// that take and lanes that free can meet here, too, and go different ways afterwards.
template <class Buddy, std::uint64_t PageBytes>
WARPHEAP_FN lane_mask tbuddy<Buddy, PageBytes>::together(std::uint32_t purpose) const {
  lane_mask group = active_group();
  const auto self = reinterpret_cast<std::uint64_t>(control_);
  const std::uint64_t first_self = shuffle(group, self, leader(group));
  const std::uint32_t first_purpose = shuffle(group, purpose, leader(group));
  if (!all(group, self == first_self && purpose == first_purpose)) {
    group = match(group, self);
    group = match(group, purpose);
  }
  return group;
}

template <class Buddy, std::uint64_t PageBytes>
WARPHEAP_FN void* tbuddy<Buddy, PageBytes>::aligned_malloc(std::uint64_t alignment, std::uint64_t bytes) const {
  // A block is aligned to its size, so a large alignment is a large block.
  const std::uint64_t least = bytes > alignment ? bytes : alignment;
  if (least > capabilities.largest_bytes) return nullptr;
  const auto order = least <= page_bytes ? 0u : static_cast<std::uint32_t>(highest_bit((least - 1) / page_bytes) + 1);
  const lane_mask group = together(order);
  const std::uint32_t page = buddy().take(group, order);
  if (page == Buddy::none) return nullptr;
  buddy().tag(page) = static_cast<std::uint8_t>(order);
  return reinterpret_cast<void*>(base_ + page * page_bytes);
}

template <class Buddy, std::uint64_t PageBytes>
WARPHEAP_FN void tbuddy<Buddy, PageBytes>::free(void* block) const {
  const std::uint32_t page = page_of(block);
  const std::uint32_t order = buddy().tag(page);
  buddy().give(together(to_free), page, order);
}

template <class Buddy, std::uint64_t PageBytes>
WARPHEAP_FN void tbuddy<Buddy, PageBytes>::count(allocator_counts& counts) const {
  if (grid_thread_index() != 0 || control_->end == 0) return;
  const std::uint64_t live = control_->end - first_page_ - buddy().free_pages(control_->end);
  atomic_view{counts.live_bytes}.fetch_add(live * page_bytes, memory_order::relaxed, thread_scope::device);
}

}  // namespace warpheap
