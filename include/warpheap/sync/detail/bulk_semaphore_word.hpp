// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>

namespace warpheap::detail {

// The 64-bit word of a bulk semaphore, from the top:
//
//   | balance, 34 bits | parent empty, 1 | expected, 10 | reserved, 19 |
//
// balance   units on hand less units asked for and not yet had: the papers' C - R. Modulo 2^34, from -2^30 on, so that
//           zero bytes are an empty semaphore. It is on top, where a borrow or a carry leaves the word.
// expected  batches that producers are making: E.
// reserved  units asked for by requests that wait or produce: R.
//
// So balance + reserved is the papers' C, units on hand. A sum of changes to the fields is one change to the word, as
// long as each field stays within its bounds; that it does is shown here, for `max_threads` threads at once.
//
// reserved: a request that asks for one unit a lane adds without a look, and all of them are at most max_threads. One
//   that asks for more adds by compare-and-swap, up to crowded_reserved. Each takes away what it added.
// expected: grows by compare-and-swap up to max_producers, and by addition up to about max_at_once; for additions that
// are on
//   their way there is a margin and no proof (docs/design/bulk_semaphore.md). Each producer takes away the one that it
//   added.
// balance: adds and subtractions without a look are of at most max_quick units, one a thread at a time. Below: what
//   is asked for and not on hand is at most max_threads * max_quick. Above: units are accepted up to max_balance;
//   on top there may be, for each thread, a signal that is about to be taken back or a request that was withdrawn; and
//   batches of at most max_quick_batch that are about to be taken back, no more than were expected when the outlook was
//   last below 0, since nobody is elected after that.
struct bulk_word {
  static constexpr int reserved_bits = 19;
  static constexpr int expected_bits = 10;
  static constexpr int balance_bits = 34;
  static constexpr int expected_shift = reserved_bits;
  static constexpr int empty_shift = expected_shift + expected_bits;
  static constexpr int balance_shift = empty_shift + 1;

  // Threads that may be in operations on one semaphore at once: 192 multiprocessors of 2,048. An H200 has 132.
  static constexpr std::uint64_t max_threads = 192 * 2048;
  static constexpr std::uint64_t max_quick = 2048;
  static constexpr std::uint64_t max_quick_batch = std::uint64_t{1} << 18;
  static constexpr std::uint64_t max_expected = low_bits(expected_bits);
  // Producers that are elected by addition are about so many at most, those by compare-and-swap no more than leaves
  // room.
  static constexpr std::uint64_t max_at_once = 640;
  static constexpr std::uint64_t max_producers = max_expected - max_at_once;
  static constexpr std::uint64_t crowded_reserved = low_bits(reserved_bits) - max_threads;
  static constexpr std::int64_t min_balance = -(std::int64_t{1} << 30);
  static constexpr std::int64_t end_balance = min_balance + (std::int64_t{1} << balance_bits);
  static constexpr std::int64_t max_balance = end_balance - (std::int64_t{1} << 31);

  static constexpr std::uint64_t one_expected = std::uint64_t{1} << expected_shift;
  static constexpr std::uint64_t empty_mark = std::uint64_t{1} << empty_shift;

