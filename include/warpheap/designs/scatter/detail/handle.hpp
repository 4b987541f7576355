// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/scatter/scatter.hpp>

// What the host asks for: start, growth, figures, and what a pointer means.

namespace warpheap {

/// Number after the last page of an arena that ends `end` bytes after page 0.
template <class Kind, scatter_options Options>
WARPHEAP_FN std::uint32_t scatter_allocator<Kind, Options>::pages_upto(std::uint64_t end) const {
  const std::uint64_t whole = end >> pages().shift();
  const std::uint32_t most = table_type::most_pages >> (pages().shift() - pages_type::least_shift);
  return whole < most ? static_cast<std::uint32_t>(whole) : most;
}

/// A new heap opens its first pages for chunks, so that the first requests need not; the others are the page source's.
/// No thread waits for another one here, so each opens its share.
template <class Kind, scatter_options Options>
WARPHEAP_FN void scatter_allocator<Kind, Options>::initialise() const {
  const std::uint32_t first = pages().first_page();
  const std::uint32_t end = pages_upto(pages().begin() + pages().initial_bytes());
  if (end <= first) return;
  const std::uint32_t opened = (end - first) / table_type::options.opened_part;
  pages().table().open_first(first, opened, grid_thread_index(), grid_threads());
  if (grid_thread_index() != 0) return;
  pages().raise_open_end(first + opened);
  pages().shared().end = end;
  pages().source().add(first + opened, end - first - opened);
}

/// The page source gets the pages that were added.
template <class Kind, scatter_options Options>
WARPHEAP_FN void scatter_allocator<Kind, Options>::grow(std::uint64_t bytes) const {
  if (grid_thread_index() != 0) return;
  auto& shared = pages().shared();
  const std::uint32_t from = shared.end != 0 ? shared.end : pages().first_page();
  const std::uint32_t end = pages_upto(pages().begin() + bytes);
  if (end <= from) return;
  pages().source().add(from, end - from);
  shared.end = end;
  pages().changes().note_free();
}

// Every load is relaxed: the caller runs while no thread allocates, or a sum that is off is good enough.
template <class Kind, scatter_options Options>
WARPHEAP_FN void scatter_allocator<Kind, Options>::count(allocator_counts& counts) const {
  std::uint64_t live = 0;
  const std::uint32_t end = pages().shared().end;
  for (std::uint64_t page = pages().first_page() + grid_thread_index(); page < end; page += grid_threads()) {
    const auto number = static_cast<std::uint32_t>(page);
    const std::uint32_t order = pages().source().order_of(number);
    live += order != page_source::none ? pages().page_bytes() << order : pages().table().live_bytes(number);
  }
  add_to_sum(counts.live_bytes, live);
}

// What a pointer means: the page table tells whether its page is cut into chunks, the bits which are in use, and the
// page source of which block a page is part. All loads are relaxed. A thread that may ask for a block has it from the
// thread that took it. Of other memory the answer is exact only if no thread changes it meanwhile.
template <class Kind, scatter_options Options>
WARPHEAP_COLD_FN block_location scatter_allocator<Kind, Options>::locate(const void* pointer) const {
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  const std::uint32_t first = pages().first_page();
  const std::uint32_t end = pages().shared().end;
  if (address < pages().address_of(first) || address >= pages().address_of(end)) return block_location::outside;
  const std::uint32_t page = pages().page_of(address);
  const auto in_page = static_cast<std::uint32_t>(address - pages().address_of(page));
  if (const std::uint32_t units = pages().table().units_of(page); units != 0) {
    const std::uint32_t bytes = units * chunk_size::unit_bytes;
    if (!pages().table().is_taken(page, units, in_page / bytes)) return block_location::free;
    return in_page % bytes == 0 ? block_location::block : block_location::inside;
  }
  const std::uint32_t begin = pages().source().first_of(page, first);
  if (begin == page_source::none) return block_location::free;
  return begin == page && in_page == 0 ? block_location::block : block_location::inside;
}

}  // namespace warpheap
