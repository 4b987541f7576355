// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/kma/kma.hpp>

// free. The state of its page tells whether a block is of a superblock or of pages. Lanes whose blocks share a word of
// a bitmap clear their bits together, and lanes of one superblock give their permits together.
//
// Each free ends the refusals that searches have noted.

namespace warpheap {

template <kma_options Options>
WARPHEAP_FN void basic_kma<Options>::free(void* block) const {
  const auto address = reinterpret_cast<std::uint64_t>(block);
  if (is_in_superblock(address)) {
    free_block(address);
  } else {
    cold_call([*this, address] {
      free_pages(address);
      return 0;
    });
  }
}

/// True if the block at `address` is in a superblock; else it is of pages. The caller has the block.
template <kma_options Options>
WARPHEAP_FN bool basic_kma<Options>::is_in_superblock(std::uint64_t address) const {
  return address % layout::page_bytes != 0 || pages().state(pages().page_of(address)).look().is_assigned();
}

/// Gives back a block of a superblock. Collective over the lanes that come together.
template <kma_options Options>
WARPHEAP_FN void basic_kma<Options>::free_block(std::uint64_t address) const {
  constexpr std::uint32_t word_bits = slot_bits<>::word_bits;
  const std::uint32_t page = pages().page_of(address);
  const std::uint32_t c = pages().state(page).look().size_class;
  require(c < classes::count, "kma: what is freed is no block of this heap");
  const std::uint64_t begin = pages().address_of(page);
  const std::uint32_t slot = classes::slot_at(static_cast<std::uint32_t>(address - begin), c);
  const lane_mask group = active_group();
  // Lanes may use different heaps: the address of a superblock is one for all. Words are numbered from there.
  const lane_mask same_word = match(group, begin + slot / word_bits);
  const std::uint32_t mask = reduce_parts(group, same_word, 1u << slot % word_bits, bit_or{});
  sync(group);  // the leaders release what all lanes did
  bool fails = false;
  if (is_leader(same_word)) {
    const std::uint32_t freed = pages().bits(page, c).release_bits(slot / word_bits, mask);
    fails = popcount(freed) != group_size(same_word);
  }
  require(!fails, "kma: a block is freed twice");
  const lane_mask same_superblock = match(group, begin);
  sync(group);  // the bits of all lanes are clear
  const lane_mask leaders = ballot(group, is_leader(same_superblock));
  if (is_leader(same_superblock)) {
    lists().give(leaders, page, c, static_cast<std::uint32_t>(group_size(same_superblock)));
  }
  sync(group);  // no lane returns before the free is counted: an old refusal would still hold for it
}

/// Gives back a block of pages. Collective over the lanes that come together.
template <kma_options Options>
WARPHEAP_COLD_FN void basic_kma<Options>::free_pages(std::uint64_t address) const {
  const lane_mask peers = match(active_group(), pages().key());
  pages().source().give(peers, pages().page_of(address));
}

template <kma_options Options>
WARPHEAP_FN std::uint64_t basic_kma<Options>::usable_size(const void* block) const {
  const auto address = reinterpret_cast<std::uint64_t>(block);
  const std::uint32_t page = pages().page_of(address);
  if (is_in_superblock(address)) return classes::bytes(pages().state(page).look().size_class);
  return layout::page_bytes << pages().source().order_of(page);
}

}  // namespace warpheap
