// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocator/device.hpp>
#include <warpheap/designs/ouroboros/detail/queues.hpp>
#include <warpheap/platform/device.hpp>

namespace warpheap::detail {

/// The bitmaps of chunks: a set bit is a free page that is in no queue and no batch.
///
/// Invariant: at least as many bits of a chunk are set as its count says and as threads have taken
/// from the count. A bit is set before its page is counted, and cleared by a thread that took a
/// page from the count. So that thread finds a bit, perhaps not one of those that were counted; any
/// set bit is a free page.
///
/// Setting a bit releases what the page's last user did; clearing it acquires that.
template <class Layout>
class ouroboros_page_bits {
 public:
  WARPHEAP_FN explicit ouroboros_page_bits(const arena& from) : queues_(from) {}
  WARPHEAP_FN const ouroboros_queues<Layout>& queues() const { return queues_; }
  WARPHEAP_FN const ouroboros_chunks<Layout>& chunks() const { return queues_.chunks(); }

  /// Sets the bit of the page at `offset` of each lane of `peers`, whose pages are of one chunk and
  /// of size q. The caller has synchronised `peers` since they last accessed them. Collective.
  WARPHEAP_FN void set_bits(lane_mask peers, std::uint32_t q, std::uint64_t offset) const {
    using enum memory_order;
    using enum thread_scope;
    const std::uint64_t chunk = offset >> Layout::chunk_shift;
    const std::uint32_t page =
        static_cast<std::uint32_t>(offset & (Layout::chunk_bytes - 1)) >> (Layout::page_shift + q);
    const lane_mask same_word = match(peers, page / 32);
    const std::uint32_t mask = reduce(same_word, 1u << page % 32, bit_or{});
    if (is_leader(same_word)) atomic_view{chunks().record(chunk).bits[page / 32]}.fetch_or(mask, release, device);
  }

  /// Clears a set bit of `chunk` for a lane that took a page from the count, and returns the number
  /// of the page. Callers with other ranks try other bits first. One lane.
  WARPHEAP_FN std::uint64_t take_page_bit(std::uint32_t q, std::uint64_t chunk, std::uint32_t rank) const {
    using enum memory_order;
    using enum thread_scope;
    const std::uint32_t words = divide_up(Layout::pages(q), 32);
    for (std::uint32_t word = 0;; word = word + 1 < words ? word + 1 : 0) {
      // not a spin: a lane that is too late lost its bit to a lane that is served
      const atomic_view bits{chunks().record(chunk).bits[word]};
      std::uint32_t there = bits.load(relaxed, device);
      for (; there != 0 && rank != 0; --rank) there &= there - 1;
      if (there == 0) continue;
      const std::uint32_t bit = there & (0u - there);
      // Acquires what the page's last user did.
      if ((bits.fetch_and(~bit, acquire, device) & bit) == 0) continue;
      return chunk * Layout::pages(q) + word * 32 + static_cast<std::uint64_t>(lowest_bit(bit));
    }
  }

  /// Clears `count` set bits of `chunk` and writes the numbers of their pages from `to` on. One
  /// lane of the refiller's group, which took that many pages from the count. Other threads may
  /// clear bits meanwhile, but leave as many.
  WARPHEAP_FN void take_page_bits(std::uint32_t q, std::uint64_t chunk, std::uint32_t count, std::uint64_t* to) const {
    using enum memory_order;
    using enum thread_scope;
    constexpr std::uint32_t words = sizeof(chunk_record::bits) / sizeof(std::uint32_t);
    const std::uint64_t first = chunk * Layout::pages(q);
    for (std::uint32_t word = 0; count != 0; word = (word + 1) % words) {
      const atomic_view bits{chunks().record(chunk).bits[word]};
      std::uint32_t wanted = 0;
      std::uint32_t left = count;
      // not a spin: each turn drops a bit of a word that was read once
      for (std::uint32_t there = bits.load(relaxed, device); there != 0 && left != 0; there &= there - 1, --left) {
        wanted |= there & (0u - there);
      }
      if (wanted == 0) continue;
      for (std::uint32_t got = bits.fetch_and(~wanted, acquire, device) & wanted; got != 0; got &= got - 1, --count) {
        *to++ = first + word * 32 + static_cast<std::uint64_t>(lowest_bit(got));
      }
    }
  }

  /// Clears all bits of a chunk whose pages are all free and no longer counted.
  WARPHEAP_FN void clear_bits(std::uint64_t chunk) const {
    for (std::uint32_t& word : chunks().record(chunk).bits) {
      atomic_view{word}.store(0, memory_order::relaxed, thread_scope::device);
    }
  }

 private:
  ouroboros_queues<Layout> queues_;
};

}  // namespace warpheap::detail
