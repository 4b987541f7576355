// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/fdg/fdg.hpp>

// Mallocs without an arena, and what the host asks for: start, growth, figures.

namespace warpheap {

template <fdg_options Options>
WARPHEAP_FN void* basic_fdg<Options>::malloc(std::uint64_t bytes) const {
  std::uint64_t place = detail::fdg_common<layout>::none;
  if (bytes <= layout::page_bytes) {
    place = common_.take(static_cast<std::uint32_t>(divide_up(bytes, layout::granule)));
  } else {
    const std::uint64_t count = (bytes - 1) / layout::page_bytes + 1;
    if (count > page_source::most_pages) return nullptr;
    place = cold_call([part = common_, count] { return part.take_pages(count); });
  }
  return place == detail::fdg_common<layout>::none ? nullptr : pages().address(place);
}

template <fdg_options Options>
WARPHEAP_FN void* basic_fdg<Options>::aligned_malloc(std::uint64_t alignment, std::uint64_t bytes) const {
  if (alignment <= layout::granule) return malloc(bytes);
  constexpr std::uint64_t largest = std::uint64_t{1} << 56;
  if (bytes > largest || alignment > largest) return nullptr;
  // The address modulo the alignment is known only afterwards, so the block has room for the worst.
  void* const block = malloc(align_up(bytes, layout::granule) + alignment - layout::granule);
  return reinterpret_cast<void*>(align_up(reinterpret_cast<std::uint64_t>(block), alignment));
}

// One thread; a launch of its own, so plain accesses do.
template <fdg_options Options>
WARPHEAP_FN void basic_fdg<Options>::set_size(std::uint64_t bytes) const {
  if (grid_thread_index() != 0) return;
  auto& shared = pages().control();
  const auto upto = static_cast<std::uint32_t>(layout::pages_of(bytes));
  if (upto <= shared.end) return;
  pages().source().add(shared.end, upto - shared.end);
  shared.end = upto;
  shared.arena_mask = layout::arenas(upto) - 1;
}

template <fdg_options Options>
WARPHEAP_FN void basic_fdg<Options>::initialise() const {
  set_size(initial_bytes_);
}

template <fdg_options Options>
WARPHEAP_FN void basic_fdg<Options>::grow(std::uint64_t bytes) const {
  set_size(bytes);
}

/// Bytes of all pages that are not free: a superblock counts whole.
template <fdg_options Options>
WARPHEAP_FN void basic_fdg<Options>::count(allocator_counts& counts) const {
  if (grid_thread_index() != 0) return;
  const std::uint32_t end = pages().control().end;
  const std::uint64_t free = pages().source().free_pages(end);
  counts.live_bytes = free < end ? (end - free) * layout::page_bytes : 0;
}

}  // namespace warpheap
