// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>
#include <warpheap/sync.hpp>

namespace warpheap::detail {

// The words of a buddy system. A word of level l has a bit for each of 64 units of 64^l pages: set if that unit is free
// and whole, which means that it is not part of a larger unit that is free and whole.
//
//   rank 0   words of level 0                                            64 in a span
//   rank 1   words of level 1, and for each a word that shows which of the 64 level-0 words below it are not 0
//   rank 2   words of level 2, and words that show the level-1 words, and the words that show level-0 words
//   rank 3   words of level 3, and the same
//
// So at rank r there are r + 1 columns: column r has what is free, column c < r shows what is below of level c.
struct buddy_layout {
  static constexpr std::uint32_t levels = 4;
  static constexpr std::uint32_t page_bits = 26;
  static constexpr std::uint32_t span_pages = 64 * 64;
  static constexpr std::uint32_t orders = 25;
  static constexpr std::uint32_t cache_entries = 256;

  // Ranks 0 and 1: they grow with the pages.
  struct alignas(128) span {
    std::uint64_t leaf[64];
    std::uint64_t rank1[2];  // shown, free
    std::uint8_t tags[span_pages];
  };
  // Changes, counted by those who make them, each near its multiprocessor.
  struct alignas(128) change_stripe : change_counter<std::uint32_t> {};
  static constexpr std::uint32_t stripes = 8;
  // Ranks 2 and 3, and what is one for all.
  struct state {
    std::uint64_t rank2[3][std::uint32_t{1} << (page_bits - 18)];
    std::uint64_t rank3[4][std::uint32_t{1} << (page_bits - 24)];
    std::uint64_t refused[orders];  // 1 + the value of `given` at which there was no block of an order
    alignas(128) std::uint64_t given;
    striped_change_counter<change_stripe, stripes> changes;
    // Of each level: threads that need its units broken, and 2^32 times those that break them.
    alignas(128) std::uint64_t turns[levels];
    alignas(128) std::uint32_t
        cache_entry[cache_entries][levels];  // where a multiprocessor last found something, of each level
  };

  // How many may break units of a level, from 2 on, for so many that are in need of one: a unit serves all of those who
  // want 64 pages each, and it takes a while, so half more, at the lower level eight at least.
  WARPHEAP_FN static constexpr std::uint32_t breakers(std::uint32_t level, std::uint32_t in_need) {
    const std::uint32_t least = level == 2 ? 8 : 1;
    const std::uint32_t enough = ((in_need + in_need / 2) >> 6 * (level - 1)) + 1;
    return enough > least ? enough : least;
  }

  // Words of a level.
  WARPHEAP_FN static constexpr std::uint32_t words(std::uint32_t level) {
    return std::uint32_t{1} << (page_bits - 6 * (level + 1));
  }
};

// The bits of `word` from which 2^order set bits follow, at multiples of 2^order; order from 0 to 6.
WARPHEAP_FN constexpr std::uint64_t block_starts(std::uint64_t word, std::uint32_t order) {
  constexpr std::uint64_t aligned[] = {0xffff'ffff'ffff'ffff, 0x5555'5555'5555'5555, 0x1111'1111'1111'1111,
                                       0x0101'0101'0101'0101, 0x0001'0001'0001'0001, 0x0000'0001'0000'0001,
                                       0x0000'0000'0000'0001};
  for (std::uint32_t step = 1; step < (1u << order); step *= 2) word &= word >> step;
  return word & aligned[order];
}

// All bits of the blocks that begin at `starts`.
WARPHEAP_FN constexpr std::uint64_t block_bits(std::uint64_t starts, std::uint32_t order) {
  for (std::uint32_t step = 1; step < (1u << order); step *= 2) starts |= starts << step;
  return starts;
}

// The lowest `count` set bits of `word`, which has more.
WARPHEAP_FN inline std::uint64_t lowest_set(std::uint64_t word, std::uint32_t count) {
  std::uint32_t end = 0;  // of those that are taken
  for (std::uint32_t width = 32; width != 0; width /= 2) {
    const std::uint64_t lower = word >> end & ((std::uint64_t{1} << width) - 1);
    const auto below = static_cast<std::uint32_t>(popcount(lower));
    if (below > count) continue;
    count -= below;
    end += width;
  }
  return word & ((std::uint64_t{1} << end) - 1);
}

// Where up to `most` blocks of `order` are best taken from `word`: those first whose buddies are not free, so that
// larger blocks stay whole.
WARPHEAP_FN inline std::uint64_t pick_blocks(std::uint64_t word, std::uint32_t order, std::uint32_t most) {
  const std::uint64_t starts = block_starts(word, order);
  if (static_cast<std::uint32_t>(popcount(starts)) <= most) return starts;
  if (word == ~std::uint64_t{0}) return lowest_set(starts, most);
  std::uint64_t picked = 0;
  for (std::uint32_t within = order;; ++within) {
    // The blocks within free blocks of order `within` and no larger ones. There are more of them all than are wanted.
    const std::uint64_t larger = within < 6 ? block_bits(block_starts(word, within + 1), within + 1) : 0;
    const std::uint64_t here = starts & ~larger & ~picked;
    const auto count = static_cast<std::uint32_t>(popcount(here));
    if (count >= most) return picked | (count == most ? here : lowest_set(here, most));
    picked |= here;
    most -= count;
  }
}

// Number of a set bit of `bits`, which has one: the lowest from bit `first % 64` on, else the lowest of all.
WARPHEAP_FN inline std::uint32_t bit_from(std::uint64_t bits, std::uint32_t first) {
  const std::uint64_t after = bits & ~std::uint64_t{0} << first % 64;
  return static_cast<std::uint32_t>(lowest_bit(after != 0 ? after : bits));
}

static_assert(block_starts(0xff, 3) == 1 && block_starts(0xff0, 3) == 0 && block_starts(0xff0, 2) == 0x110);
static_assert(block_starts(~std::uint64_t{0}, 6) == 1 && block_bits(1, 6) == ~std::uint64_t{0});

}  // namespace warpheap::detail
