// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/ouroboros/items.hpp>
#include <warpheap/platform/device.hpp>
#include <warpheap/structures.hpp>
#include <warpheap/sync.hpp>

namespace warpheap {

/// The record of one chunk. All zero: free, or never used.
struct chunk_record {
  /// What uses the chunk: a page size (1 + its number), the first of a run of n chunks (`run_base` + n), or the host
  /// (`withdrawn`). Written with each page that is handed out, always the same value as long as the chunk stays with
  /// its owner.
  std::uint32_t owner;
  std::uint32_t link;  ///< next chunk of the partial list, plus 1; `link_pending` until that is known
  /// Free pages that wait in the bitmap (10 bits) | where a hint to them lies (6) | how often it was given back (48).
  std::uint64_t state;
  std::uint32_t bits[16];  ///< a bit for each page that waits here; set before it is counted, cleared after

  static constexpr std::uint32_t withdrawn = 31;  ///< not in the heap for now, perhaps without memory
  static constexpr std::uint32_t run_base = 32;
  static constexpr std::uint32_t link_pending = ~0u;
};

/// The parts of `chunk_record::state`. One word, so that the count, the hint's place and the number of lives change at
/// once.
struct chunk_state {
  std::uint64_t word;

  static constexpr std::uint64_t no_hint = 0;
  static constexpr std::uint64_t in_list = 63;  ///< the chunk is on the partial list of its owner

  WARPHEAP_FN std::uint32_t count() const { return static_cast<std::uint32_t>(word) & 1023; }
  WARPHEAP_FN std::uint64_t hint() const { return word >> 10 & 63; }
  WARPHEAP_FN chunk_state with_hint(std::uint64_t hint) const {
    return {(word & ~(std::uint64_t{63} << 10)) | hint << 10};
  }
  WARPHEAP_FN chunk_state with_count(std::uint32_t count) const { return {(word & ~std::uint64_t{1023}) | count}; }
  WARPHEAP_FN chunk_state next_life() const { return {word + (std::uint64_t{1} << 16)}; }
};

/// The records of 64 chunks, with the word of the set of free chunks that stands for them.
struct chunk_group {
  static constexpr std::uint32_t chunks = bit_tree::leaf_bits;
  std::uint64_t free;
  std::uint64_t padding;  ///< records begin at a multiple of 16 bytes
  chunk_record record[chunks];
};

/// What a batch of pages is, in 52 bits: its kind (3 bits), where it begins (45), and how many units an entry stands
/// for (the binary logarithm, 4).
struct ouroboros_source {
  enum kind : std::uint32_t {
    none,          ///< no pages: the heap was full
    run,           ///< pages of neighbouring chunks, from chunk `base` on
    queued,        ///< entries of segment `base` of the size's queue: pages, or hints to chunks that may have some
    staged_pages,  ///< entries of staging segment `base`, which are pages
    staged_chunks  ///< all pages of the chunks that are entries of staging segment `base`
  };
  std::uint64_t word;

  static constexpr int shift_at = 48;
  WARPHEAP_FN static ouroboros_source make(kind what, std::uint64_t base, std::uint32_t shift = 0) {
    return {std::uint64_t{shift} << shift_at | base << 3 | std::uint64_t{what}};
  }
  WARPHEAP_FN std::uint64_t base() const { return (word & ((std::uint64_t{1} << shift_at) - 1)) >> 3; }
  WARPHEAP_FN std::uint32_t shift() const { return static_cast<std::uint32_t>(word >> shift_at); }
  WARPHEAP_FN kind what() const { return static_cast<kind>(word & 7); }
};

/// Where everything lies in the metadata: control | words of segments | groups of chunk records.
template <class Items, class Kind, ouroboros_options Options>
struct ouroboros_layout {
  static_assert(is_power_of_two(Options.chunk_bytes) && Options.chunk_bytes >= 4096 && Options.chunk_bytes <= 8192,
                "ouroboros: chunks are of 4096 or 8192 bytes");
  static_assert(is_power_of_two(Options.largest_page) && Options.largest_page >= Options.chunk_bytes,
                "ouroboros: the largest page is a power of two and at least a chunk");

