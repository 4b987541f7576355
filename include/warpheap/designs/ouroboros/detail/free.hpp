// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/ouroboros/ouroboros.hpp>

// free. The record of the block's chunk names the size. The page's number is queued (P), or the
// free is deferred: the page's bit is set and a hint to the chunk is queued (C). A free for
// which the queue has no room is deferred, too. Groups of lanes have turns, as in malloc: a push may
// wait for the opener of a segment.

namespace warpheap {

template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN void basic_ouroboros<Items, Kind, Options>::free(void* block) const {
  const auto offset = static_cast<std::uint64_t>(static_cast<std::byte*>(block) - chunks().data());
  const std::uint32_t owner = chunks().owner_of(offset >> layout::chunk_shift);
  const std::uint32_t q = owner - 1;
  // A number that does not fit an entry, as above 64 GiB of 16-byte pages, is not queued.
  if (owner <= chunk_record::run_base && (!layout::stores_pages(q) || offset >> layout::entry_shift(q) >> 32 == 0)) {
    bool is_freed = true;
    chunks().in_turns(q, [&](lane_mask lanes) {
      if (layout::stores_pages(q)) {
        is_freed = push_page(q, lanes, static_cast<std::uint32_t>(offset >> layout::entry_shift(q)));
      } else {
        defer(lanes, q, offset);
      }
      return true;
    });
    if (is_freed) return;
  }
  cold_call([*this, block] { free_otherwise(block); });
}

/// Pushes the number `page` of each lane of `group` to the queue of size q; false if it has no
/// room. Collective.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN bool basic_ouroboros<Items, Kind, Options>::push_page(std::uint32_t q, lane_mask group,
                                                                  std::uint32_t page) const {
  return queues().queue(q).push(group, page, [&](lane_mask openers, batch_ring::batch newest) {
    cold_call([*this, q, openers, newest] { queues().queue(q).open(openers, newest); });
  });
}

/// Defers the free of the page at `offset` of each lane of `group`, all of size q: two stages, bit and count,
/// then what the count asks for. Collective.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN void basic_ouroboros<Items, Kind, Options>::defer(lane_mask group, std::uint32_t q,
                                                              std::uint64_t offset) const {
  const std::uint64_t chunk = offset >> layout::chunk_shift;
  if (q >= layout::chunk_classes) return chunks().free_chunks().add({chunk, layout::chunks_of_page(q)});
  bool gives_back = false;
  const pending_action action = deferral().count_pages(group, q, offset, gives_back);
  stop_point("ouroboros.defer.counted");
  sync(group);  // no lane returns before its leader has counted its page, and all see the count
  // Few lanes have a pending action, or one has it for many pages.
  if (!any(group, gives_back || action != pending_action::none)) return;
  cold_call([*this, q, group, chunk, action, gives_back] {
    const lane_mask queuers = ballot(group, action == pending_action::queue);
    if (action == pending_action::queue) hints().push_hint(q, queuers, chunk);
    deferral().finish_pending_action(q, group, chunk, action, gives_back);
    // No lane returns before a chunk is free that the group freed at once: no move announces it.
    sync(group);
  });
}

/// Frees a span of chunks, or defers the free of a page that its queue did not take.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN void basic_ouroboros<Items, Kind, Options>::free_otherwise(void* block) const {
  const auto offset = static_cast<std::uint64_t>(static_cast<std::byte*>(block) - chunks().data());
  const std::uint64_t chunk = offset >> layout::chunk_shift;
  const std::uint32_t owner = chunks().owner_of(chunk);
  if (owner > chunk_record::run_base) return free_run(chunk, owner - chunk_record::run_base);
  chunks().in_turns(owner - 1, [&](lane_mask lanes) {
    defer(lanes, owner - 1, offset);
    return true;
  });
}

/// Frees a span of `count` chunks.
template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_COLD_FN void basic_ouroboros<Items, Kind, Options>::free_run(std::uint64_t chunk, std::uint64_t count) const {
  chunks().free_chunks().add({chunk, count});
}

template <class Items, class Kind, ouroboros_options Options>
WARPHEAP_FN std::uint64_t basic_ouroboros<Items, Kind, Options>::usable_size(const void* block) const {
  const auto offset = static_cast<std::uint64_t>(static_cast<const std::byte*>(block) - chunks().data());
  const std::uint32_t owner = chunks().owner_of(offset >> layout::chunk_shift);
  if (owner > chunk_record::run_base) {
    return std::uint64_t{owner - chunk_record::run_base} << layout::chunk_shift;
  }
  return layout::page_bytes(owner - 1);
}

}  // namespace warpheap
