// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/ouroboros/ouroboros.hpp>

namespace warpheap {

template <class Items, class Kind, ouroboros_options Options>
basic_ouroboros<Items, Kind, Options>::basic_ouroboros(const arena& from)
    : data_(reinterpret_cast<std::byte*>(align_up(reinterpret_cast<std::uint64_t>(from.data), Options.chunk_bytes))),
      control_(reinterpret_cast<typename layout::control*>(from.metadata)),
      words_(reinterpret_cast<std::uint32_t*>(from.metadata + layout::words_at())),
      groups_(reinterpret_cast<chunk_group*>(from.metadata + layout::groups_at(from.bytes))),
      initial_bytes_(from.bytes),
      lead_(static_cast<std::uint32_t>(data_ - from.data)) {}

template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN Kind basic_ouroboros<Items, Kind, Options>::kind(std::uint32_t q, std::uint64_t chunks) const {
  if constexpr (uses_chunks<Kind>) {
    const chunk_segments segments{data_, layout::chunk_shift};
    return Kind{{segments, free_chunks(), layout::largest_segment(chunks, q)}};
  } else {
    (void)q, (void)chunks;
    return Kind{flat()};
  }
}

// Adds chunks [from, to) to the set of free ones; thread `index` of `threads` that share the work.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN void basic_ouroboros<Items, Kind, Options>::add_chunks(std::uint64_t from, std::uint64_t to,
                                                                   std::uint64_t index, std::uint64_t threads) const {
  constexpr std::uint64_t leaf = bit_tree::leaf_bits;
  for (std::uint64_t i = from / leaf + index; i * leaf < to; i += threads) {
    const std::uint64_t begin = i * leaf < from ? from : i * leaf;
    const std::uint64_t end = (i + 1) * leaf < to ? (i + 1) * leaf : to;
    free_chunks().add({begin, end - begin});
  }
}

template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN void basic_ouroboros<Items, Kind, Options>::initialise() const {
  add_chunks(0, chunks_in(initial_bytes_), grid_thread_index(), grid_threads());
  if (grid_thread_index() == 0) control_->chunks = chunks_in(initial_bytes_);
  for (std::uint64_t q = grid_thread_index(); q < layout::classes; q += grid_threads()) {
    if constexpr (!uses_chunks<Kind>) of_class(q).queue.ring = layout::ring(initial_bytes_, q);
  }
}

template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN void basic_ouroboros<Items, Kind, Options>::grow(std::uint64_t bytes) const {
  // One block does it, because its threads must all read the old end before it changes.
  if (block_index() != 0) return;
  const std::uint64_t from = control_->chunks;
  sync_block();
  add_chunks(from, chunks_in(bytes), thread_index(), block_threads());
  if (thread_index() == 0) control_->chunks = chunks_in(bytes);
}

// Live is what is neither a free chunk nor a chunk of a queue nor a free page. Exact while nobody uses the heap; else
// each part is bounded, so that the sum, which may wrap below 0, is told from a true one.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN void basic_ouroboros<Items, Kind, Options>::count(allocator_counts& counts) const {
  using enum memory_order;
  using enum thread_scope;
  std::uint64_t live = 0;
  for (std::uint64_t i = grid_thread_index(); i < control_->chunks; i += grid_threads()) {
    const std::uint64_t free = free_chunks().leaf_word(static_cast<std::uint32_t>(i / chunk_group::chunks));
    if ((free >> i % chunk_group::chunks & 1) != 0) continue;
    live += Options.chunk_bytes;
    chunk_record& chunk = record(i);
    const std::uint32_t q = atomic_view{chunk.owner}.load(relaxed, device) - 1;
    if (q >= layout::chunk_classes) continue;
    const std::uint32_t parked = chunk_state{atomic_view{chunk.state}.load(relaxed, device)}.count();
    live -= std::uint64_t{parked < layout::pages(q) ? parked : layout::pages(q)} * layout::page_bytes(q);
  }
  for (std::uint64_t q = grid_thread_index(); q < layout::classes; q += grid_threads()) {
    const page_class& mine = of_class(q);
    const segment_queue<Kind> queue{of_class(q).queue, kind(q, control_->chunks)};
    const auto held = queue.look(control_->chunks);
    const source from{mine.stock.what(mine.stock.newest())};
    const std::int32_t balance = from.what() != source::none ? mine.stock.balance() : 0;
    const std::uint64_t unclaimed = balance < 0 ? 0 : static_cast<std::uint64_t>(balance);
    const bool are_hints = from.what() == source::queued && !layout::stores_pages(q);
    std::uint64_t pages = are_hints ? 0 : unclaimed;
    if (layout::stores_pages(q)) pages += held.entries;
    const std::uint64_t most = control_->chunks / layout::chunks_of_page(q) * layout::pages(q);
    live -= (pages < most ? pages : most) * layout::page_bytes(q);
    if constexpr (uses_chunks<Kind>) {
      std::uint64_t chunks = held.chunks;
      if (from.what() == source::queued && unclaimed != 0) {
        // It was named by its renewer, so it exists, though it may have been retired meanwhile.
        const std::uint32_t all =
            speculative_load(kind(q, control_->chunks).chunks.header(static_cast<std::uint32_t>(from.base())).chunks);
        chunks += all < segment_header::most_chunks ? all : segment_header::most_chunks;
      }
      live -= (chunks < control_->chunks ? chunks : control_->chunks) * Options.chunk_bytes;
    }
  }
  atomic_view{counts.live_bytes}.fetch_add(live, relaxed, device);
}

}  // namespace warpheap
