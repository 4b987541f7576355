// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform/annotation.hpp>
#include <warpheap/platform/standard.hpp>

namespace warpheap {

/// Spreads neighbouring numbers far apart over 32 bits, one to one: multiplies by an odd number near 2^32 divided by
/// the golden ratio (Knuth, The Art of Computer Programming, volume 3, section 6.4). The upper bits are the scattered
/// ones.
WARPHEAP_FN constexpr std::uint32_t spread(std::uint32_t number) { return number * 0x9e3779b1u; }

/// Mixes the bits of `value`, one to one, so that similar values have nothing in common: a step of SplitMix64 (Steele,
/// Lea & Flood, Fast splittable pseudorandom number generators, OOPSLA 2014).
WARPHEAP_FN constexpr std::uint64_t mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

}  // namespace warpheap
