// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>

namespace warpheap::detail {

// The 64-bit word of a counting semaphore, from the top:
//
//   | count, 62 bits, signed | parent empty, 1 | growing, 1 |
//
// The count is on top, where a borrow or a carry leaves the word; so an add to it changes no mark. It is negative only
// while requests that found too little stand between their two atomics: at most max_threads of max_request units each.
struct counting_word {
  static constexpr std::uint64_t growing_mark = 1;
  static constexpr std::uint64_t empty_mark = 2;
  static constexpr int count_shift = 2;

  static constexpr std::uint64_t max_threads = 192 * 2048;  // as for the bulk semaphore
  static constexpr std::uint32_t max_request = 1u << 20;
  static constexpr std::uint64_t max_count = std::uint64_t{1} << 60;

  static_assert(max_threads * max_request <= std::uint64_t{1} << 60, "debts must not wrap around");

  WARPHEAP_FN static constexpr std::uint64_t units(std::uint64_t count) { return count << count_shift; }

  WARPHEAP_FN constexpr std::int64_t count() const { return static_cast<std::int64_t>(bits) >> count_shift; }
  WARPHEAP_FN constexpr bool growing() const { return (bits & growing_mark) != 0; }
  WARPHEAP_FN constexpr bool parent_empty() const { return (bits & empty_mark) != 0; }

  std::uint64_t bits;
};

static_assert(counting_word{counting_word::units(7) | 3}.count() == 7);
static_assert(counting_word{std::uint64_t{3} - counting_word::units(7)}.count() == -7);

}  // namespace warpheap::detail
