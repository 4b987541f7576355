// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/ouroboros/ouroboros.hpp>

// Blocks above the largest page are runs of chunks. Their first chunk's record knows how many. A thread that looks for
// a run holds the heap's lock, so that no two spoil each other's search by what they take and put back.

namespace warpheap {

// A block of `bytes` bytes in chunks of its own, or null. One lane.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_COLD_FN void* basic_ouroboros<Items, Kind, Options>::malloc_run(std::uint64_t bytes,
                                                                         std::uint64_t alignment) const {
  const std::uint64_t heap_bytes = control_->chunks << layout::chunk_shift;
  if (bytes > heap_bytes || alignment > (std::uint64_t{1} << 40)) return nullptr;
  const auto count = static_cast<std::uint32_t>(divide_up(bytes, Options.chunk_bytes));
  const auto chunk_alignment = static_cast<std::uint32_t>(divide_up(alignment, Options.chunk_bytes));
  index_run run{0, 0};
  control_->lock.hold([&] {
    run = take_neighbours(count, count, chunk_alignment);
    if (run.count == 0 && sweep(layout::classes, lane_bit())) run = take_neighbours(count, count, chunk_alignment);
  });
  if (run.count == 0) return nullptr;
  atomic_view{record(run.first).owner}.store(chunk_record::run_base + count, memory_order::relaxed,
                                             thread_scope::device);
  return data_ + (run.first << layout::chunk_shift);
}

template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_COLD_FN void basic_ouroboros<Items, Kind, Options>::free_run(std::uint64_t chunk, std::uint64_t count) const {
  free_chunks().add({chunk, count});
}

}  // namespace warpheap
