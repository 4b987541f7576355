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
WARPHEAP_COLD_FN index_run basic_ouroboros<Items, Kind, Options>::take_neighbours(std::uint32_t least,
                                                                                  std::uint32_t most,
                                                                                  std::uint32_t alignment) const {
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
WARPHEAP_COLD_FN index_run basic_ouroboros<Items, Kind, Options>::search_neighbours(std::uint32_t least,
                                                                                    std::uint32_t most,
                                                                                    std::uint32_t alignment) const {
  struct {
    std::uint32_t first, count;
  } run{0, 0};
  std::uint32_t at = 0;
  for (;;) {
    std::uint32_t leaf = 0;
    const bool more = free_chunks().next_leaf(at / 64, leaf);
    std::uint64_t word = 0;
    if (more) {
      if (leaf != at / 64) at = leaf * 64;
      word = free_chunks().leaf_word(leaf) >> at % 64;
    }
    // The run goes on if it reaches here and the next chunk is free, and ends anyhow when it is long enough.
    const bool goes_on = more && run.first + run.count == at && (word & 1) != 0;
    if (run.count >= least && (!goes_on || run.count >= most + alignment)) {
      const index_run found = take_aligned(run.first, run.first + run.count, least, most, alignment);
      if (found.count != 0) return found;
      // Too short when aligned; or a renewer took some of it, which is seen afterwards.
    }
    if (!goes_on || run.count >= most + alignment) run.count = 0;
    if (!more) return {0, 0};
    if (word == 0) {
      at = (at & ~63u) + 64;
      continue;
    }
    if (run.count == 0) {
      const int gap = lowest_bit(word);
      at += static_cast<std::uint32_t>(gap);
      word >>= gap;
      run.first = at;
    }
    const std::uint32_t ones = detail::trailing_ones(word);
    run.count += ones;
    at += ones;
  }
}

// The same of the chunks [first, end) alone, which were seen to be free.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_COLD_FN index_run basic_ouroboros<Items, Kind, Options>::take_aligned(std::uint32_t first, std::uint32_t end,
                                                                               std::uint32_t least, std::uint32_t most,
                                                                               std::uint32_t alignment) const {
  // How far the first chunk lies behind an aligned one. Numbers of chunks are below 2^25, alignments up to 2^28.
  const std::uint32_t phase =
      static_cast<std::uint32_t>(reinterpret_cast<std::uint64_t>(data_) >> layout::chunk_shift) & (alignment - 1);
  const std::uint32_t begin = ((first + phase + alignment - 1) & ~(alignment - 1)) - phase;
  if (begin >= end || end - begin < least) return {0, 0};
  const std::uint32_t room = end - begin < most ? end - begin : most;
  const index_run run{begin, room - room % least};
  return free_chunks().take_exactly(run) ? run : index_run{0, 0};
}

// A block of `bytes` bytes in chunks of its own, or null. One lane.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_COLD_FN void* basic_ouroboros<Items, Kind, Options>::malloc_run(std::uint64_t bytes,
                                                                         std::uint64_t alignment) const {
  const std::uint64_t heap_bytes = control_->chunks << layout::chunk_shift;
  if (bytes > heap_bytes || alignment > (std::uint64_t{1} << 40)) return nullptr;
  const auto count = static_cast<std::uint32_t>(divide_up(bytes, Options.chunk_bytes));
  const auto chunk_alignment = static_cast<std::uint32_t>(divide_up(alignment, Options.chunk_bytes));
  control_->lock.acquire();
  index_run run = take_neighbours(count, count, chunk_alignment);
  if (run.count == 0 && sweep(layout::classes, lane_bit())) run = take_neighbours(count, count, chunk_alignment);
  control_->lock.release();
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
