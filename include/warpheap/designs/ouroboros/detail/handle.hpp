// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/ouroboros/ouroboros.hpp>

// What the host asks for: start, growth, the bytes in use.

namespace warpheap {

template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN void basic_ouroboros<Items, Kind, Options>::initialise() const {
  chunks().heap().add(0, chunks().chunks_in(chunks().initial_bytes()), grid_thread_index(), grid_threads());
  if (grid_thread_index() == 0) chunks().control().chunks = chunks().chunks_in(chunks().initial_bytes());
  for (std::uint64_t q = grid_thread_index(); q < layout::classes; q += grid_threads()) {
    if constexpr (!uses_chunks<Kind>) chunks().of_class(q).queue.ring = layout::ring(chunks().initial_bytes(), q);
  }
}

template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN void basic_ouroboros<Items, Kind, Options>::grow(std::uint64_t bytes) const {
  chunks().heap().grow(chunks().control().chunks, chunks().chunks_in(bytes));
}

/// Adds the bytes in use: what is neither a free chunk, nor a chunk of a queue, nor a free page.
/// Exact while no other thread uses the heap; else each part is bounded, so that a sum below 0,
/// which wraps, differs from a true one.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN void basic_ouroboros<Items, Kind, Options>::count(allocator_counts& counts) const {
  using enum memory_order;
  using enum thread_scope;
  std::uint64_t live = 0;
  for (std::uint64_t i = grid_thread_index(); i < chunks().control().chunks; i += grid_threads()) {
    const std::uint64_t free = chunks().free_chunks().leaf_word(static_cast<std::uint32_t>(i / chunk_group::chunks));
    if ((free >> i % chunk_group::chunks & 1) != 0) continue;
    chunk_record& chunk = chunks().record(i);
    const std::uint32_t owner = chunks().owner_of(i);
    if (owner == chunk_record::withdrawn) continue;
    live += Options.chunk_bytes;
    const std::uint32_t q = owner - 1;
    if (q >= layout::chunk_classes) continue;
    const std::uint32_t deferred = chunk_state{atomic_view{chunk.state}.load(relaxed, device)}.count();
    live -= std::uint64_t{deferred < layout::pages(q) ? deferred : layout::pages(q)} * layout::page_bytes(q);
  }
  for (std::uint64_t q = grid_thread_index(); q < layout::classes; q += grid_threads()) {
    const page_class& mine = chunks().of_class(q);
    const segment_queue<Kind> queue{chunks().of_class(q).queue, queues().kind(q, chunks().control().chunks)};
    const auto is_readable = [&](std::uint32_t id) { return queues().is_readable(id, chunks().control().chunks); };
    const auto held = queue.look(chunks().control().chunks, [&](segment_name of) { return is_readable(of.id); });
    const source from{mine.supply.what(mine.supply.newest())};
    const std::int32_t balance = from.what() != source::none ? mine.supply.balance() : 0;
    const std::uint64_t unclaimed = balance < 0 ? 0 : static_cast<std::uint64_t>(balance);
    const bool are_hints = from.what() == source::queued && !layout::stores_pages(q);
    std::uint64_t pages = are_hints ? 0 : unclaimed;
    if (layout::stores_pages(q)) pages += held.entries;
    const std::uint64_t most = chunks().control().chunks / layout::chunks_of_page(q) * layout::pages(q);
    live -= (pages < most ? pages : most) * layout::page_bytes(q);
    if constexpr (uses_chunks<Kind>) {
      std::uint64_t of_queue = held.chunks;
      if (from.what() == source::queued && unclaimed != 0 && is_readable(static_cast<std::uint32_t>(from.base()))) {
        // Its refiller named it, though it may have been retired meanwhile.
        const std::uint32_t all = speculative_load(
            queues().kind(q, chunks().control().chunks).chunks.header(static_cast<std::uint32_t>(from.base())).chunks);
        of_queue += all < segment_header::most_chunks ? all : segment_header::most_chunks;
      }
      live -= (of_queue < chunks().control().chunks ? of_queue : chunks().control().chunks) * Options.chunk_bytes;
    }
  }
  add_to_sum(counts.live_bytes, live);
}

}  // namespace warpheap
