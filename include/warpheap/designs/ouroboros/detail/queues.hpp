// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocator/device.hpp>
#include <warpheap/designs/ouroboros/detail/chunks.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>

namespace warpheap::detail {

/// The segments that batches of pages name: those of the queues, one queue for each page size, and
/// two staging segments for each page size.
///
/// A queue holds the numbers of free pages (P), or hints to chunks that may have free pages (C).
/// Frees push to it. The refiller of the size, or a sweep in its place, adopts the oldest segment
/// whole; a batch then names the segment, and the entries are read by the holders of the batch's
/// units.
///
/// Invariant: a segment is written until it is adopted or published, then read, and retired once,
/// after the last entry was read. The refiller uses the two staging segments of a size in turn. A
/// staging segment is in use from its publication until it is retired, and the refiller waits for
/// that before it writes the segment again.
template <class Layout>
class ouroboros_queues {
 public:
  using source = ouroboros_source;
  using kind_type = typename Layout::kind_type;

  WARPHEAP_FN explicit ouroboros_queues(const arena& from) : chunks_(from) {}
  WARPHEAP_FN const ouroboros_chunks<Layout>& chunks() const { return chunks_; }

  WARPHEAP_FN flat_segments flat() const { return flat_segments{chunks().words()}; }
  /// The queue of size q: of pages, or of hints to chunks.
  WARPHEAP_FN segment_queue<kind_type> queue(std::uint32_t q) const {
    return {chunks().of_class(q).queue, kind(q, chunks().control().chunks)};
  }

  /// The kind of size q's queue: how its segments are stored in a heap of so many chunks.
  WARPHEAP_FN kind_type kind(std::uint32_t q, std::uint64_t heap_chunks) const {
    if constexpr (Layout::queues_use_chunks) {
      const chunk_segments segments{chunks().data(), Layout::chunk_shift};
      return kind_type{{segments, chunks().free_chunks(), Layout::largest_segment(heap_chunks, q)}};
    } else {
      (void)q, (void)heap_chunks;
      return kind_type{flat()};
    }
  }

  /// Opens the next segment of the queue of size q: the part of a push that needs to know how long
  /// a segment may become. Collective over the opener's group.
  ///
  /// It is a call of its own, so that a push keeps none of that in registers: with it every kernel
  /// that frees would have 66 of them, and a block of 1,024 threads could not start.
  WARPHEAP_COLD_FN void open(std::uint32_t q, lane_mask openers, batch_ring::batch newest) const {
    queue(q).open(openers, newest);
  }

  /// Returns what the queue of size q keeps in reserve; true if it kept anything. One lane.
  ///
  /// A call of its own for the same reason as `open`.
  WARPHEAP_COLD_FN bool trim_queue(std::uint32_t q) const { return queue(q).trim(); }

  /// Returns what the queues of all sizes keep in reserve; true if they kept anything. Collective;
  /// any group may call it.
  WARPHEAP_COLD_FN bool trim_queues(lane_mask group) const {
    bool found = false;
    if constexpr (Layout::queues_use_chunks) {
      if (is_leader(group)) {
        for (std::uint32_t q = 0; q < Layout::classes; ++q) {
          if (trim_queue(q)) found = true;
        }
      }
    }
    return any(group, found);
  }

  /// True if the chunk that `segment` begins in exists and has memory, where segments lie in chunks: `heap_chunks` is
  /// how many chunks the heap has. For a reader whose name may be out of date.
  WARPHEAP_FN bool is_readable(std::uint32_t segment, std::uint64_t heap_chunks) const {
    if constexpr (!Layout::queues_use_chunks) return true;
    const std::uint32_t chunk = segment & ~chunk_segments::dense;
    return chunk < heap_chunks && chunks().owner_of(chunk) != chunk_record::withdrawn;
  }

  /// Entries of staging segment `id`, as 64-bit numbers of pages.
  WARPHEAP_FN std::uint64_t* staging(std::uint32_t id) const {
    return reinterpret_cast<std::uint64_t*>(&flat().entry(id, 0));
  }

  /// Entry `place` of the segment that `from` names.
  WARPHEAP_FN std::uint64_t entry(source from, std::uint32_t place) const {
    const auto id = static_cast<std::uint32_t>(from.base());
    if (from.what() == source::staged_pages) return staging(id)[place];
    if (from.what() == source::staged_chunks) return flat().entry(id, place);
    if constexpr (Layout::queues_use_chunks) {
      return chunk_segments{chunks().data(), Layout::chunk_shift}.entry(id, place);
    }
    return flat().entry(id, place);
  }

  /// Retires the segment that `from` names, of size q, after the last entry was read. One lane.
  WARPHEAP_FN void retire(std::uint32_t q, source from) const {
    // A call that takes this part's address keeps it in the stack frame of malloc. So static queues
    // pass what the call needs by value.
    if constexpr (Layout::queues_use_chunks) {
      retire_any(q, from);
    } else {
      retire_flat(flat(), static_cast<std::uint32_t>(from.base()));
    }
  }

  /// The staging segment for the next batch of size q. Collective over the refiller's group.
  WARPHEAP_FN std::uint32_t next_staging(std::uint32_t q, lane_mask group) const {
    std::uint32_t id = 0;
    if (is_leader(group)) {
      id = static_cast<std::uint32_t>((2 * q + (chunks().of_class(q).turn & 1)) * Layout::staging_segment);
    }
    return shuffle(group, id, leader(group));
  }

  /// Marks staging segment `id` as used, before a batch that names it is published. Relaxed: the
  /// publisher releases it. One lane.
  WARPHEAP_FN void use_staging(std::uint32_t id) const {
    atomic_view{flat().header(id).in_use}.store(1, memory_order::relaxed, thread_scope::device);
  }

  /// Waits until the batch of two turns ago is read, and acquires what its readers did; they run.
  /// Collective over the refiller's group.
  WARPHEAP_FN void await_staging(lane_mask group, std::uint32_t id) const {
    if (is_leader(group)) {
      const atomic_view in_use{flat().header(id).in_use};
      for (backoff wait; in_use.load(memory_order::acquire, thread_scope::device) != 0;) wait.pause();
    }
    sync(group);
  }

 private:
  WARPHEAP_COLD_FN static void retire_flat(flat_segments segments, std::uint32_t id) { segments.retire(id); }
  // A call of its own for the same reason as `open`.
  WARPHEAP_COLD_FN void retire_any(std::uint32_t q, source from) const {
    const auto id = static_cast<std::uint32_t>(from.base());
    if (from.what() == source::queued) {
      return kind(q, chunks().control().chunks).retire(chunks().of_class(q).queue, id);
    }
    flat().retire(id);
  }

  ouroboros_chunks<Layout> chunks_;
};

}  // namespace warpheap::detail
