// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>
#include <warpheap/structures/bit_tree.hpp>

namespace warpheap {

/// Memory in pages of 2^`page_shift` bytes that are numbered from 0 on, and the set of those that are free.
///
/// Invariant: page n lies at `base + n * page_bytes`, and `base` is a multiple of `page_bytes`. A page is in the set,
/// or one owner has it.
///
/// Memory order: that of the set. An owner that gives a page back has acquired what the users of the page did; adding
/// the page to the set releases that, and taking it acquires.
template <std::uint32_t page_shift>
class page_heap {
 public:
  /// Bytes of a page.
  static constexpr std::uint64_t page_bytes = std::uint64_t{1} << page_shift;
  /// Pages that a heap can have.
  static constexpr std::uint64_t most_pages = std::uint64_t{bit_tree::most_leaves} * bit_tree::leaf_bits;

  /// The address of page 0 in memory that begins at `data`: what lies before it, less than a page, is not used.
  WARPHEAP_FN static std::byte* first_page(std::byte* data) {
    return reinterpret_cast<std::byte*>(align_up(reinterpret_cast<std::uint64_t>(data), page_bytes));
  }
  /// Number of whole pages in memory of `bytes` bytes, of which `lead` lie before page 0.
  WARPHEAP_FN static std::uint64_t pages_in(std::uint64_t bytes, std::uint64_t lead) {
    const std::uint64_t pages = bytes < lead ? 0 : (bytes - lead) >> page_shift;
    return pages < most_pages ? pages : most_pages;
  }

  /// The pages from address `base` on, of which those in the set `free` are free.
  WARPHEAP_FN page_heap(const std::byte* base, bit_tree free) : base_(base), free_(free) {}

  /// Adds pages [from, to) to the free ones: the share of thread `index` of `threads` threads.
  WARPHEAP_FN void add(std::uint64_t from, std::uint64_t to, std::uint64_t index, std::uint64_t threads) const {
    const std::uint64_t part = free_.added_at_once();
    for (std::uint64_t i = from / part + index; i * part < to; i += threads) {
      const std::uint64_t begin = i * part < from ? from : i * part;
      const std::uint64_t end = (i + 1) * part < to ? (i + 1) * part : to;
      free_.add({begin, end - begin});
    }
  }
  /// Makes a heap of `pages` pages one of `more`: adds the new pages and stores their number. All threads of a grid
  /// call; no thread takes pages meanwhile.
  WARPHEAP_FN void grow(std::uint64_t& pages, std::uint64_t more) const {
    // One block does it, because its threads must all read the old end before it changes.
    if (block_index() != 0) return;
    const std::uint64_t from = pages;
    sync_block();
    add(from, more, thread_index(), block_threads());
    if (thread_index() == 0) pages = more;
  }
  /// Takes all free pages out of the set: `units[i]` gets a bit for each taken page from 64 i on. The share of thread
  /// `index` of `threads` threads; the heap has `pages` pages. Other threads may take pages, and add them.
  WARPHEAP_FN void withdraw(std::uint64_t pages, std::uint64_t* units, std::uint64_t index,
                            std::uint64_t threads) const {
    for (std::uint64_t i = index, leaves = divide_up(pages, bit_tree::leaf_bits); i < leaves; i += threads) {
      std::uint64_t taken = 0;
      for (std::uint64_t left = free_.leaf_word(static_cast<std::uint32_t>(i));
           left != 0;) {  // not a spin: a run a turn
        const int first = lowest_bit(left);
        const std::uint32_t count = detail::trailing_ones(left >> first);
        const std::uint64_t run = detail::bit_range(first, count);
        if (free_.take_exactly({i * bit_tree::leaf_bits + first, count})) taken |= run;
        left &= ~run;
      }
      units[i] = taken;
    }
  }
  /// Adds the pages to the set whose bits are set in `units`: the share of thread `index` of `threads` threads.
  WARPHEAP_FN void restore(std::uint64_t pages, const std::uint64_t* units, std::uint64_t index,
                           std::uint64_t threads) const {
    for (std::uint64_t i = index, leaves = divide_up(pages, bit_tree::leaf_bits); i < leaves; i += threads) {
      if (units[i] != 0) free_.add(static_cast<std::uint32_t>(i), units[i]);
    }
  }
  /// Takes a span of `least` to `most` free pages whose address is a multiple of `alignment` pages, a power of two; its
  /// count is a multiple of `least`, or 0 if at one moment of the call there was no such span. One lane at a time;
  /// others may add and take in other ways.
  WARPHEAP_FN index_run take_neighbours(std::uint32_t least, std::uint32_t most, std::uint32_t alignment) const {
    const std::uint64_t phase = reinterpret_cast<std::uint64_t>(base_) >> page_shift;
    const bit_tree set = free_;  // alone in memory for the call
    return set.take_neighbours(least, most, alignment, static_cast<std::uint32_t>(phase));
  }

 private:
  const std::byte* base_;
  bit_tree free_;
};

}  // namespace warpheap
