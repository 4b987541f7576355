// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/halloc/halloc.hpp>

// malloc. Lanes that want the same class of the same heap are peers; their leader acts for all of them. The quick path
// is two atomics: tickets off the head at home, and bits of the word that these tickets hash to.
// Lanes that have their blocks wait for the others of their group, so a warp leaves together.

namespace warpheap {

template <halloc_options Options>
WARPHEAP_FN void* basic_halloc<Options>::malloc(std::uint64_t bytes) const {
  if (bytes > classes::largest_bytes) return cold_call([*this, bytes] { return take_pages(bytes); });
  return take_block(active_group(), classes::of(bytes));
}

template <halloc_options Options>
WARPHEAP_FN void* basic_halloc<Options>::aligned_malloc(std::uint64_t alignment, std::uint64_t bytes) const {
  // Blocks of 2^k bytes are aligned to their size, as far as the first of a slab is: 64 bytes.
  constexpr std::uint64_t most = 64;
  if (alignment <= capabilities.alignment) return malloc(bytes);
  const std::uint64_t least = bytes > alignment ? bytes : alignment;
  if (alignment > most || least > classes::largest_bytes) {
    return cold_call([*this, least] { return take_pages(least); });
  }
  return malloc(next_power_of_two(least));
}

/// Takes a block for each lane of `group`, whose lanes may want different classes and use different heaps. Collective.
template <halloc_options Options>
WARPHEAP_FN void* basic_halloc<Options>::take_block(lane_mask group, std::uint32_t c) const {
  static_assert(classes::count <= alignof(control));  // the key leaves room for the class
  constexpr std::uint32_t word_bits = slot_bits<>::word_bits;
  const lane_mask peers = match(group, pages().key() | c);
  draw got{0, 0, 0, false};
  std::uint32_t bits = 0;
  if (is_leader(peers)) {
    got = heads().draw(c, heads().home(), static_cast<std::uint32_t>(group_size(peers)));
    if (got.permits != 0) {
      // All from one word: what lies beyond its end is sought at its begin.
      const std::uint32_t wanted = rotate_left(low_bits(static_cast<int>(got.permits)), got.start % word_bits);
      bits = pages().bits(got.page, 0).claim_bits(got.start / word_bits, wanted);
    }
  }
  sync(group);  // passes on what the leaders acquired
  const int first = leader(peers);
  got = {shuffle(group, got.page, first), shuffle(group, got.permits, first), shuffle(group, got.start, first),
         shuffle(group, got.crossed, first)};
  bits = shuffle(group, bits, first);
  const auto served = static_cast<std::uint32_t>(popcount(bits));
  const auto rank = static_cast<std::uint32_t>(group_rank(peers));
  void* block = nullptr;
  if (rank < served) {
    const auto bit = static_cast<std::uint32_t>(nth_set_bit(bits, static_cast<int>(rank)));
    block = slabs().block_at(c, got.page, got.start / word_bits * word_bits + bit);
  }
  if (!any(group, block == nullptr || got.crossed)) return block;
  got.permits -= served;
  block = cold_call([*this, group, peers, c, got, block] { return take_rest(group, peers, c, got, block); });
  sync(group);
  return block;
}

/// Replaces the head if the draw crossed its threshold, and takes a block for each lane of `group` that has none. `got`
/// holds the permits of its slab that are not blocks yet: one for each of the lowest lanes of `peers` without a block.
/// Collective over `group`.
template <halloc_options Options>
WARPHEAP_COLD_FN void* basic_halloc<Options>::take_rest(lane_mask group, lane_mask peers, std::uint32_t c, draw got,
                                                        void* block) const {
  if (got.crossed) {
    typename detail::halloc_search<layout>::outcome ignored{};
    heads().replace(peers, c, heads().home(), 0, ignored);
  }
  const lane_mask lacking = ballot(peers, block == nullptr);
  const bool holds = block == nullptr && static_cast<std::uint32_t>(group_rank(lacking)) < got.permits;
  const lane_mask holders = ballot(peers, holds);
  if (holds) block = slabs().claim(holders, c, got.page, got.start);
  // All lanes meet here. So a lane that searches waits for no replacement by a lane of its warp.
  const lane_mask rest = ballot(group, block == nullptr);
  if (block == nullptr) block = search().find(rest, c);
  return block;
}

/// Takes a power of two of pages.
template <halloc_options Options>
WARPHEAP_COLD_FN void* basic_halloc<Options>::take_pages(std::uint64_t bytes) const {
  if (bytes > capabilities.largest_bytes) return nullptr;
  const std::uint32_t order = page_source::order_for(divide_up(bytes, layout::page_bytes));
  const lane_mask group = active_group();
  void* const block = search().find_pages(group, order);
  sync(group);
  return block;
}

}  // namespace warpheap
