// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/random_walk/random_walk.hpp>

// What the host asks for: start, growth, figures, and what a pointer means. All loads are relaxed: the caller runs
// while no thread allocates, or has the block from its owner, or a sum that is off is good enough.

namespace warpheap {

template <std::uint32_t Stripes, std::uint32_t RandomSteps>
WARPHEAP_FN void basic_random_walk<Stripes, RandomSteps>::set_size(std::uint64_t bytes) const {
  if (grid_thread_index() != 0) return;
  lines().control().space = probe_space{static_cast<std::uint32_t>(bytes / line_word::line_bytes)};
  // Lines that are added count as returned: what was refused before may be served now. A launch is between.
  lines().changes().note_return();
}

template <std::uint32_t Stripes, std::uint32_t RandomSteps>
WARPHEAP_FN block_location basic_random_walk<Stripes, RandomSteps>::locate(const void* pointer) const {
  const auto offset = reinterpret_cast<std::uint64_t>(pointer) - lines().begin();
  const std::uint64_t bytes = std::uint64_t{lines().count()} * line_word::line_bytes;
  if (offset >= bytes) return block_location::outside;  // also what lies before
  const detail::walk_place at = lines().place_of(pointer);
  const std::uint64_t word = lines().look(at.line);
  const std::uint32_t page = line_word::run(at.page, 1);
  if ((line_word::taken(word) & page) == 0) return block_location::free;
  const bool begins = (line_word::begins(word) & page) != 0 && offset % line_word::page_bytes == 0;
  return begins ? block_location::block : block_location::inside;
}

template <std::uint32_t Stripes, std::uint32_t RandomSteps>
WARPHEAP_FN void basic_random_walk<Stripes, RandomSteps>::tally(random_walk_statistics& sums) const {
  random_walk_statistics mine{};
  for (std::uint64_t i = grid_thread_index(); i < lines().count(); i += grid_threads()) {
    const std::uint64_t word = lines().look(static_cast<std::uint32_t>(i));
    const auto pages = static_cast<std::uint32_t>(popcount(line_word::taken(word)));
    ++mine.lines;
    if (pages == 0) ++mine.free_lines;
    if (pages == line_word::pages) ++mine.full_lines;
    mine.blocks += static_cast<std::uint64_t>(popcount(line_word::begins(word)));
    mine.pages += pages;
  }
  add_to_sum(sums.lines, mine.lines);
  add_to_sum(sums.free_lines, mine.free_lines);
  add_to_sum(sums.full_lines, mine.full_lines);
  add_to_sum(sums.blocks, mine.blocks);
  add_to_sum(sums.pages, mine.pages);
}

template <std::uint32_t Stripes, std::uint32_t RandomSteps>
WARPHEAP_FN void basic_random_walk<Stripes, RandomSteps>::count(allocator_counts& counts) const {
  std::uint64_t pages = 0;
  for (std::uint64_t i = grid_thread_index(); i < lines().count(); i += grid_threads()) {
    pages += static_cast<std::uint64_t>(popcount(line_word::taken(lines().look(static_cast<std::uint32_t>(i)))));
  }
  add_to_sum(counts.live_bytes, pages * line_word::page_bytes);
}

}  // namespace warpheap
