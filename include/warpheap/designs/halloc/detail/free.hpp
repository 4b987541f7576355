// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/halloc/halloc.hpp>

// free. The address tells whether a block is of pages or of a slab. Lanes whose blocks share a word of a bitmap clear
// their bits together, and lanes of one slab give their permits together.
//
// Each free ends the refusals that searches have noted.

namespace warpheap {

template <halloc_options Options>
WARPHEAP_FN void basic_halloc<Options>::free(void* block) const {
  const auto address = reinterpret_cast<std::uint64_t>(block);
  if (address % layout::page_bytes == 0) {
    cold_call([*this, address] {
      free_pages(address);
      return 0;
    });
    return;
  }
  free_block(address);
}

/// Returns a block of a slab. Collective over the lanes that come together.
template <halloc_options Options>
WARPHEAP_FN void basic_halloc<Options>::free_block(std::uint64_t address) const {
  constexpr std::uint32_t word_bits = slot_bits<>::word_bits;
  const std::uint32_t page = pages().slab_begin(pages().page_of(address));
  const detail::halloc_slab_name of = pages().name_at(page);
  require(of.is_slab(), "halloc: what is freed is no block of this heap");
  const std::uint32_t c = of.of_class();
  const auto offset = static_cast<std::uint32_t>(address - pages().address_of(page));
  const std::uint32_t slot = classes::divide(offset - slabs().figures(c).first, c);
  const lane_mask group = active_group();
  // Lanes may use different heaps: the address of a word is one for all.
  const lane_mask same_word = match(group, pages().address_of(page) + slot / word_bits * sizeof(std::uint32_t));
  const std::uint32_t mask = reduce_parts(group, same_word, 1u << slot % word_bits, bit_or{});
  sync(group);  // the leaders release what all lanes did
  bool fails = false;
  if (is_leader(same_word)) {
    const std::uint32_t freed = pages().bits(page, 0).release_bits(slot / word_bits, mask);
    fails = popcount(freed) != group_size(same_word);
  }
  require(!fails, "halloc: a block is freed twice");
  const lane_mask same_slab = match(group, pages().address_of(page));
  sync(group);  // the bits of all lanes are clear
  if (is_leader(same_slab)) {
    slabs().give(of, static_cast<std::uint32_t>(group_size(same_slab)));
    slabs().quiescence().note_free();
  }
  sync(group);  // no lane returns before the note: an old refusal would still hold for it
}

/// Returns a block of pages. Collective over the lanes that come together.
template <halloc_options Options>
WARPHEAP_COLD_FN void basic_halloc<Options>::free_pages(std::uint64_t address) const {
  const lane_mask group = match(active_group(), pages().key());
  pages().source().give(group, pages().page_of(address));
}

template <halloc_options Options>
WARPHEAP_FN std::uint64_t basic_halloc<Options>::usable_size(const void* block) const {
  const auto address = reinterpret_cast<std::uint64_t>(block);
  const std::uint32_t page = pages().page_of(address);
  if (address % layout::page_bytes == 0) return layout::page_bytes << pages().source().order_of(page);
  return classes::bytes(pages().name_at(page).of_class());
}

}  // namespace warpheap
