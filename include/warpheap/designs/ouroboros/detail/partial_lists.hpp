// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocator/device.hpp>
#include <warpheap/designs/ouroboros/detail/page_bits.hpp>
#include <warpheap/platform/device.hpp>

namespace warpheap::detail {

/// No chunk, where a function returns the number of one.
inline constexpr std::uint64_t no_chunk = unlimited;

/// The partial lists: for each page size the chunks that have deferred pages, and whose hint is in
/// no queue.
///
/// Any thread pushes. Only the size's refiller, or a sweep in its place, takes from the list, and
/// takes all of it; what it has not visited is its `chain`. Chunks whose pages do not fit the
/// refiller's staging segment are *carried*: `carry` keeps them for the next refill.
///
/// Invariant: a chunk is on one list, chain or carry at most, since it has one link. It has the
/// hint field `in_list` from before it is pushed until it is taken off for good, and is not given
/// back in between. Links are written after the head, so a reader waits for a link that is still
/// pending; the thread that pushed the chunk runs. No link is read after its chunk was pushed
/// again, so no ABA occurs.
template <class Layout>
class ouroboros_partial_lists {
 public:
  using page_class = typename Layout::page_class;

  WARPHEAP_FN explicit ouroboros_partial_lists(const arena& from) : bits_(from) {}
  WARPHEAP_FN const ouroboros_page_bits<Layout>& bits() const { return bits_; }
  WARPHEAP_FN const ouroboros_queues<Layout>& queues() const { return bits_.queues(); }
  WARPHEAP_FN const ouroboros_chunks<Layout>& chunks() const { return bits_.chunks(); }

  /// Puts `chunk` on the list of size q. An exchange of the head never has to be repeated, however
  /// many threads push; a thread that empties the list may see the chunk before its link.
  WARPHEAP_FN void list(std::uint32_t q, std::uint64_t chunk) const {
    using enum memory_order;
    using enum thread_scope;
    const atomic_view link{chunks().record(chunk).link};
    link.store(chunk_record::link_pending, relaxed, device);
    const std::uint32_t first =
        atomic_view{chunks().of_class(q).list_head}.exchange(static_cast<std::uint32_t>(chunk) + 1, release, device);
    link.store(first, release, device);
  }

  /// The chunk after `chunk` in a list that was emptied, plus 1; 0 at the end. Waits for the thread
  /// that pushed `chunk`, which runs and waits for no other.
  WARPHEAP_FN std::uint32_t following(std::uint64_t chunk) const {
    const atomic_view link{chunks().record(chunk).link};
    std::uint32_t next = link.load(memory_order::acquire, thread_scope::device);
    for (backoff wait; next == chunk_record::link_pending;) {
      wait.pause();
      next = link.load(memory_order::acquire, thread_scope::device);
    }
    return next;
  }

  /// Stores the chunk of each lane of `late` after those that are carried, and returns how many
  /// are carried then: the caller calls `set_carried` when it has read what it needs.
  WARPHEAP_FN std::uint32_t carry(std::uint32_t q, lane_mask late, std::uint64_t chunk) const {
    page_class& size = chunks().of_class(q);
    if ((late & lane_bit()) != 0) {
      size.carry[size.carried + static_cast<std::uint32_t>(popcount(lanes_below(late)))] =
          static_cast<std::uint32_t>(chunk);
    }
    return size.carried + static_cast<std::uint32_t>(popcount(late));
  }
  /// Sets the number of carried chunks. One lane of the refiller's group.
  WARPHEAP_FN void set_carried(std::uint32_t q, std::uint32_t count) const {
    atomic_view{chunks().of_class(q).carried}.store(count, memory_order::relaxed, thread_scope::device);
  }

  /// Puts the carried chunks back on the list. Collective over the refiller's group.
  WARPHEAP_COLD_FN void list_carried(std::uint32_t q, lane_mask group) const {
    page_class& size = chunks().of_class(q);
    const std::uint32_t carried = size.carried;
    sync(group);
    for (auto i = static_cast<std::uint32_t>(group_rank(group)); i < carried;
         i += static_cast<std::uint32_t>(group_size(group))) {
      list(q, size.carry[i]);
    }
    sync(group);
    if (is_leader(group)) set_carried(q, 0);
  }

  /// A carried chunk for each lane, or a chunk of the list if none is carried; `no_chunk` for lanes
  /// without one. Collective over the refiller's group.
  WARPHEAP_FN std::uint64_t next_candidate(std::uint32_t q, lane_mask group) const {
    page_class& size = chunks().of_class(q);
    const std::uint32_t carried = size.carried;
    if (carried == 0) return next_listed(q, group);
    const auto rank = static_cast<std::uint32_t>(group_rank(group));
    const auto lanes = static_cast<std::uint32_t>(group_size(group));
    // From the end, so that those which a smaller group leaves stay where they are.
    const std::uint32_t rest = carried < lanes ? 0 : carried - lanes;
    const std::uint64_t mine = rest + rank < carried ? size.carry[rest + rank] : no_chunk;
    sync(group);
    if (is_leader(group)) set_carried(q, rest);
    sync(group);
    return mine;
  }

 private:
  /// The next chunk of the list for each lane, as far as there are that many; `no_chunk` for the
  /// others. Collective over the refiller's group.
  WARPHEAP_COLD_FN std::uint64_t next_listed(std::uint32_t q, lane_mask group) const {
    using enum memory_order;
    using enum thread_scope;
    page_class& size = chunks().of_class(q);
    std::uint64_t mine = no_chunk;
    std::uint32_t at = size.chain;
    sync(group);
    for (int i = 0; i < group_size(group); ++i) {
      if (at == 0) {
        std::uint32_t first = 0;
        // Acquires the links.
        if (is_leader(group) && atomic_view{size.list_head}.load(relaxed, device) != 0) {
          first = atomic_view{size.list_head}.exchange(0, memory_order::acquire, device);
        }
        at = shuffle(group, first, leader(group));
        sync(group);
      }
      if (at == 0) break;
      if (group_rank(group) == i) mine = at - 1;
      at = following(at - 1);
    }
    if (is_leader(group)) size.chain = at;
    sync(group);
    return mine;
  }

  ouroboros_page_bits<Layout> bits_;
};

}  // namespace warpheap::detail