  static_assert(balance_shift + balance_bits == 64);
  static_assert(max_threads <= low_bits(reserved_bits), "a unit a thread must fit into `reserved`");
  static_assert(crowded_reserved >= 32 * max_quick, "`reserved` must have room for some large requests");
  static_assert(static_cast<std::int64_t>(max_threads * max_quick) <= -min_balance, "debts must not wrap around");
  static_assert(-min_balance <= UINT32_MAX, "`lacking` divides debts in 32 bits");
  static_assert(static_cast<std::int64_t>(2 * max_threads * max_quick + max_expected * max_quick_batch) <
                    end_balance - max_balance,
                "units beyond the limit must not wrap around");
  static_assert(max_balance > std::int64_t{141'000'000'000} / 16, "a heap of 141 GB must fit, in units of 16 bytes");

  WARPHEAP_FN static constexpr std::uint64_t units(std::uint64_t count) { return count << balance_shift; }

  WARPHEAP_FN constexpr std::int64_t balance() const {
    // The shift keeps the sign; half the range less -min_balance is moved away before it and back after.
    constexpr std::int64_t middle = end_balance - (std::int64_t{1} << (balance_bits - 1));
    return (static_cast<std::int64_t>(bits - units(static_cast<std::uint64_t>(middle))) >> balance_shift) + middle;
  }
  WARPHEAP_FN constexpr bool parent_empty() const { return (bits & empty_mark) != 0; }
  WARPHEAP_FN constexpr std::uint64_t expected() const { return bits >> expected_shift & max_expected; }
  WARPHEAP_FN constexpr std::uint64_t reserved() const { return bits & low_bits(reserved_bits); }

  // The papers' C. Negative only while a request stands between two atomics.
  WARPHEAP_FN constexpr std::int64_t on_hand() const { return balance() + static_cast<std::int64_t>(reserved()); }
  // The papers' C + E - R: what is left if each producer delivers and each request gets what it asked for.
  WARPHEAP_FN constexpr std::int64_t outlook(std::uint64_t batch) const {
    return balance() + static_cast<std::int64_t>(expected() * batch);
  }
  // Whether there are requests that have not had what they asked for, entered or not.
  WARPHEAP_FN constexpr bool has_debts() const { return balance() < 0 || reserved() != 0; }
  // True if a thread that asked for n units makes a batch.
  WARPHEAP_FN constexpr bool has_made(std::uint64_t n) const { return expected() != 0 && reserved() >= n; }
  // Whether a request for n units that found this is the first to lack a batch, with none in the making and a parent to
  // make it of.
  WARPHEAP_FN constexpr bool begins_first(std::uint32_t n) const {
    return bits < units(n) && expected() == 0 && !parent_empty();
  }
  // Batches that are lacking beyond those being made. Units that are lacking fit into 32 bits, in which a GPU divides
  // much faster than in 64; and where one batch is enough there is nothing to divide.
  WARPHEAP_FN constexpr std::uint64_t lacking(std::uint64_t batch) const {
    const std::int64_t left = outlook(batch);
    if (left >= 0) return 0;
    const auto units_lacking = static_cast<std::uint32_t>(-left);
    return units_lacking <= batch ? 1 : divide_up(units_lacking, static_cast<std::uint32_t>(batch));
  }

  std::uint64_t bits;
};

static_assert(bulk_word{0}.balance() == 0);
static_assert(bulk_word{0}.begins_first(1) && !bulk_word{bulk_word::units(1)}.begins_first(1));
static_assert(!bulk_word{bulk_word::units(~std::uint64_t{0})}.begins_first(bulk_word::max_quick));
static_assert(bulk_word{bulk_word::units(~std::uint64_t{0})}.balance() == -1);
static_assert(bulk_word{bulk_word::units(~std::uint64_t{4})}.lacking(5) == 1);
static_assert(bulk_word{bulk_word::units(~std::uint64_t{4})}.lacking(2) == 3);
static_assert(bulk_word{bulk_word::units(~std::uint64_t{4})}.lacking(std::uint64_t{1} << 33) == 1);
static_assert(bulk_word{bulk_word::units(static_cast<std::uint64_t>(bulk_word::min_balance))}.lacking(1) ==
              static_cast<std::uint64_t>(-bulk_word::min_balance));
static_assert(bulk_word{bulk_word::units(static_cast<std::uint64_t>(bulk_word::min_balance))}.balance() ==
              bulk_word::min_balance);
static_assert(bulk_word{bulk_word::units(static_cast<std::uint64_t>(bulk_word::end_balance - 1))}.balance() ==
              bulk_word::end_balance - 1);

}  // namespace warpheap::detail
