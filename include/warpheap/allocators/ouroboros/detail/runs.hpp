// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocators/ouroboros/ouroboros.hpp>

// Blocks above the largest page are runs of chunks. Their first chunk's record knows how many. Who looks for a run
// holds the heap's lock, so that no two spoil each other's search by what they take and put back.

namespace warpheap {

// Between `least` and `most` neighbouring free chunks, a multiple of `least`, from a chunk on whose address is a
// multiple of `alignment` chunks; an empty run if there are none. Takes the lowest that it finds. One lane, which holds
// the lock; renewers may take chunks meanwhile.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_COLD_FN index_run basic_ouroboros<Items, Kind, Options>::take_neighbours(std::uint64_t least,
                                                                                  std::uint64_t most,
                                                                                  std::uint64_t alignment) const {
  for (;;) {  // not a spin: it searches anew, and pauses in between
    const bit_tree::watch before = free_chunks().begin_watch();
    const index_run run = search_neighbours(least, most, alignment);
    // Chunks that were on their way in or out of the set may have been missed.
    if (run.count != 0 || free_chunks().was_quiet(before)) return run;
    backoff{}.pause();
  }
}

// One pass over the set.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN index_run basic_ouroboros<Items, Kind, Options>::search_neighbours(std::uint64_t least, std::uint64_t most,
                                                                               std::uint64_t alignment) const {
  const bit_tree chunks = free_chunks();
  const std::uint64_t phase = reinterpret_cast<std::uint64_t>(data_) >> layout::chunk_shift;
  index_run run{0, 0};
  std::uint64_t at = 0;
  for (;;) {
    std::uint32_t leaf = 0;
    const bool more = chunks.next_leaf(static_cast<std::uint32_t>(at / 64), leaf);
    std::uint64_t word = 0;
    if (more) {
      if (leaf != at / 64) at = std::uint64_t{leaf} * 64;
      word = chunks.leaf_word(leaf) >> at % 64;
    }
    // The run goes on if it reaches here and the next chunk is free, and ends anyhow when it is long enough.
    const bool goes_on = more && run.first + run.count == at && (word & 1) != 0;
    if (run.count != 0 && (!goes_on || run.count >= most + alignment)) {
      const std::uint64_t first = align_up(run.first + phase, alignment) - phase;
      const std::uint64_t end = run.first + run.count;
      if (first < end && end - first >= least) {
        const std::uint64_t room = end - first < most ? end - first : most;
        const index_run found{first, room - room % least};
        if (chunks.take_exactly(found)) return found;
        at = run.first;  // a renewer took some of them: look at the rest again
        run.count = 0;
        continue;
      }
      run.count = 0;
    }
    if (!more) return {0, 0};
    if (word == 0) {
      at = align_down(at, 64) + 64;
      continue;
    }
    if (run.count == 0) {
      at += static_cast<std::uint64_t>(lowest_bit(word));
      word >>= lowest_bit(word);
      run.first = at;
    }
    const std::uint64_t ones = detail::trailing_ones(word);
    run.count += ones;
    at += ones;
  }
}

// A block of `bytes` bytes in chunks of its own, or null. One lane.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_COLD_FN void* basic_ouroboros<Items, Kind, Options>::malloc_run(std::uint64_t bytes,
                                                                         std::uint64_t alignment) const {
  const std::uint64_t heap_bytes = control_->chunks << layout::chunk_shift;
  if (bytes > heap_bytes || alignment > (std::uint64_t{1} << 40)) return nullptr;
  const std::uint64_t count = divide_up(bytes, Options.chunk_bytes);
  const std::uint64_t chunk_alignment = divide_up(alignment, Options.chunk_bytes);
  control_->lock.acquire();
  index_run run = take_neighbours(count, count, chunk_alignment);
  if (run.count == 0 && sweep(layout::classes, lane_bit())) run = take_neighbours(count, count, chunk_alignment);
  control_->lock.release();
  if (run.count == 0) return nullptr;
  atomic_view{record(run.first).owner}.store(static_cast<std::uint32_t>(chunk_record::run_base + count),
                                             memory_order::relaxed, thread_scope::device);
  return data_ + (run.first << layout::chunk_shift);
}

template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_COLD_FN void basic_ouroboros<Items, Kind, Options>::free_run(std::uint64_t chunk, std::uint64_t count) const {
  free_chunks().add({chunk, count});
}

}  // namespace warpheap
