// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/kma/kma.hpp>

// malloc. Lanes that want the same class of the same heap are peers; their leader acts for all of them. The quick path
// is two atomics: permits of the state word of the current superblock, and bits of its bitmap.
// Lanes that have their blocks wait for the others of their group, so a warp leaves together.

namespace warpheap {

template <kma_options Options>
WARPHEAP_FN void* basic_kma<Options>::malloc(std::uint64_t bytes) const {
  if (bytes > classes::largest_bytes) return cold_call([*this, bytes] { return take_pages(bytes); });
  return take_block(active_group(), classes::of(bytes));
}

template <kma_options Options>
WARPHEAP_FN void* basic_kma<Options>::aligned_malloc(std::uint64_t alignment, std::uint64_t bytes) const {
  // Blocks of 16, 32 and 64 bytes are aligned to their size, and so are blocks of pages.
  if (alignment <= capabilities.alignment) return malloc(bytes);
  const std::uint64_t least = bytes > alignment ? bytes : alignment;
  if (least > classes::largest_aligned) return cold_call([*this, least] { return take_pages(least); });
  return take_block(active_group(), classes::of(least));
}

/// Takes a block for each lane of `group`, whose lanes may want different classes and use different heaps. Collective.
template <kma_options Options>
WARPHEAP_FN void* basic_kma<Options>::take_block(lane_mask group, std::uint32_t c) const {
  static_assert(classes::count <= alignof(control));  // the key leaves room for the class
  const lane_mask peers = match(group, pages().key() | c);
  draw got{0, 0, 0};
  std::uint64_t bits = 0;
  if (is_leader(peers)) {
    got = currents().draw(c, currents().home(), static_cast<std::uint32_t>(group_size(peers)));
    if (got.permits != 0) bits = superblocks().claim_near(got, c);
  }
  sync(group);  // passes on what the leaders acquired
  const int first = leader(peers);
  got = {shuffle(group, got.page, first), shuffle(group, got.permits, first), shuffle(group, got.start, first)};
  bits = shuffle(group, bits, first);
  const auto served = static_cast<std::uint32_t>(popcount(bits));
  const auto rank = static_cast<std::uint32_t>(group_rank(peers));
  void* block = nullptr;
  if (rank < served) {
    constexpr std::uint32_t word_bits = slot_bits<>::word_bits;
    const auto bit = static_cast<std::uint32_t>(nth_set_bit(bits, static_cast<int>(rank)));
    block = superblocks().block_at(got.page, c, got.start / word_bits * word_bits + bit);
  }
  if (all(group, block != nullptr)) return block;
  got.permits -= served;
  block = cold_call([*this, group, peers, c, got, block] { return take_rest(group, peers, c, got, block); });
  sync(group);
  return block;
}

/// Takes a block for each lane of `group` that has none. `got` holds the permits of its superblock that are not blocks
/// yet: one for each of the lowest lanes of `peers` without a block. Collective over `group`.
template <kma_options Options>
WARPHEAP_COLD_FN void* basic_kma<Options>::take_rest(lane_mask group, lane_mask peers, std::uint32_t c, draw got,
                                                     void* block) const {
  const lane_mask lacking = ballot(peers, block == nullptr);
  const bool holds = block == nullptr && static_cast<std::uint32_t>(group_rank(lacking)) < got.permits;
  const lane_mask holders = ballot(peers, holds);
  if (holds) block = superblocks().claim(holders, got, c);
  const lane_mask rest = ballot(group, block == nullptr);
  if (block == nullptr) block = search().find(rest, c);
  return block;
}

/// Takes a power of two of pages.
template <kma_options Options>
WARPHEAP_COLD_FN void* basic_kma<Options>::take_pages(std::uint64_t bytes) const {
  if (bytes > capabilities.largest_bytes) return nullptr;
  const std::uint32_t order = page_source::order_for(divide_up(bytes, layout::page_bytes));
  // More than the heap has: nothing gives way for it.
  if (std::uint64_t{1} << order > pages().control().end - pages().first_page()) return nullptr;
  const lane_mask group = active_group();
  void* const block = search().find_pages(group, order);
  sync(group);
  return block;
}

}  // namespace warpheap
