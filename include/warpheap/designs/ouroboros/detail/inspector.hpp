// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>
#include <warpheap/designs/ouroboros/detail/queues.hpp>
#include <warpheap/designs/ouroboros/statistics.hpp>
#include <warpheap/platform.hpp>
#include <warpheap/structures.hpp>
#include <warpheap/sync.hpp>

namespace warpheap::detail {

inline std::uint64_t not_negative(std::int32_t value) { return value < 0 ? 0 : static_cast<std::uint64_t>(value); }

/// The host's view of a heap, for `statistics`. It reads copies of what the design keeps, so it
/// needs no kernel.
///
/// Invariant: while kernels use the heap the copies do not fit each other. So no number from them
/// is followed, or used as an index, before it was seen to be within the heap.
///
/// The record of a chunk names its owner if a page of it was handed out. It names an earlier owner
/// for chunks of a fresh batch of which no page was claimed, for chunks that hold a queue, and for
/// all but the first chunk of a block of several. The first two kinds are known by number and set
/// aside; chunks of the third kind are stepped over.
template <class Layout>
class ouroboros_inspector {
 public:
  using page_class = typename Layout::page_class;
  using source = ouroboros_source;
  using kind_type = typename Layout::kind_type;

  explicit ouroboros_inspector(const ouroboros_queues<Layout>& queues) : queues_(queues) {}
  const ouroboros_queues<Layout>& queues() const { return queues_; }
  const ouroboros_chunks<Layout>& chunks() const { return queues_.chunks(); }

  /// The statistics of the heap, from copies.
  ouroboros_statistics statistics() const {
    const auto control = std::make_unique<typename Layout::control>();
    device_snapshot(control.get(), &chunks().control(), sizeof(*control));
    ouroboros_statistics result{};
    result.chunk_bytes = Layout::chunk_bytes;
    result.chunks = control->chunks;
    std::vector<std::uint64_t> aside(divide_up(control->chunks, chunk_group::chunks));
    for (std::uint32_t q = 0; q < Layout::classes; ++q) {
      result.page_sizes.push_back(inspect_class(q, control->classes[q], aside));
    }
    inspect_chunks(result, aside);
    for (std::uint32_t q = 0; q < Layout::classes; ++q) {
      ouroboros_page_statistics& size = result.page_sizes[q];
      size.pages = size.chunks / Layout::chunks_of_page(q) * Layout::pages(q);
      size.live_pages = size.pages - std::min(size.pages, size.free_pages());
    }
    return result;
  }

 private:
  /// What is known of size q except the chunks that have pages in use, from a copy of its state.
  /// Sets aside the chunks that hold its queue or have no claimed page.
  ouroboros_page_statistics inspect_class(std::uint32_t q, const page_class& size,
                                          std::vector<std::uint64_t>& aside) const {
    ouroboros_page_statistics result{};
    result.page_bytes = Layout::page_bytes(q);
    const std::uint64_t all_chunks = aside.size() * chunk_group::chunks;
    const kind_type of = queues().kind(q, all_chunks);
    const auto exists = [&](std::uint32_t id) {
      if constexpr (!Layout::queues_use_chunks) return true;
      const std::uint32_t chunk = id & ~chunk_segments::dense;
      if (chunk >= all_chunks) return false;
      std::uint32_t owner = 0;
      device_snapshot(&owner, &chunks().record(chunk).owner, sizeof(owner));
      return owner != chunk_record::withdrawn;
    };
    const auto fetch = [&](std::uint32_t id) {
      segment_header header{};
      if (!exists(id)) return header;
      device_snapshot(&header, &of.segments().header(id), sizeof(header));
      header.chunks = std::min(header.chunks, segment_header::most_chunks);
      header.parts = std::min(header.parts, segment_header::most_parts);
      return header;
    };
    const auto add_storage = [&](const segment_header& header) {
      if constexpr (Layout::queues_use_chunks) {
        result.queue_chunks += header.chunks;
        for (std::uint32_t part = 0; part < header.parts; ++part) {
          if (header.leaf[part] < aside.size()) aside[header.leaf[part]] |= header.mask[part];
        }
      }
    };

    // The queue itself. In a list, each segment names the next one.
    segment_name segment{};
    const auto unread = static_cast<std::int32_t>(size.queue.opened - size.queue.adopted);
    const std::uint64_t most = of.most_segments(size.queue, all_chunks);
    for (std::int32_t i = 0; i < unread && static_cast<std::uint64_t>(i) < most; ++i) {
      if constexpr (std::is_same_v<kind_type, virtual_list>) {
        if (i == 0) segment = segment_name::unpack(size.queue.front);
      } else {
        segment = of.following(size.queue, static_cast<std::uint32_t>(i), segment);
      }
      if (!exists(segment.id)) break;
      const segment_header header = fetch(segment.id);
      result.queue_entries += std::min(header.count, segment_capacity(segment.size));
      add_storage(header);
      segment = segment_name::unpack(header.next);
    }
    if constexpr (Layout::queues_use_chunks) {
      for (const std::uint32_t kept : size.queue.reserve) {
        if (kept != 0) add_storage(fetch(segment_name::unpack(kept).id));
      }
    }
    const bool is_open = size.queue.places.what(size.queue.places.newest()) != 0;
    if (size.queue.opened != size.queue.adopted && is_open) {
      // Places that no thread drew.
      result.queue_entries -= std::min(result.queue_entries, detail::not_negative(size.queue.places.balance()));
    }
    if (Layout::stores_pages(q)) result.queued_pages = result.queue_entries;

    // What was taken out of it and is not read to the end.
    const source from{size.supply.what(size.supply.newest())};
    const std::uint64_t unclaimed =
        from.what() != source::none
            ? std::min<std::uint64_t>(detail::not_negative(size.supply.balance()), size.supply.newest().size())
            : 0;
    if (unclaimed != 0 && from.what() == source::queued) {
      // An entry is used up with its last unit.
      const std::uint64_t per_entry = std::uint64_t{1} << from.shift();
      result.queue_entries += divide_up(unclaimed, per_entry);
      add_storage(fetch(static_cast<std::uint32_t>(from.base())));
    }
    result.chunks = set_aside_unclaimed(q, size, static_cast<std::uint32_t>(unclaimed), aside);
    if (from.what() != source::queued || Layout::stores_pages(q)) {
      result.unclaimed_pages = unclaimed;
    }

    result.queue_bytes = result.queue_chunks * Layout::chunk_bytes;
    if constexpr (std::is_same_v<kind_type, virtual_array>) result.queue_bytes += sizeof(size.queue.ring);
    if constexpr (!Layout::queues_use_chunks) {
      const std::uint64_t words = std::uint64_t{segment_words}
                                  << segment_name::unpack(size.queue.ring.packed_first).size;
      result.queue_bytes += size.queue.ring.count * words * sizeof(std::uint32_t);
    }
    return result;
  }

