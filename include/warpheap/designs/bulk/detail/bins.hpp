// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/designs/bulk/detail/pages.hpp>
#include <warpheap/platform/device.hpp>

namespace warpheap::detail {

/// The lowest set bits of `half`, at most `wanted`, but at least one if `half` has one.
WARPHEAP_FN inline std::uint32_t bulk_lowest(std::uint32_t half, std::uint32_t wanted) {
  if (static_cast<std::uint32_t>(popcount(half)) <= wanted) return half;
  return lowest_set_bits(half, static_cast<int>(wanted));
}

/// Set bits of `word`, at most `wanted`, beginning at bit `from` and wrapping around.
WARPHEAP_FN inline std::uint64_t bulk_pick(std::uint64_t word, std::uint32_t wanted, std::uint32_t from) {
  const std::uint64_t turned = word >> from % 64 | word << (64 - from % 64) % 64;
  const std::uint32_t first = bulk_lowest(static_cast<std::uint32_t>(turned), wanted);
  const std::uint32_t second =
      bulk_lowest(static_cast<std::uint32_t>(turned >> 32), wanted - static_cast<std::uint32_t>(popcount(first)));
  const std::uint64_t picked = std::uint64_t{second} << 32 | first;
  return picked << from % 64 | picked >> (64 - from % 64) % 64;
}

/// Units of one bin or chunk that the caller counted off its state, and not yet claimed as bits.
struct bulk_bin_units {
  std::uint32_t page;  // of the header
  std::uint32_t units;
  std::uint32_t start;  // bit of the bitmap where the search begins; a hint
};

/// Bits of one word of a bitmap that the caller claimed: its blocks, or its pages.
struct bulk_claim {
  std::uint32_t page;
  std::uint32_t word;
  std::uint64_t bits;
};

/// The bitmaps in the headers of bins and chunks: the last stage of malloc, and the first of free.
///
/// Invariant: set bits of a bin >= its free units + units that were counted off it and not yet
/// claimed as bits.
///
/// Hence a lane that counted off a unit finds a bit: other lanes claim no more bits than they
/// counted off.
template <class Layout>
class bulk_bins {
 public:
  WARPHEAP_FN explicit bulk_bins(const arena& from) : pages_(from) {}
  WARPHEAP_FN const bulk_pages<Layout>& pages() const { return pages_; }

  /// Claims bits of one word for units counted off a bin, as many as one pass over the bitmap
  /// yields; maybe none.
  WARPHEAP_FN bulk_claim try_claim(bulk_bin_units from) const {
    using enum memory_order;
    using enum thread_scope;
    auto& head = pages().header_at(from.page);
    std::uint64_t seen[Layout::most_words];
    // Relaxed: a hint; the claim below acquires. Words that the class does not use are 0.
    for (std::uint32_t i = 0; i < Layout::most_words; ++i) seen[i] = atomic_view{head.bits[i]}.load(relaxed, device);
    // The first word that has enough, beginning where the subtraction put the warp, so that warps
    // of one bin disperse; without such a word, the one with most bits.
    const std::uint32_t start = from.start / 64;
    std::uint32_t best = 0;
    std::uint32_t best_word = 0;
    std::uint64_t bits = 0;
    for (std::uint32_t i = 0; i < Layout::most_words; ++i) {
      const auto has = static_cast<std::uint32_t>(popcount(seen[i]));
      if (has == 0) continue;
      // At least 1, so any word with a bit is better than none.
      const std::uint32_t value = (has < from.units ? has : from.units) * Layout::most_words +
                                  (Layout::most_words - (i - start) % Layout::most_words);
      if (value <= best) continue;
      best = value;
      best_word = i;
      bits = seen[i];
    }
    bits = bulk_pick(bits, from.units, from.start);
    if (bits == 0) return {from.page, 0, 0};
    // Acquire: the last owner's accesses to the blocks come before the new owner's.
    return {from.page, best_word, atomic_view{head.bits[best_word]}.fetch_and(~bits, acquire, device) & bits};
  }

  /// Claims bits of one word for units counted off a bin: at least one. Waits for a lane that is
  /// about to set or claim a bit, which by the invariant there is.
  WARPHEAP_COLD_FN bulk_claim claim(bulk_bin_units from) const {
    for (backoff wait;; wait.pause()) {
      const bulk_claim got = try_claim(from);
      if (got.bits != 0) return got;
    }
  }

  /// Sets the bits of blocks that come back.
  WARPHEAP_FN void set_bits(std::uint32_t page, std::uint32_t word, std::uint64_t bits) const {
    // Release: the accesses of the owners come before those of the lane that claims the bits.
    const std::uint64_t old =
        atomic_view{pages().header_at(page).bits[word]}.fetch_or(bits, memory_order::release, thread_scope::device);
    invariant((old & bits) == 0, "bulk: a block was freed twice");
  }

 private:
  bulk_pages<Layout> pages_;
};

}  // namespace warpheap::detail
