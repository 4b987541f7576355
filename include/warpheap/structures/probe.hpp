// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/device.hpp>

namespace warpheap {

/// The places `[0, count)` that threads probe, with what `place` needs to reduce a hash without a division. Made once,
/// when a design is set up; constant then.
class probe_space {
 public:
  static constexpr std::uint32_t most_places = std::uint32_t{1} << 31;  ///< largest `count`

  /// `count` places, 1 to `most_places`.
  WARPHEAP_FN explicit constexpr probe_space(std::uint32_t count)
      : reciprocal_(~std::uint64_t{0} / count + 1), count_(count) {}

  WARPHEAP_FN constexpr std::uint32_t count() const { return count_; }  ///< number of places

  /// `hash` modulo the number of places, exactly, by two multiplications (Lemire, Kaser & Kurz, Faster remainder by
  /// direct computation, 2019).
  WARPHEAP_FN constexpr std::uint32_t place(std::uint32_t hash) const {
    const std::uint64_t fraction = reciprocal_ * hash;  // of 2^64, what the division leaves
    const std::uint64_t low = (fraction & 0xffffffffu) * count_;
    return static_cast<std::uint32_t>(((fraction >> 32) * count_ + (low >> 32)) >> 32);
  }

  /// The least number from `wanted` on that has no divisor in common with the number of places. It searches, so call it
  /// at set-up.
  WARPHEAP_FN constexpr std::uint32_t coprime_step(std::uint32_t wanted) const;

 private:
  std::uint64_t reciprocal_;  // 2^64 / count, rounded up; 0 for one place
  std::uint32_t count_;
};

/// A walk of one lane over all places of a space: `next` visits each place exactly once, then ends.
///
/// A full walk that finds nothing is what a null rests on, if nothing changed meanwhile.
class probe {
 public:
  /// From `hash` modulo the number of places on upwards, cyclic.
  WARPHEAP_FN static probe linear(const probe_space& space, std::uint32_t hash) {
    return {space.place(hash), 1, space.count(), space.count()};
  }
  /// As `linear`, in steps of `step`, which is below `probe_space::most_places` and has no divisor in common with the
  /// number of places: see `coprime_step`.
  WARPHEAP_FN static probe stepped(const probe_space& space, std::uint32_t hash, std::uint32_t step) {
    return {space.place(hash), space.place(step), space.count(), space.count()};
  }
  /// From a random place on in random steps; two seeds give walks that have nothing in common. The walk goes through
  /// the next power of two of places and leaves out those that the space lacks, two in a row at most, so that each odd
  /// step visits all.
  WARPHEAP_FN static probe scattered(const probe_space& space, std::uint64_t seed);

  /// Moves to the next place and returns true, or returns false if each place was visited.
  WARPHEAP_FN bool next(std::uint32_t& place);

  /// Places that are not yet visited.
  WARPHEAP_FN std::uint32_t remaining() const { return remaining_; }

 private:
  WARPHEAP_FN probe(std::uint32_t start, std::uint32_t step, std::uint32_t modulus, std::uint32_t count)
      : at_(start), step_(step), modulus_(modulus), count_(count), remaining_(count) {}

  // Invariant: `at_` is below `count_` and is the place that `next` returns while `remaining_` is not 0.
  std::uint32_t at_, step_, modulus_, count_, remaining_;
};

/// The start hash of ScatterAlloc (Steinberger et al., 2012): requests of one size on one multiprocessor start close to
/// each other, those of other multiprocessors and sizes elsewhere. Warps of requests from `page_bytes / 32` bytes on
/// lie farther apart, since their pages fill sooner. Taken modulo the number of pages.
WARPHEAP_FN constexpr std::uint32_t scatter_seed(std::uint32_t bytes, std::uint32_t multiprocessor, std::uint32_t warp,
                                                 std::uint32_t page_bytes = 4096) {
  const std::uint32_t spread = static_cast<std::uint32_t>(std::uint64_t{32} * bytes / page_bytes);
  return bytes * 38183u + multiprocessor * 17497u + warp * (1u + spread);
}

/// The start hash of Halloc (Adinetz & Pleiter, 2014) from a counter that each request of a size class increments:
/// requests within a group of `group_size`, a power of two, are neighbours, and groups lie 11 group sizes apart. Taken
/// modulo the number of blocks of a slab.
WARPHEAP_FN constexpr std::uint32_t counter_seed(std::uint32_t counter, std::uint32_t group_size = 1) {
  const std::uint32_t within = group_size - 1;
  return (counter & ~within) * 11u + (counter & within);
}

}  // namespace warpheap

#include <warpheap/structures/detail/probe.hpp>
