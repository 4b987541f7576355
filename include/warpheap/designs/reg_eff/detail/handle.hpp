// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/reg_eff/reg_eff.hpp>

// What the host asks for: start, growth, figures, and what a pointer means.

namespace warpheap {

template <reg_eff_options Options>
WARPHEAP_FN void basic_reg_eff<Options>::initialise() const {
  const std::uint32_t units = layout::units(bytes_);
  const detail::reg_eff_pre_split split{units, layout::cursors};
  const std::uint64_t chunks = std::uint64_t{split.parts()} * split.chunks_in_part();
  for (std::uint64_t i = grid_thread_index(); i < chunks; i += grid_threads()) {
    const auto part = static_cast<std::uint32_t>(i / split.chunks_in_part());
    const auto [begin, end] = split.chunk_of(part, static_cast<std::uint32_t>(i % split.chunks_in_part()));
    if (begin != end) ring().lay(begin, end);
  }
  if (grid_thread_index() != 0) return;
  ring().finish(units);
  for (std::uint32_t i = 0; i < layout::cursors; ++i) ring().place_cursor(i, split.part_begin(i % split.parts()));
}

template <reg_eff_options Options>
WARPHEAP_FN void basic_reg_eff<Options>::grow(std::uint64_t bytes) const {
  if (grid_thread_index() != 0) return;
  const std::uint32_t from = ring().units();
  const std::uint32_t to = layout::units(bytes);
  if (from == to) return;
  ring().finish(to);
  ring().lay(from, to);  // in place of the old end
}

template <reg_eff_options Options>
WARPHEAP_FN block_location basic_reg_eff<Options>::locate(const void* pointer) const {
  const auto offset = static_cast<std::uint64_t>(static_cast<const std::byte*>(pointer) - data_);
  if (offset >= std::uint64_t{ring().units()} * layout::granule) return block_location::outside;  // also what is before
  std::uint32_t place = place_of(pointer);
  const std::uint32_t own = ring().look(place);
  if ((own & ring_word::allocated) != 0 && offset % layout::granule == 0) return block_location::block;
  // The chunk around it begins at the last header before it that is one.
  for (;; --place) {  // not a spin: another header each time
    const std::uint32_t word = ring().look(place);
    if ((word & ring_word::allocated) != 0) return block_location::inside;
    if ((word & ring_word::free) != 0 || place == 0) return block_location::free;
  }
}

template <reg_eff_options Options>
WARPHEAP_FN void basic_reg_eff<Options>::count(allocator_counts& counts) const {
  std::uint64_t units = 0;
  const std::uint32_t end = ring().units();
  for (std::uint64_t i = grid_thread_index(); i < end; i += grid_threads()) {
    const auto place = static_cast<std::uint32_t>(i);
    const std::uint32_t word = ring().look(place);
    if ((word & ring_word::allocated) != 0) units += ring_word::next(word) - place;
  }
  add_to_sum(counts.live_bytes, units * layout::granule);
}

template <reg_eff_options Options>
WARPHEAP_FN void basic_reg_eff<Options>::tally(reg_eff_statistics& sums) const {
  reg_eff_statistics mine{};
  const std::uint32_t end = ring().units();
  for (std::uint64_t i = grid_thread_index(); i < end; i += grid_threads()) {
    const auto place = static_cast<std::uint32_t>(i);
    const std::uint32_t word = ring().look(place);
    const std::uint64_t units = ring_word::next(word) - place;
    if ((word & ring_word::allocated) != 0) {
      ++mine.blocks;
      mine.block_granules += units;
    } else if ((word & ring_word::free) != 0) {
      ++mine.free_chunks;
      mine.free_granules += units;
      if (mine.largest_free_granules < units) mine.largest_free_granules = units;
    }
  }
  if (grid_thread_index() == 0) add_to_sum(sums.granules, end);
  add_to_sum(sums.blocks, mine.blocks);
  add_to_sum(sums.block_granules, mine.block_granules);
  add_to_sum(sums.free_chunks, mine.free_chunks);
  add_to_sum(sums.free_granules, mine.free_granules);
  // Relaxed: the host reads it after the kernel, as the sums.
  atomic_view{sums.largest_free_granules}.fetch_max(mine.largest_free_granules, memory_order::relaxed,
                                                    thread_scope::device);
}

}  // namespace warpheap
