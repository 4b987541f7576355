// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <warpheap/platform.hpp>
#include <warpheap/pool/engine.hpp>

namespace warpheap::pool_detail {

// The two levels of segregated fit: which list a size belongs to, and which lists are not empty. Sizes count granules.
// Below 32 each size has a list of its own; above, each power of two is cut into 32 lists of equal width.
class size_bins {
 public:
  static constexpr int fine_bits = 5;
  static constexpr std::uint32_t fine = 1u << fine_bits;
  static constexpr std::uint32_t count = (64 - fine_bits + 1) * fine;
  static constexpr std::uint32_t none = ~0u;

  // The list that a segment of this size is in.
  static std::uint32_t of(std::uint64_t size) {
    if (size < fine) return static_cast<std::uint32_t>(size);
    const int top = highest_bit(size);
    const int shift = top - fine_bits;
    return (static_cast<std::uint32_t>(shift + 1) << fine_bits) +
           static_cast<std::uint32_t>((size >> shift) & (fine - 1));
  }
  // The first list all of whose segments are at least as large as this.
  static std::uint32_t above(std::uint64_t size) {
    if (size < 2 * fine) return of(size);
    return of(size + ((std::uint64_t{1} << (highest_bit(size) - fine_bits)) - 1));
  }

  // The first list that is not empty, from `bin` on; `none` if all are empty.
  std::uint32_t occupied(std::uint32_t bin) const {
    const std::uint32_t level = bin >> fine_bits;
    if (const std::uint32_t here = lists_[level] & (~0u << (bin & (fine - 1)))) {
      return (level << fine_bits) + static_cast<std::uint32_t>(lowest_bit(here));
    }
    const std::uint64_t higher = levels_ & (~std::uint64_t{0} << (level + 1));
    if (higher == 0) return none;
    const auto next = static_cast<std::uint32_t>(lowest_bit(higher));
    return (next << fine_bits) + static_cast<std::uint32_t>(lowest_bit(lists_[next]));
  }
  // The last list that is not empty.
  std::uint32_t last() const {
    if (levels_ == 0) return none;
    const auto level = static_cast<std::uint32_t>(highest_bit(levels_));
    return (level << fine_bits) + static_cast<std::uint32_t>(highest_bit(lists_[level]));
  }

  segment_handle& head(std::uint32_t bin) { return heads_[bin]; }
  segment_handle head(std::uint32_t bin) const { return heads_[bin]; }
  void mark(std::uint32_t bin) {
    lists_[bin >> fine_bits] |= 1u << (bin & (fine - 1));
    levels_ |= std::uint64_t{1} << (bin >> fine_bits);
  }
  void unmark(std::uint32_t bin) {
    if ((lists_[bin >> fine_bits] &= ~(1u << (bin & (fine - 1)))) == 0) {
      levels_ &= ~(std::uint64_t{1} << (bin >> fine_bits));
    }
  }
  void clear() { *this = size_bins{}; }

 private:
  std::uint64_t levels_ = 0;
  std::array<std::uint32_t, count / fine> lists_{};
  std::array<segment_handle, count> heads_{};
};

}  // namespace warpheap::pool_detail
