// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/random_walk/random_walk.hpp>

// free. The line's word tells how long the block is. Lanes whose blocks lie in one line give them back by one change of
// its word, and the lanes of a heap count one return.
//
// Each free ends the refusals that searches have noted.

namespace warpheap {

template <std::uint32_t Stripes, std::uint32_t RandomSteps>
WARPHEAP_FN void basic_random_walk<Stripes, RandomSteps>::free(void* block) const {
  const auto [index, page, _] = lines().place_of(block);
  const std::uint64_t word = lines().look(index);
  const std::uint32_t begin = line_word::run(page, 1);
  invariant((line_word::begins(word) & begin) != 0, "random_walk: a pointer is freed that no block begins at");
  const std::uint32_t pages = line_word::length(word, page);
  if (lines().goes_on_after(index, page + pages)) return free_run(index);
  const lane_mask group = match(active_group(), lines().key());
  const lane_mask peers = match(group, index);
  const std::uint32_t taken = reduce(peers, line_word::run(page, pages), bit_or{});
  const std::uint32_t begins = reduce(peers, begin, bit_or{});
  sync(group);  // what each lane did to its block, before its leader gives it back
  if (is_leader(peers)) lines().give(index, line_word::make(taken, begins));
  sync(group);
  if (is_leader(group)) lines().changes().note_return();
  sync(group);  // no lane returns before that is counted
}

/// Gives back a block of several lines. One lane.
template <std::uint32_t Stripes, std::uint32_t RandomSteps>
WARPHEAP_COLD_FN void basic_random_walk<Stripes, RandomSteps>::free_run(std::uint32_t first) const {
  lines().give_run(first);
  lines().changes().note_return();
}

template <std::uint32_t Stripes, std::uint32_t RandomSteps>
WARPHEAP_FN std::uint64_t basic_random_walk<Stripes, RandomSteps>::usable_size(const void* block) const {
  auto [index, page, _] = lines().place_of(block);
  std::uint64_t pages = 0;
  for (bool more = true; more; ++index) {  // not a spin: a line of the block each turn
    const std::uint32_t here = line_word::length(lines().look(index), page);
    pages += here;
    more = lines().goes_on_after(index, page + here);
    page = 0;
  }
  return pages * line_word::page_bytes;
}

}  // namespace warpheap
