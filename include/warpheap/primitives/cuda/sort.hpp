// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform.hpp>

#if WARPHEAP_COMPILES_KERNELS

#include <cub/device/device_radix_sort.cuh>

namespace warpheap::target {

template <class Key>
std::uint64_t sort_work(std::uint32_t count) {
  std::size_t bytes = 0;
  cub::DoubleBuffer<Key> keys(nullptr, nullptr);
  cuda_must(cub::DeviceRadixSort::SortKeys(nullptr, bytes, keys, count), "sizing a sort");
  return bytes;
}

template <class Key, class Bits>
void sort(work_memory work, double_buffer<Key>& keys, std::uint32_t count, Bits bits) {
  std::size_t bytes = work.bytes;
  cub::DoubleBuffer<Key> buffers(keys.current, keys.spare);
  cuda_must(cub::DeviceRadixSort::SortKeys(work.data, bytes, buffers, count, bits.first, bits.end), "sorting keys");
  keys = {buffers.Current(), buffers.Alternate()};
}

template <class Key, class Value>
std::uint64_t sort_pairs_work(std::uint32_t count) {
  std::size_t bytes = 0;
  cub::DoubleBuffer<Key> keys(nullptr, nullptr);
  cub::DoubleBuffer<Value> values(nullptr, nullptr);
  cuda_must(cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys, values, count), "sizing a sort");
  return bytes;
}

template <class Key, class Value, class Bits>
void sort_pairs(work_memory work, double_buffer<Key>& keys, double_buffer<Value>& values, std::uint32_t count,
                Bits bits) {
  std::size_t bytes = work.bytes;
  cub::DoubleBuffer<Key> buffers(keys.current, keys.spare);
  cub::DoubleBuffer<Value> moved(values.current, values.spare);
  cuda_must(cub::DeviceRadixSort::SortPairs(work.data, bytes, buffers, moved, count, bits.first, bits.end),
            "sorting pairs");
  keys = {buffers.Current(), buffers.Alternate()};
  values = {moved.Current(), moved.Alternate()};
}

}  // namespace warpheap::target

#else

namespace warpheap::target {

// A file that another compiler reads starts no kernels; the declarations let templates of it be read.
template <class Key>
std::uint64_t sort_work(std::uint32_t count);
template <class Key, class Bits>
void sort(work_memory work, double_buffer<Key>& keys, std::uint32_t count, Bits bits);
template <class Key, class Value>
std::uint64_t sort_pairs_work(std::uint32_t count);
template <class Key, class Value, class Bits>
void sort_pairs(work_memory work, double_buffer<Key>& keys, double_buffer<Value>& values, std::uint32_t count,
                Bits bits);

}  // namespace warpheap::target

#endif
