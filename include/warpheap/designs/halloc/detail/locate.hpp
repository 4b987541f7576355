// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/halloc/halloc.hpp>

// What a pointer means: the page where a slab would begin tells whether one does, and the slab's bitmap which blocks
// are taken; else the tags of the page source tell.
//
// Orders: all loads are relaxed. A thread that may ask for a block has it from the thread that took it, so what was
// written before it was handed out is visible. Of all other memory the answer is exact only if no thread changes it.

namespace warpheap {

template <halloc_options Options>
WARPHEAP_COLD_FN block_location basic_halloc<Options>::locate(const void* pointer) const {
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  // Below page 0 this wraps around to more than there is.
  const std::uint64_t number = (address - pages().address_of(0)) / layout::page_bytes;
  if (number < pages().first_page() || number >= pages().control().end) return block_location::outside;
  const auto page = static_cast<std::uint32_t>(number);
  const std::uint32_t begin = pages().slab_begin(page);
  const detail::halloc_slab_name of =
      begin >= pages().first_page() ? pages().name_at(begin) : detail::halloc_slab_name{0};
  if (!of.is_slab()) {
    if (pages().source().first_of(page, pages().first_page()) == page_source::none) return block_location::free;
    const bool is_first = address % layout::page_bytes == 0 && pages().source().order_of(page) != page_source::none;
    return is_first ? block_location::block : block_location::inside;
  }
  const std::uint32_t c = of.of_class();
  const auto& figures = slabs().figures(c);
  const auto offset = static_cast<std::uint32_t>(address - pages().address_of(begin));
  if (offset < figures.first) return block_location::free;
  const std::uint32_t slot = classes::divide(offset - figures.first, c);
  if (slot >= figures.slots || layout::is_absent(c, figures.first, slot)) return block_location::free;
  const std::uint32_t word = speculative_load(
      reinterpret_cast<const std::uint32_t*>(pages().address_of(begin))[slot / slot_bits<>::word_bits]);
  if ((word >> slot % slot_bits<>::word_bits & 1) == 0) return block_location::free;
  return offset == figures.first + slot * classes::bytes(c) ? block_location::block : block_location::inside;
}

}  // namespace warpheap
