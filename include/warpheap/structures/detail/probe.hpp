// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/structures/probe.hpp>

namespace warpheap {

WARPHEAP_FN constexpr std::uint32_t probe_space::coprime_step(std::uint32_t wanted) const {
  for (std::uint32_t step = wanted == 0 ? 1 : wanted;; ++step) {  // not a spin: ends at a multiple plus 1 at the latest
    std::uint32_t larger = count_;
    std::uint32_t smaller = step;
    while (smaller != 0) {  // not a spin: Euclid's algorithm
      const std::uint32_t rest = larger % smaller;
      larger = smaller;
      smaller = rest;
    }
    if (larger == 1) return step;
  }
}

WARPHEAP_FN inline probe probe::scattered(const probe_space& space, std::uint64_t seed) {
  const word_halves random = split(mix(seed));
  const std::uint32_t count = space.count();
  const auto modulus = static_cast<std::uint32_t>(next_power_of_two(count));
  // Multiply-shift: the high half of the product is below the count.
  const std::uint32_t start = split(std::uint64_t{random.low} * count).high;
  // Odd, so it has no divisor in common with the modulus. From a quarter of the modulus to three quarters: the places
  // that are left out are fewer than half of the modulus and neighbours, so two steps pass them.
  const std::uint32_t step = (modulus / 4 + (random.high & (modulus / 2 - 1) & (modulus - 1))) | 1u;
  return {start, step & (modulus - 1), modulus, count};
}

WARPHEAP_FN inline bool probe::next(std::uint32_t& place) {
  if (remaining_ == 0) return false;
  --remaining_;
  place = at_;
  do {  // not a spin: at most three turns
    at_ += step_;
    if (at_ >= modulus_) at_ -= modulus_;
  } while (at_ >= count_);
  return true;
}

}  // namespace warpheap
