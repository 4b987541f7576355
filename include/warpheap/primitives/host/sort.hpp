// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>
#include <warpheap/platform.hpp>

namespace warpheap::target {

// The bits of `key` that a sort compares.
template <class Key, class Bits>
Key sorted_bits(Key key, Bits bits) {
  const int width = static_cast<int>(8 * sizeof(Key));
  const Key above = bits.end >= width ? key : static_cast<Key>(key & ((Key{1} << bits.end) - 1));
  return static_cast<Key>(above >> bits.first);
}

template <class Key>
std::uint64_t sort_work(std::uint32_t) {
  return 1;
}

template <class Key, class Bits>
void sort(work_memory, double_buffer<Key>& keys, std::uint32_t count, Bits bits) {
  std::stable_sort(keys.current, keys.current + count,
                   [bits](Key a, Key b) { return sorted_bits(a, bits) < sorted_bits(b, bits); });
}

template <class Key, class Value>
std::uint64_t sort_pairs_work(std::uint32_t) {
  return 1;
}

template <class Key, class Value, class Bits>
void sort_pairs(work_memory, double_buffer<Key>& keys, double_buffer<Value>& values, std::uint32_t count, Bits bits) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return sorted_bits(keys.current[a], bits) < sorted_bits(keys.current[b], bits);
  });
  for (std::uint32_t i = 0; i < count; ++i) {
    keys.spare[i] = keys.current[order[i]];
    values.spare[i] = values.current[order[i]];
  }
  std::swap(keys.current, keys.spare);
  std::swap(values.current, values.spare);
}

}  // namespace warpheap::target
