// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform.hpp>

#if WARPHEAP_COMPILES_KERNELS

#include <cub/device/device_scan.cuh>

namespace warpheap::target {

template <class T>
std::uint64_t sum_work(std::uint32_t count) {
  std::size_t bytes = 0;
  const T* const values = nullptr;
  T* const sums = nullptr;
  cuda_must(cub::DeviceScan::ExclusiveSum(nullptr, bytes, values, sums, count), "sizing a prefix sum");
  return bytes;
}

template <class T>
void sum(work_memory work, const T* values, T* sums, std::uint32_t count) {
  std::size_t bytes = work.bytes;
  cuda_must(cub::DeviceScan::ExclusiveSum(work.data, bytes, values, sums, count), "a prefix sum");
}

}  // namespace warpheap::target

#else

namespace warpheap::target {

// A file that another compiler reads starts no kernels; the declarations let templates of it be read.
template <class T>
std::uint64_t sum_work(std::uint32_t count);
template <class T>
void sum(work_memory work, const T* values, T* sums, std::uint32_t count);

}  // namespace warpheap::target

#endif