  /// Sets aside the chunks of the newest batch, if it is a fresh one, of which no page was claimed;
  /// returns how many. They lie at the batch's end, as the `unclaimed` pages do.
  std::uint64_t set_aside_unclaimed(std::uint32_t q, const page_class& size, std::uint32_t unclaimed,
                                    std::vector<std::uint64_t>& aside) const {
    const batch_ring::batch newest = size.supply.newest();
    const source from{size.supply.what(newest)};
    if (from.what() != source::run && from.what() != source::staged_chunks) return 0;
    const std::uint32_t end = newest.size() >> Layout::pages_log2(q);
    const std::uint32_t begin = end - (unclaimed >> Layout::pages_log2(q));
    std::vector<std::uint32_t> numbers(from.what() == source::staged_chunks ? end - begin : 0);
    if (!numbers.empty()) {
      const std::uint32_t* const entries = &queues().flat().entry(static_cast<std::uint32_t>(from.base()), begin);
      device_snapshot(numbers.data(), entries, numbers.size() * sizeof(std::uint32_t));
    }
    const std::uint64_t each = Layout::chunks_of_page(q);
    for (std::uint32_t i = begin; i < end; ++i) {
      const std::uint64_t first = from.what() == source::staged_chunks ? numbers[i - begin] : from.base() + i * each;
      for (std::uint64_t chunk = first; chunk < first + each && chunk / chunk_group::chunks < aside.size(); ++chunk) {
        aside[chunk / chunk_group::chunks] |= std::uint64_t{1} << chunk % chunk_group::chunks;
      }
    }
    return (end - begin) * each;
  }

  /// Adds up the records of all chunks but those set aside, a part of them at a time.
  void inspect_chunks(ouroboros_statistics& result, const std::vector<std::uint64_t>& aside) const {
    constexpr std::uint64_t most = 4096;  // groups at a time: 21 MB
    std::vector<chunk_group> groups(std::min(most, std::uint64_t{aside.size()}));
    std::uint64_t at = 0;
    for (std::uint64_t first = 0; first < aside.size(); first += most) {
      const std::uint64_t count = std::min(most, aside.size() - first);
      device_snapshot(groups.data(), chunks().groups() + first, count * sizeof(chunk_group));
      const std::uint64_t end = std::min(result.chunks, (first + count) * chunk_group::chunks);
      while (at < end) {
        const chunk_group& group = groups[at / chunk_group::chunks - first];
        const std::uint64_t bit = std::uint64_t{1} << at % chunk_group::chunks;
        const chunk_record& chunk = group.record[at % chunk_group::chunks];
        std::uint64_t length = 1;
        if ((group.free & bit) != 0) {
          ++result.free_chunks;
        } else if ((aside[at / chunk_group::chunks] & bit) != 0) {
          // counted with its size
        } else if (chunk.owner == chunk_record::withdrawn) {
          ++result.withdrawn_chunks;
        } else if (chunk.owner > chunk_record::run_base) {
          length = std::min<std::uint64_t>(chunk.owner - chunk_record::run_base, result.chunks - at);
          ++result.large_blocks;
          result.large_chunks += length;
        } else {
          const std::uint32_t q = chunk.owner - 1;
          ++at;
          if (q >= Layout::classes) continue;  // on its way to its first owner
          length = Layout::chunks_of_page(q);
          at += length - 1;
          result.page_sizes[q].chunks += length;
          if (q < Layout::chunk_classes) result.page_sizes[q].deferred_pages += chunk_state{chunk.state}.count();
          continue;
        }
        at += length;
      }
    }
  }

  ouroboros_queues<Layout> queues_;
};

}  // namespace warpheap::detail