  using kind_type = Kind;
  static constexpr std::uint32_t chunk_bytes = Options.chunk_bytes;
  static constexpr bool queues_use_chunks = uses_chunks<Kind>;

  WARPHEAP_FN static constexpr std::uint32_t log2(std::uint64_t value) { return value <= 1 ? 0 : 1 + log2(value / 2); }

  static constexpr std::uint32_t page_shift = 4;  // the smallest page has 16 bytes
  static constexpr std::uint32_t chunk_shift = log2(Options.chunk_bytes);
  static constexpr std::uint32_t classes = log2(Options.largest_page) - page_shift + 1;
  static constexpr std::uint32_t chunk_classes = chunk_shift - page_shift + 1;  // page sizes up to a chunk

  static_assert(classes < chunk_record::withdrawn,
                "ouroboros: the largest page is so large that its number means more");

  WARPHEAP_FN static constexpr std::uint32_t page_bytes(std::uint32_t q) { return 1u << (page_shift + q); }
  // Pages of a chunk; for sizes above a chunk one, of several chunks.
  WARPHEAP_FN static constexpr std::uint32_t pages(std::uint32_t q) { return 1u << pages_log2(q); }
  WARPHEAP_FN static constexpr std::uint32_t pages_log2(std::uint32_t q) {
    return q < chunk_classes ? chunk_classes - 1 - q : 0;
  }
  WARPHEAP_FN static constexpr std::uint32_t chunks_of_page(std::uint32_t q) {
    return q < chunk_classes ? 1 : 1u << (q - chunk_classes + 1);
  }
  // Entries number pages; those of several chunks, which may begin at any chunk, by their first chunk.
  WARPHEAP_FN static constexpr std::uint32_t entry_shift(std::uint32_t q) {
    return q < chunk_classes ? page_shift + q : chunk_shift;
  }
  WARPHEAP_FN static constexpr bool stores_pages(std::uint32_t q) { return Items::stores_pages(page_bytes(q)); }

  // State of one page size. What mallocs touch, where frees push and what deferred frees touch begin lines of their
  // own; the refiller's fields follow on the last.
  struct page_class {
    batch_ring supply;                     // units are pages, for mallocs
    typename Kind::state queue;            // where frees put them, or hints to chunks that have some
    alignas(128) std::uint32_t list_head;  // the partial list: first chunk plus 1
    std::uint32_t fully_free;              // about how many chunks of the list are fully free
    change_counter<std::uint64_t>
        moves;  // free pages on their way to where a search finds them: hints, chunks given back
    // The rest belongs to the refiller, or to the holder of the lock while `waiting` is set.
    std::uint32_t waiting;  // the refiller waits for the lock
    std::uint32_t turn;
    std::uint32_t fresh;    // pages that were asked of the free chunks last; 0 after a sweep
    std::uint32_t chain;    // rest of a list that was emptied, not visited yet: first chunk plus 1
    std::uint32_t carried;  // chunks in `carry`: taken off the list, they did not fit a batch
    std::uint32_t carry[32];
    std::uint64_t arrived;  // threads that have done their share of a compaction; else 0
  };

  struct control {
    page_class classes[ouroboros_layout::classes];
    alignas(128) spin_lock lock;
    std::uint64_t chunks;  // that the heap has now
    alignas(128) bit_tree::levels free_chunks;
  };

  // Pages that are asked of the free chunks at a time: at least so many, and unless more are wanted no more than one
  // part in `fresh_share` of the heap.
  static constexpr std::uint32_t least_fresh = 1u << 16;
  static constexpr std::uint32_t fresh_share = 16;
  // A run of fewer chunks is not worth a batch of its own.
  static constexpr std::uint32_t short_run = 64;

  // Each size has two staging segments, used in turn. Pages are entries of 64 bits there, chunks of 32.
  static constexpr std::uint32_t staging_size = 3;
  static constexpr std::uint32_t staging_capacity = segment_capacity(staging_size) / 2;
  static constexpr std::uint64_t staging_segment = std::uint64_t{1} << staging_size;  // in units of segment_words
  static constexpr std::uint64_t staging_segments = 2 * std::uint64_t{classes} * staging_segment;

