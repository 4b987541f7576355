// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <warpheap/primitives/scratch.hpp>

namespace warpheap {

/// Two arrays between which an algorithm moves its elements: `current` has them, `spare` has room for as many.
template <class T>
struct double_buffer {
  T* current;  ///< the elements
  T* spare;    ///< room, any contents
};

}  // namespace warpheap

#if defined(WARPHEAP_BACKEND_CUDA)
#include <warpheap/primitives/cuda/sort.hpp>
#else
#include <warpheap/primitives/host/sort.hpp>
#endif

namespace warpheap {

/// Bits `first` to `end - 1` of a key.
struct bit_range {
  int first;  ///< the lowest bit
  int end;    ///< the bit after the highest; at most the width of the key
};

/// Bytes of memory to work in that `radix_sort` needs for `count` keys.
template <std::unsigned_integral Key>
std::uint64_t radix_sort_work(std::uint32_t count) {
  return target::sort_work<Key>(count);
}
/// Sorts `count` keys by `bits` in ascending order; keys that agree in these bits keep their order. Swaps the two
/// arrays of `keys` if the result is in the spare one.
template <std::unsigned_integral Key>
void radix_sort(work_memory work, double_buffer<Key>& keys, std::uint32_t count, bit_range bits) {
  if (count > 1 && bits.first < bits.end) target::sort(work, keys, count, bits);
}

/// Bytes of memory to work in that `radix_sort_pairs` needs for `count` pairs.
template <std::unsigned_integral Key, class Value>
std::uint64_t radix_sort_pairs_work(std::uint32_t count) {
  return target::sort_pairs_work<Key, Value>(count);
}
/// Sorts pairs as `radix_sort` does: value `i` moves with key `i`.
template <std::unsigned_integral Key, class Value>
void radix_sort_pairs(work_memory work, double_buffer<Key>& keys, double_buffer<Value>& values, std::uint32_t count,
                      bit_range bits) {
  if (count > 1 && bits.first < bits.end) target::sort_pairs(work, keys, values, count, bits);
}

}  // namespace warpheap
