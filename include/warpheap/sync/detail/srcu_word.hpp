// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>

namespace warpheap::detail {

// The 64-bit word of an SRCU domain, from the top:
//
//   | epoch, 24 bits | readers of odd epochs, 20 | readers of even epochs, 20 |
//
// The epoch is on top, where its carry leaves the word. A thread is counted once for each read section that it is in,
// and once more while it finds that it counted on the wrong side.
struct srcu_word {
  static constexpr int side_bits = 20;
  static constexpr int epoch_shift = 2 * side_bits;
  static constexpr int epoch_bits = 64 - epoch_shift;
  static constexpr std::uint64_t one_epoch = std::uint64_t{1} << epoch_shift;

  static constexpr std::uint64_t max_threads = 192 * 2048;  // as for the bulk semaphore
  static constexpr std::uint64_t sections_a_thread = 2;
  static_assert(max_threads * sections_a_thread < (std::uint64_t{1} << side_bits), "readers must fit");

  WARPHEAP_FN static constexpr std::uint64_t one_reader(std::uint32_t side) {
    return std::uint64_t{1} << side * side_bits;
  }
  WARPHEAP_FN constexpr std::uint32_t epoch() const { return static_cast<std::uint32_t>(bits >> epoch_shift); }
  // The side on which readers that enter now are counted.
  WARPHEAP_FN constexpr std::uint32_t side() const { return epoch() & 1; }
  WARPHEAP_FN constexpr std::uint32_t readers(std::uint32_t which) const {
    return static_cast<std::uint32_t>(bits >> which * side_bits) & low_bits(side_bits);
  }

  std::uint64_t bits;
};

}  // namespace warpheap::detail
