// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/ouroboros/detail/compaction.hpp>
#include <warpheap/designs/ouroboros/ouroboros.hpp>

// Chunks that leave the heap for a while. The host launches this while no other kernel uses the
// heap.

namespace warpheap {

template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN void basic_ouroboros<Items, Kind, Options>::coalesce() const {
  const lane_mask group = active_group();
  const detail::ouroboros_compaction<layout> sizes{reclamation()};
  // Blocks begin at different sizes, so that they arrive last at different ones: settling is the work of one group.
  std::uint32_t to_settle = 0;
  for (std::uint32_t i = 0; i < layout::classes; ++i) {
    const auto q = static_cast<std::uint32_t>((i + block_index()) % layout::classes);
    if (sizes.free_share(q, group)) to_settle |= 1u << q;
  }
  for (std::uint32_t q = 0; q < layout::classes; ++q) {
    if ((to_settle >> q & 1) != 0) sizes.settle(q, group);
  }
}

template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN void basic_ouroboros<Items, Kind, Options>::withdraw(std::uint64_t* units) const {
  const std::uint64_t count = chunks().control().chunks;
  chunks().heap().withdraw(count, units, grid_thread_index(), grid_threads());
  // Their records say so. Until they come back no thread reads the chunks: they may have no memory.
  for (std::uint64_t i = grid_thread_index(); i * chunk_group::chunks < count; i += grid_threads()) {
    for (std::uint64_t left = units[i]; left != 0; left &= left - 1) {
      chunks().set_owner(i * chunk_group::chunks + static_cast<std::uint64_t>(lowest_bit(left)),
                         chunk_record::withdrawn);
    }
  }
}

template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN void basic_ouroboros<Items, Kind, Options>::restore(const std::uint64_t* units) const {
  const std::uint64_t count = chunks().control().chunks;
  for (std::uint64_t i = grid_thread_index(); i * chunk_group::chunks < count; i += grid_threads()) {
    for (std::uint64_t left = units[i]; left != 0; left &= left - 1) {
      chunks().set_owner(i * chunk_group::chunks + static_cast<std::uint64_t>(lowest_bit(left)), 0);
    }
  }
  chunks().heap().restore(count, units, grid_thread_index(), grid_threads());
}

}  // namespace warpheap
