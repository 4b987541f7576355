// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>

namespace warpheap {

/// Counts units that any threads claim and add; a claim that is refused was refused rightly. One 64-bit word; zero is
/// a count of `initial` units.
///
/// A claim subtracts what it wants without a look at what there is, since an addition cannot fail. (A compare-exchange
/// fails each time another thread changed the word: with 65,000 threads at one word nearly always.) If it took more
/// than there was, it adds the rest back, and until then others see too few units. So each claim is counted from its
/// subtraction until it has added back what it must, and nobody is refused while one is counted.
///
/// Invariant: the upper 40 bits of the word, as a signed number, and `initial` are the units that no claim has, less
/// what the claims counted in the lower 24 bits will add back. If those bits are zero, the number is exact, and never
/// negative.
///
/// A claim waits only where it finds no unit while other claims are counted. Those are between two additions of theirs
/// with nothing in between, so each of them goes on without what any other thread does.
///
/// Memory order: relaxed. A thread that needs what another one did before it added a unit gets it by another word.
class unit_count {
 public:
  static constexpr std::uint64_t most_units = std::uint64_t{1} << 38;  ///< largest number of units
  static constexpr std::uint32_t most_threads = (1u << 24) - 1;        ///< threads that may claim at once

  /// The count whose word is at `word`; it had `initial` units, at most `most_units`, when the word was zero.
  WARPHEAP_FN explicit unit_count(std::uint64_t& word, std::uint64_t initial = 0)
      : word_(word), initial_(static_cast<std::int64_t>(initial)) {}

  /// Claims `wanted` units, or as many as there are, and returns how many. If these are fewer than `wanted`, there was
  /// a moment of the call at which no other was there. One lane.
  WARPHEAP_FN std::uint32_t claim(std::uint32_t wanted) const;
  /// Adds units. With them there are `most_units` at most. One lane.
  WARPHEAP_FN void add(std::uint32_t units) const {
    word_.fetch_add(one_unit * units, memory_order::relaxed, thread_scope::device);
  }

  /// Units that no claim has. Exact if no claim is under way; else there may be more.
  WARPHEAP_FN std::uint64_t units() const {
    return units_of(word_.load(memory_order::relaxed, thread_scope::device), static_cast<std::uint64_t>(initial_));
  }
  /// As `units`, of a count whose word was copied to `word`.
  WARPHEAP_FN static std::uint64_t units_of(std::uint64_t word, std::uint64_t initial = 0) {
    const std::int64_t seen = visible(word) + static_cast<std::int64_t>(initial);
    return seen < 0 ? 0 : static_cast<std::uint64_t>(seen);
  }

 private:
  static constexpr int claim_bits = 24;
  static constexpr std::uint64_t one_claim = 1;
  static constexpr std::uint64_t one_unit = std::uint64_t{1} << claim_bits;

  WARPHEAP_FN static std::int64_t visible(std::uint64_t word) { return static_cast<std::int64_t>(word) >> claim_bits; }
  WARPHEAP_FN static bool has_claims(std::uint64_t word) { return (word & (one_unit - 1)) != 0; }

  atomic_view<std::uint64_t> word_;
  std::int64_t initial_;
};

// Orders. Each answer follows from one value of the word, and its changes have one order that all threads see. Nothing
// else is passed on by it: see above.
WARPHEAP_FN inline std::uint32_t unit_count::claim(std::uint32_t wanted) const {
  std::uint32_t got = 0;
  for (backoff wait;; wait.pause()) {
    const std::uint64_t seen = word_.load(memory_order::relaxed, thread_scope::device);
    if (visible(seen) + initial_ <= 0) {
      if (!has_claims(seen)) return got;
      continue;
    }
    const std::uint32_t missing = wanted - got;
    const std::uint64_t before =
        word_.fetch_add(one_claim - one_unit * missing, memory_order::relaxed, thread_scope::device);
    const std::uint64_t there = units_of(before, static_cast<std::uint64_t>(initial_));
    const std::uint32_t taken = there < missing ? static_cast<std::uint32_t>(there) : missing;
    word_.fetch_add(one_unit * (missing - taken) - one_claim, memory_order::relaxed, thread_scope::device);
    got += taken;
    if (got == wanted) return got;
  }
}

}  // namespace warpheap
