// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/scatter/scatter.hpp>

// free. The page table tells whether the block is a chunk, and of which size. Lanes whose chunks lie in one word of
// bits clear them together, and lanes whose chunks lie in one page give them back to its count together, after all bits
// are clear.
//
// Each free ends the refusals that searches have noted (`note_free`).

namespace warpheap {

template <class Kind, scatter_options Options>
WARPHEAP_FN void scatter_allocator<Kind, Options>::free(void* block) const {
  const auto address = reinterpret_cast<std::uint64_t>(block);
  const std::uint32_t page = pages().page_of(address);
  const std::uint32_t units = pages().table().units_of(page);
  if (units != 0) {
    release_chunk(address, page, units);
  } else {
    cold_call([part = pages(), page] { large_type{part}.give_block(page); });
  }
}

/// Gives a chunk of a page back. Collective over lanes that come together.
template <class Kind, scatter_options Options>
WARPHEAP_FN void scatter_allocator<Kind, Options>::release_chunk(std::uint64_t address, std::uint32_t page,
                                                                 std::uint32_t units) const {
  const auto table = pages().table();
  const auto in_page = static_cast<std::uint32_t>(address - pages().address_of(page));
  const std::uint32_t slot = in_page / chunk_size::unit_bytes / units;
  std::uint32_t& word = table.bit_word(page, slot / 32);
  const lane_mask group = active_group();
  const lane_mask same_word = match(group, reinterpret_cast<std::uint64_t>(&word));  // lanes may use different heaps
  const std::uint32_t bits = reduce_parts(group, same_word, 1u << slot % 32, bit_or{});
  sync(group);  // the leaders release what all lanes did
  if (is_leader(same_word)) {
    // Release: what the owners did comes before what the next ones do.
    const std::uint32_t before = atomic_view{word}.fetch_and(~bits, memory_order::release, thread_scope::device);
    invariant((before & bits) == bits, "scatter: a chunk was given back twice");
    (void)before;
  }
  // The first word of a page's bits stands for the page.
  const lane_mask same_page = match(group, reinterpret_cast<std::uint64_t>(&table.bit_word(page, 0)));
  sync(group);  // the bits of all lanes are clear
  if (is_leader(same_page) && table.give(page, static_cast<std::uint32_t>(group_size(same_page)))) {
    // The page is empty: requests begin here again, if they began in a later access block. Relaxed: a hint.
    const std::uint32_t access_block = pages().block_of(page);
    const atomic_view current{pages().shared().current};
    if (current.load(memory_order::relaxed, thread_scope::device) > access_block) {
      current.store(access_block, memory_order::relaxed, thread_scope::device);
    }
  }
  const lane_mask heap = match(group, pages().key());
  sync(group);  // the chunks of all lanes can be found
  if (is_leader(heap)) pages().changes().note_free();
  sync(group);  // no lane returns before the note: an old refusal would still hold for it
}

template <class Kind, scatter_options Options>
WARPHEAP_FN std::uint64_t scatter_allocator<Kind, Options>::usable_size(const void* block) const {
  const std::uint32_t page = pages().page_of(reinterpret_cast<std::uint64_t>(block));
  const std::uint32_t units = pages().table().units_of(page);
  if (units != 0) return std::uint64_t{units} * chunk_size::unit_bytes;
  return pages().page_bytes() << pages().source().order_of(page);
}

}  // namespace warpheap