  // Bytes of the heap for each entry that the queue of class q can have: it has each page once, or a hint to each
  // chunk.
  WARPHEAP_FN static constexpr std::uint64_t item_bytes(std::uint32_t q) {
    return stores_pages(q) || q >= chunk_classes ? page_bytes(q) : Options.chunk_bytes;
  }
  // Binary logarithm of the chunks of a segment that has room for all that the virtualised queue of class q can have,
  // in a heap of so many chunks.
  WARPHEAP_FN static constexpr std::uint32_t largest_segment(std::uint64_t chunks, std::uint32_t q) {
    constexpr std::uint64_t of_chunk = Options.chunk_bytes / sizeof(std::uint32_t) - segment_words;
    const std::uint64_t entries = chunks * Options.chunk_bytes / item_bytes(q);
    const auto log2 = entries <= of_chunk ? 0 : static_cast<std::uint32_t>(highest_bit((entries - 1) / of_chunk)) + 1;
    return log2 < virtual_queue::most_chunks_log2 ? log2 : virtual_queue::most_chunks_log2;
  }
  // Entries that the static queue of class q has room for, headers among them: all, or what the options say.
  WARPHEAP_FN static constexpr std::uint64_t ring_entries(std::uint64_t bytes, std::uint32_t q) {
    const std::uint64_t item = item_bytes(q);
    return bytes / item < Options.queue_entries ? bytes / item : Options.queue_entries;
  }
  // Segments of its ring. A refill takes what is queued and ends a segment with it. Hints are few, as often as not,
  // and a malloc that reads one is not done at once: so many such segments can be under way, as long as each has room
  // for what a refill takes where hints are many.
  WARPHEAP_FN static constexpr std::uint32_t ring_segments(std::uint64_t bytes, std::uint32_t q) {
    constexpr std::uint32_t least = 4, most = 64;
    constexpr std::uint64_t least_hints = 2048;  // of a segment, if there are more than the least
    std::uint32_t segments = least;
    while (!stores_pages(q) && segments < most && ring_entries(bytes, q) / (2 * segments) >= least_hints) segments *= 2;
    return segments;
  }
  // The size of each.
  WARPHEAP_FN static constexpr std::uint32_t ring_segment_size(std::uint64_t bytes, std::uint32_t q) {
    std::uint32_t size = 1;
    while (ring_segments(bytes, q) * std::uint64_t{segment_words << size} < ring_entries(bytes, q)) ++size;
    return size;
  }
  // First segment of the ring of class q, in units of segment_words; for q == classes the end of them all.
  WARPHEAP_FN static constexpr std::uint64_t ring_begin(std::uint64_t bytes, std::uint32_t q) {
    std::uint64_t at = staging_segments;
    if constexpr (!uses_chunks<Kind>) {
      for (std::uint32_t i = 0; i < q; ++i) at += std::uint64_t{ring_segments(bytes, i)} << ring_segment_size(bytes, i);
    }
    return at;
  }
  // The ring of class q.
  WARPHEAP_FN static constexpr static_ring::extent ring(std::uint64_t bytes, std::uint32_t q) {
    const segment_name first{static_cast<std::uint32_t>(ring_begin(bytes, q)), ring_segment_size(bytes, q)};
    return {first.packed(), ring_segments(bytes, q)};
  }
  // True if heaps of these sizes have the same rings.
  WARPHEAP_FN static constexpr bool same_rings(std::uint64_t bytes, std::uint64_t others) {
    for (std::uint32_t q = 0; q < classes; ++q) {
      if (ring(bytes, q) != ring(others, q)) return false;
    }
    return true;
  }

  WARPHEAP_FN static constexpr std::uint64_t words_at() { return align_up(sizeof(control), 256); }
  WARPHEAP_FN static constexpr std::uint64_t groups_at(std::uint64_t bytes) {
    return words_at() + ring_begin(bytes, classes) * segment_words * sizeof(std::uint32_t);
  }
  WARPHEAP_FN static constexpr std::uint64_t metadata_bytes(std::uint64_t bytes) {
    return groups_at(bytes) + divide_up(bytes / Options.chunk_bytes, chunk_group::chunks) * sizeof(chunk_group);
  }
};

}  // namespace warpheap
