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
WARPHEAP_FN Kind basic_ouroboros<Items, Kind, Options>::kind() const {
  if constexpr (uses_chunks<Kind>) {
    return Kind{{chunk_segments{data_, layout::chunk_shift}, free_chunks()}};
  } else {
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

// Live is what is neither a free chunk nor a chunk of a queue nor a free page.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN void basic_ouroboros<Items, Kind, Options>::count(allocator_counts& counts) const {
  using enum memory_order;
  using enum thread_scope;
  std::uint64_t live = 0;
  for (std::uint64_t i = grid_thread_index(); i < control_->chunks; i += grid_threads()) {
    const std::uint64_t free = groups_[i / chunk_group::chunks].free >> i % chunk_group::chunks & 1;
    if (free != 0) continue;
    live += Options.chunk_bytes;
    const chunk_record& chunk = record(i);
    const std::uint32_t q = chunk.owner - 1;
    if (q < layout::chunk_classes) live -= std::uint64_t{chunk_state{chunk.state}.count()} * layout::page_bytes(q);
  }
  for (std::uint64_t q = grid_thread_index(); q < layout::classes; q += grid_threads()) {
    const page_class& mine = of_class(q);
    const Kind of = kind();
    const segment_queue<Kind> queue{of_class(q).queue, of};
    const source from{mine.stock.what(mine.stock.newest())};
    const std::int32_t unclaimed = from.what() != source::none ? mine.stock.balance() : 0;
    const bool are_hints = from.what() == source::queued && !layout::stores_pages(q);
    auto pages = static_cast<std::uint64_t>(are_hints ? 0 : unclaimed);
    if (layout::stores_pages(q)) pages += queue.size();
    live -= pages * layout::page_bytes(q);
    if constexpr (uses_chunks<Kind>) {
      live -= queue.chunks() * std::uint64_t{Options.chunk_bytes};
      if (from.what() == source::queued && unclaimed != 0) {
        live -= of.chunks.header(static_cast<std::uint32_t>(from.base())).chunks * std::uint64_t{Options.chunk_bytes};
      }
    }
  }
  atomic_view{counts.live_bytes}.fetch_add(live, relaxed, device);
}

}  // namespace warpheap
