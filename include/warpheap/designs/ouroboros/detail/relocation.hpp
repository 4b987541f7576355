// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/ouroboros/ouroboros.hpp>

// Relocation. All that the design keeps names chunks, pages and segments by number, as in the
// paper, so a copy of it is valid at any address. Two things depend on the size of the heap: where
// the records begin, and the rings of the static queues. Rings that would change are emptied and
// made anew: then no number of a segment is left that would have to be rewritten.

namespace warpheap {
namespace detail {

/// Compacts all sizes, which empties their queues. No other kernel uses the heap.
struct coalesce_ouroboros {
  template <class A>
  WARPHEAP_FN void operator()(A allocator) const {
    allocator.coalesce();
  }
};

}  // namespace detail

template <class Items, class Kind, ouroboros_options Options>
void basic_ouroboros<Items, Kind, Options>::relocate(const arena& from, const arena& to) const {
  const basic_ouroboros there{to};
  std::uint64_t segments = layout::staging_segments;
  if constexpr (!uses_chunks<Kind>) {
    if (layout::same_rings(chunks().initial_bytes(), there.chunks().initial_bytes())) {
      segments = layout::ring_begin(chunks().initial_bytes(), layout::classes);
    } else {
      launch({layout::classes, 256}, detail::coalesce_ouroboros{}, *this);
    }
  }
  device_copy(to.metadata, from.metadata, layout::words_at() + segments * segment_words * sizeof(std::uint32_t));
  device_copy(there.chunks().groups(), chunks().groups(),
              divide_up(from.bytes / Options.chunk_bytes, chunk_group::chunks) * sizeof(chunk_group));
  if constexpr (!uses_chunks<Kind>) {
    for (std::uint32_t q = 0; q < layout::classes; ++q) {
      const static_ring::extent ring = layout::ring(there.chunks().initial_bytes(), q);
      device_copy(&there.chunks().of_class(q).queue.ring, &ring, sizeof(ring));
    }
  }
}

}  // namespace warpheap
